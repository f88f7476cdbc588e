// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/back_band.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class ReduceToBand : public RuntimeTest<T> {
 public:
  /// Checks A = Q B Q^H with a band matrix B and orthogonal Q, which is back_band applied to the
  /// identity.
  static void check(const std::string& kind, Index n, Index tile, Index update_width, Index b, Index slab,
                    int column_groups = 0) {
    SCOPED_TRACE(::testing::Message() << kind << ", n " << n << " tile " << tile << " update " << update_width
                                      << " band " << b << " groups " << column_groups);
    Runtime& runtime = RuntimeTest<T>::runtime();
    const auto a = generate<T>(kind, n, 4);
    auto source = poison_other_triangle(a, Uplo::lower);
    auto q = identity<T>(n);
    const BandMatrix<T> band(runtime, n, b);
    {
      auto slabs = ColumnSlabs<T>::wrap(runtime, q.data(), q.ld(), n, n, slab);
      ASSERT_TRUE(RuntimeTest<T>::run([&](Sequence& s) {
        BandReflectors<T> reflectors;
        reduce_to_band<T>(
            s, TiledMatrix<T>::wrap(runtime, source.data(), source.ld(), {n, n, tile, tile, {}, Uplo::lower}),
            update_width, band, &reflectors, column_groups);
        back_band<T>(s, std::move(reflectors), slabs);
      }));
    }
    const auto whole = dense(band);
    // The residual is scaled by a guarded norm, because matrices may be tiny.
    const double norm = std::max(norm_1(a), std::numeric_limits<double>::min()), eps = precision<T>;
    Matrix<T> q_b(n, n), q_b_q(n, n), q_q(n, n);
    blas::gemm(Op::none, Op::none, n, n, n, T(1), q.data(), n, whole.data(), n, T(0), q_b.data(), n);
    blas::gemm(Op::none, Op::adjoint, n, n, n, T(1), q_b.data(), n, q.data(), n, T(0), q_b_q.data(), n);
    blas::gemm(Op::adjoint, Op::none, n, n, n, T(1), q.data(), n, q.data(), n, T(0), q_q.data(), n);
    EXPECT_LE(difference(q_b_q, a), 10 * double(n) * eps * norm);
    EXPECT_LE(difference(q_q, identity<T>(n)), 10 * double(n) * eps);
    // Without vectors the band must be the same.
    auto again = poison_other_triangle(a, Uplo::lower);
    const BandMatrix<T> second(runtime, n, b);
    ASSERT_TRUE(RuntimeTest<T>::run([&](Sequence& s) {
      reduce_to_band<T>(
          s, TiledMatrix<T>::wrap(runtime, again.data(), again.ld(), {n, n, tile, tile, {}, Uplo::lower}),
          update_width, second, nullptr, column_groups);
    }));
    EXPECT_EQ(difference(dense(second), whole), 0);
  }

 private:
  static Matrix<T> dense(const BandMatrix<T>& band) {
    const Index n = band.size();
    Matrix<T> a(n, n);
    for (Index s = 0; s < band.segment_count(); ++s) {
      const auto segment = download<T>(band.segment(s));
      for (Index j = 0; j < segment.cols(); ++j)
        for (Index k = 0; k <= band.bandwidth(); ++k) {
          const Index col = band.first_col(s) + j, row = col + k;
          if (row >= n) continue;
          a(row, col) = segment(k, j);
          a(col, row) = conjugate(segment(k, j));
        }
    }
    return a;
  }
};
TYPED_TEST_SUITE(ReduceToBand, Scalars);

TYPED_TEST(ReduceToBand, RandomMatricesOfManySizes) {
  for (const Index n : {1, 2, 3, 7, 16, 17, 33, 70}) {
    this->check("random", n, 16, 8, 4, 50);
    this->check("random", n, 15, 5, 5, 7);
    this->check("random", n, 12, 6, 3, 100);
    this->check("random", n, 64, 64, 8, 9);
    if (n < 40) this->check("random", n, 3, 1, 1, 10);
  }
}

TYPED_TEST(ReduceToBand, PanelsThatTakeTheFallBack) {
  for (const char* kind : {"zero", "identity", "diagonal", "tridiagonal", "banded:5", "rank-one",
                           "block-diagonal:9", "arrowhead", "clustered"}) {
    this->check(kind, 49, 16, 8, 4, 20);
    this->check(kind, 49, 10, 5, 5, 20);
  }
}

