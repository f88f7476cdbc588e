// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/one_stage/lapack_driver.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class LapackDriver : public RuntimeTest<T> {
 public:
  static Runtime& runtime() { return RuntimeTest<T>::runtime(); }
  /// Lower tiles, with NaN above the diagonal.
  static TiledMatrix<T> tiled(const Matrix<T>& a, Index tile) {
    const auto lower = poison_other_triangle(a, Uplo::lower);
    TiledMatrix<T> matrix(runtime(), {.rows = a.rows(),
                                      .cols = a.rows(),
                                      .tile_rows = tile,
                                      .tile_cols = tile,
                                      .grid = {},
                                      .uplo = Uplo::lower});
    for (Index j = 0; j < matrix.col_tiles(); ++j)
      for (Index i = j; i < matrix.row_tiles(); ++i) {
        HostAccess access(matrix.tile(i, j), HostAccess::Mode::write);
        const auto view = access.template matrix<T>();
        for (Index c = 0; c < view.cols; ++c)
          for (Index r = 0; r < view.rows; ++r) view(r, c) = lower(i * tile + r, j * tile + c);
      }
    return matrix;
  }
  static Matrix<T> download_slabs(const ColumnSlabs<T>& z) {
    Matrix<T> result(z.rows(), z.cols());
    for (Index j = 0; j < z.count(); ++j) result.set_block(0, z.first_col(j), download<T>(z.slab(j)));
    return result;
  }
  /// Positive definite.
  static Matrix<T> overlap(Index n) { return random_hermitian<T>(n, 7, 2.0 * double(n)); }
};
TYPED_TEST_SUITE(LapackDriver, Scalars);

/// All eigenvalues and the vectors [lo, hi), of A and of (A, B); tiles of A and B have different
/// sizes.
TYPED_TEST(LapackDriver, Eigensolve) {
  using T = TypeParam;
  using R = RealOf<T>;
  struct Shape {
    Index n, tile, lo, hi, slab;
  };
  for (const auto& [n, tile, lo, hi, slab] :
       {Shape{1, 3, 0, 1, 1}, Shape{13, 5, 0, 13, 4}, Shape{33, 7, 6, 17, 5}, Shape{9, 20, 8, 9, 3}})
    for (const bool generalized : {false, true})
      for (const bool vectors : {true, false}) {
        SCOPED_TRACE(::testing::Message()
                     << "n " << n << ", generalized " << generalized << ", vectors " << vectors);
        const auto a = random_hermitian<T>(n, 1), b = this->overlap(n);
        const auto tiled_a = this->tiled(a, tile), tiled_b = this->tiled(b, tile + 1);
        const ColumnSlabs<T> z(this->runtime(), n, hi - lo, slab);
        const Data values = Data::bytes(this->runtime(), sizeof(R) * std::size_t(n));
        const Data workspace = Data::scratch(
            this->runtime(),
            lapack_eigensolve_workspace_bytes<T>(this->runtime(), n, generalized, vectors, lo, hi));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          insert_lapack_eigensolve<T>(s, 0, tiled_a, generalized ? &tiled_b : nullptr, lo, 1, values,
                                      vectors ? &z : nullptr, workspace);
        }));
        const auto all = download_values<R>(values);
        const auto reference = generalized ? lapack_eigenvalues(a, b) : lapack_eigenvalues(a);
        // If only some vectors of A are requested, GPUs return only their values.
        const bool part = this->runtime().gpus() > 0 && vectors && !generalized && hi - lo < n;
        const Index first = part ? lo : 0, last = part ? hi : n;
        const std::vector<R> given(all.begin() + first, all.begin() + last);
        const auto of_given =
            eigen_errors<T>(a, generalized ? &b : nullptr, given, nullptr, reference, first);
        EXPECT_LE(of_given.values, 5);
        if (!vectors) continue;
        const auto x = this->download_slabs(z);
        const std::vector<R> some(all.begin() + lo, all.begin() + hi);
        const auto errors = eigen_errors(a, generalized ? &b : nullptr, some, &x, reference, lo);
        EXPECT_LE(errors.residual, 5);
        EXPECT_LE(errors.orthogonality, 5);
      }
}

TYPED_TEST(LapackDriver, NotPositiveDefinite) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 11, leading = 6;
  auto b = this->overlap(n);
  b(leading - 1, leading - 1) = T(-1);
  const auto tiled_a = this->tiled(random_hermitian<T>(n, 1), 4), tiled_b = this->tiled(b, 4);
  const Data values = Data::bytes(this->runtime(), sizeof(R) * n);
  const Data workspace = Data::scratch(
      this->runtime(), lapack_eigensolve_workspace_bytes<T>(this->runtime(), n, true, false, 0, n));
  const Status status = this->run([&](Sequence& s) {
    insert_lapack_eigensolve<T>(s, 0, tiled_a, &tiled_b, 0, 1, values, nullptr, workspace);
  });
  EXPECT_EQ(status.code, StatusCode::not_positive_definite);
  EXPECT_EQ(status.index, leading);
}

}  // namespace
}  // namespace tessera::test