/// Includes orders that are not multiples of the update width, groups without columns, and a single
/// tile.
TYPED_TEST(ReduceToBand, ColumnGroups) {
  for (const int groups : {1, 2, 3, 4})
    for (const Index n : {1, 2, 3, 7, 16, 17, 33, 70}) {
      this->check("random", n, 16, 8, 4, 50, groups);
      this->check("random", n, 80, 16, 4, 50, groups);
      this->check("random", n, 12, 6, 3, 100, groups);
      if (n < 40) this->check("random", n, 3, 1, 1, 10, groups);
    }
}

TYPED_TEST(ReduceToBand, ColumnGroupsWithPanelsThatTakeTheFallBack) {
  for (const char* kind : {"zero", "identity", "diagonal", "tridiagonal", "banded:5", "rank-one",
                           "block-diagonal:9", "arrowhead", "clustered"})
    this->check(kind, 49, 16, 8, 4, 20, 3);
}

/// Number of tasks of a reduction by codelet name without the scalar type, for n = 33, update width
/// 8 and panels of 4 columns.
template <class T>
std::map<std::string, Index> tasks_of_reduction(Runtime& runtime, Index tile, int column_groups) {
  constexpr Index n = 33;
  const auto a = generate<T>("random", n, 4);
  auto source = poison_other_triangle(a, Uplo::lower);
  const BandMatrix<T> band(runtime, n, 4);
  Sequence sequence(runtime);
  sequence.begin_stage("test");
  BandReflectors<T> reflectors;
  reduce_to_band<T>(
      sequence,
      TiledMatrix<T>::wrap(runtime, source.data(), source.ld(), {n, n, tile, tile, {}, Uplo::lower}), 8, band,
      &reflectors, column_groups);
  EXPECT_TRUE(sequence.wait());
  std::map<std::string, Index> tasks;
  for (const CodeletStatistics& codelet : sequence.statistics().codelets)
    tasks[codelet.name.substr(0, codelet.name.rfind('_'))] += codelet.tasks;
  return tasks;
}

/// Nine panels, the last of which has no reflectors, and five outer blocks. The matrix is held in
/// three tile rows, in one tile, and in three column groups.
TYPED_TEST(ReduceToBand, TasksOfEachWayToHoldTheMatrix) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  using Tasks = std::map<std::string, Index>;
  auto tiles = tasks_of_reduction<T>(runtime, 16, 0), one_tile = tasks_of_reduction<T>(runtime, 64, 0),
       groups = tasks_of_reduction<T>(runtime, 16, 3);
  tiles.erase("mirror_lower");  // inserted only where GPUs work
  one_tile.erase("mirror_lower");
  const Tasks of_tiles{
      {"set_zero", 5},       {"copy_to_band", 17},        {"panel_update", 10},     {"panel_gram", 17},
      {"panel_cholesky", 7}, {"panel_orthogonalize", 17}, {"panel_check", 7},       {"tsqr_leaf", 17},
      {"tsqr_combine", 7},   {"panel_finish", 17},        {"panel_reconstruct", 7}, {"panel_householder", 1},
      {"panel_vectors", 18}, {"two_sided_product", 31},   {"inner_products", 18},   {"inner_sum", 8},
      {"form_z", 18},        {"rank_2k_update", 13}};
  EXPECT_EQ(tiles, of_tiles);
  EXPECT_EQ(one_tile, (Tasks{{"set_zero", 5}, {"panel_steps", 5}, {"rank_2k_update", 4}}));
  for (const auto& [name, count] : Tasks{{"set_zero", 5},
                                         {"mirror_lower", 3},
                                         {"group_panel", 9},
                                         {"group_product", 20},
                                         {"group_form_z", 8},
                                         {"group_update", 9}})
    EXPECT_EQ(groups[name], count) << name;
}

TYPED_TEST(ReduceToBand, ColumnGroupsOutOfRangeAreRefused) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const BandMatrix<T> band(runtime, 8, 2);
  for (const int groups : {-1, 33}) {
    Sequence sequence(runtime);
    EXPECT_THROW(reduce_to_band<T>(sequence, TiledMatrix<T>(runtime, {8, 8, 4, 4, {}, Uplo::lower}), 4, band,
                                   nullptr, groups),
                 InvalidArgument);
  }
}

}  // namespace
}  // namespace tessera::test
