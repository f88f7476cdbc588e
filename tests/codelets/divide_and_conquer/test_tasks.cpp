// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

// The CPU tasks that scale and solve leaves in tridiagonal divide and conquer, bitwise against
// their kernels, and against LAPACK.
#include <gtest/gtest.h>
#include <tests/codelets/divide_and_conquer/task_test.hpp>

#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/divide_and_conquer/leaf_tasks.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using divide_and_conquer::Forest;
using divide_and_conquer::LeafVectors;
using divide_and_conquer::NodeSpectrum;
using divide_and_conquer::ScaleAndCut;
using divide_and_conquer::ScaledTridiagonal;
using divide_and_conquer::subtree_scratch_bytes;
using divide_and_conquer::SubtreeValues;

template <class R>
class TridiagonalCodelets : public TridiagonalTasks<R> {
 public:
  /// Result of one task for the leaves of a forest, whose first row is `start`.
  struct SolvedLeaves {
    std::vector<Data> qs, spectra;
    Status status;
  };
  static SolvedLeaves solve_leaves(const Data& scaled, Index start, const Forest& forest) {
    Runtime& runtime = TridiagonalTasks<R>::runtime();
    SolvedLeaves solved;
    for (Index tree = 0; tree < forest.trees(); ++tree) {
      const Index m = forest.tree_rows(tree);
      solved.qs.push_back(Data::matrix(runtime, m, m, sizeof(R)));
      solved.spectra.push_back(TridiagonalTasks<R>::doubles(3 * m));
    }
    std::vector<const Data*> pieces;
    for (std::size_t i = 0; i < solved.qs.size(); ++i)
      pieces.insert(pieces.end(), {&solved.qs[i], &solved.spectra[i]});
    const Data scratch = Data::scratch(runtime, leaf_scratch_bytes(forest, false));
    solved.status = TridiagonalTasks<R>::run([&](Sequence& s) {
      s.insert(LeafVectors<R>{.scaled = scaled,
                              .work = scratch,
                              .leaves = pieces,
                              .n = order,
                              .start = start,
                              .forest = forest,
                              .epsilon = TridiagonalTasks<R>::epsilon});
    });
    return solved;
  }
};
TYPED_TEST_SUITE(TridiagonalCodelets, Reals);

TYPED_TEST(TridiagonalCodelets, Scale) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index n : {Index(1), Index(2), leaf, leaf + 1, order}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      const auto t = make_tridiagonal<R>(kind, n);
      const Data d = upload(this->runtime(), t.d), e = upload(this->runtime(), t.e),
                 scaled = this->doubles(2 * n + 1);
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(ScaleAndCut<R>{.d = d, .e = e, .scaled = scaled, .n = n, .leaf = leaf});
      }));
      auto result = download_values<double>(scaled), expected = this->scaled(t);
      if (n == 1) result[1] = expected[1] = 0;                            // e is empty
      result[std::size_t(2 * n - 1)] = expected[std::size_t(2 * n - 1)];  // e has no element n
      EXPECT_EQ(result, expected);
    }
}

TYPED_TEST(TridiagonalCodelets, ScaleFindsWhatIsNotFinite) {
  using R = TypeParam;
  for (const bool in_d : {true, false}) {
    auto t = make_tridiagonal<R>(tridiagonal_kinds<R>()[0], order);
    (in_d ? t.d : t.e)[29] = in_d ? not_a_number<R>() : std::numeric_limits<R>::infinity();
    const Data d = upload(this->runtime(), t.d), e = upload(this->runtime(), t.e),
               scaled = this->doubles(2 * order + 1);
    const Status status = this->run([&](Sequence& s) {
      s.insert(ScaleAndCut<R>{.d = d, .e = e, .scaled = scaled, .n = order, .leaf = leaf});
    });
    EXPECT_EQ(status.code, StatusCode::not_finite);
    EXPECT_EQ(status.index, 30);
  }
}

/// Each leaf as a task, all leaves in one task, and every second leaf; the last leaf is shorter.
TYPED_TEST(TridiagonalCodelets, LeavesAreSolved) {
  using R = TypeParam;
  struct Part {
    Index start;
    Forest forest;
  };
  const Part parts[] = {{0, {leaf, leaf, leaf}},
                        {leaf, {leaf, leaf, leaf}},
                        {3 * leaf, {order - 3 * leaf, leaf, leaf}},
                        {0, {order, leaf, leaf}},
                        {leaf, {order - 2 * leaf, leaf, 2 * leaf}}};
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const auto& [first_row, forest] : parts) {
      const auto scaled = this->scaled(make_tridiagonal<R>(kind, order));
      const auto leaves = this->solve_leaves(upload(this->runtime(), scaled), first_row, forest);
      ASSERT_TRUE(leaves.status);
      for (Index tree = 0; tree < forest.trees(); ++tree) {
        const Index m = forest.tree_rows(tree), start = first_row + tree * forest.stride;
        SCOPED_TRACE(kind.name + ", first row " + std::to_string(start) + ", leaf " + std::to_string(tree) +
                     " of " + std::to_string(forest.trees()));
        const auto values = download_values<double>(leaves.spectra[std::size_t(tree)]);
        const auto vectors = download<R>(leaves.qs[std::size_t(tree)]);
        const auto expected = this->solve_leaf(scaled, start, m);
        EXPECT_EQ(values, expected.spectrum);
        EXPECT_EQ(difference(vectors, expected.q), 0);
        const std::vector<R> w(values.begin(), values.begin() + m);
        const auto errors = vector_errors(this->piece(scaled, start, m), w,
                                          std::vector<R>(vectors.data(), vectors.data() + m * m));
        EXPECT_LT(errors.residual, 5);
        EXPECT_LT(errors.orthogonality, 5);
        EXPECT_TRUE(std::is_sorted(values.begin(), values.begin() + m));
        for (Index j = 0; j < m; ++j) {
          EXPECT_EQ(R(values[std::size_t(m + j)]), vectors(0, j));
          EXPECT_EQ(R(values[std::size_t(2 * m + j)]), vectors(m - 1, j));
        }
      }
    }
}

TYPED_TEST(TridiagonalCodelets, Subtree) {
  using R = TypeParam;
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index n : {Index(1), Index(3), Index(107)}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      // The last m of n rows as a single piece.
      const auto t = make_tridiagonal<R>(kind, n);
      const Index start = n / 10, m = n - start;
      std::vector<double> scaled(std::size_t(2 * n + 1));
      const ScaledTridiagonal view(scaled.data(), n);
      int exponent = 0;
      ASSERT_EQ(kernels::scale_and_cut(n, t.d.data(), t.e.data(), n + 1, view.d, view.e, &exponent), 0);
      const Data data = upload(this->runtime(), scaled),
                 scratch = Data::scratch(this->runtime(), subtree_scratch_bytes(m, false));
      for (const bool rows : {true, false}) {
        const Data spectrum = this->doubles(3 * m);
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(SubtreeValues{.scaled = data,
                                 .spectrum = spectrum,
                                 .work = scratch,
                                 .rows = {.n = n, .start = start, .m = m},
                                 .epsilon = this->epsilon,
                                 .boundary_rows = rows});
        }));
        std::vector<double> expected(std::size_t(3 * m)), work(kernels::subtree_scratch_bytes(m) / 8 + 1);
        ASSERT_EQ(kernels::subtree_values(m, view.d + start, view.e + start, this->epsilon, rows,
                                          NodeSpectrum(expected.data(), m), work.data()),
                  0);
        const auto result = download_values<double>(spectrum);
        for (Index i = 0; i < (rows ? 3 * m : m); ++i)
          ASSERT_EQ(result[std::size_t(i)], expected[std::size_t(i)]) << i;
        const Tridiagonal<R> piece{{view.d + start, view.d + n}, {view.e + start, view.e + n - 1}};
        // Accuracy is relative to the whole matrix, which has norm 1, so it says little about a
        // tiny part.
        if (norm(piece) > 0.25L) {
          EXPECT_TRUE(values_within(piece, std::vector<R>(result.begin(), result.begin() + m), 2.0));
        }
      }
    }
}

/// A failure to converge must be reported by the first row of the leaf.
TYPED_TEST(TridiagonalCodelets, LeafAndSubtreeReportFailures) {
  using R = TypeParam;
  auto scaled = this->scaled(make_tridiagonal<R>(tridiagonal_kinds<R>()[0], order));
  scaled[std::size_t(leaf + 4)] = not_a_number<double>();
  const Data data = upload(this->runtime(), scaled), spectrum = this->doubles(3 * leaf);
  // As the only leaf, and as the second leaf of a task for three.
  for (const auto& [start, count] : {std::pair<Index, Index>(leaf, 1), std::pair<Index, Index>(0, 3)}) {
    const Status of_leaf = this->solve_leaves(data, start, {count * leaf, leaf, leaf}).status;
    EXPECT_EQ(of_leaf.code, StatusCode::no_convergence);
    EXPECT_EQ(of_leaf.index, leaf + 1);
  }
  const Data scratch = Data::scratch(this->runtime(), subtree_scratch_bytes(leaf, false));
  const Status of_subtree = this->run([&](Sequence& s) {
    s.insert(SubtreeValues{.scaled = data,
                           .spectrum = spectrum,
                           .work = scratch,
                           .rows = {.n = order, .start = leaf, .m = leaf},
                           .epsilon = this->epsilon,
                           .boundary_rows = true});
  });
  EXPECT_EQ(of_subtree.code, StatusCode::no_convergence);
  EXPECT_EQ(of_subtree.index, leaf + 1);
}

TYPED_TEST(TridiagonalCodelets, CopyAndUnscale) {
  using R = TypeParam;
  const Index n = 7;
  std::vector<double> values, scaled(std::size_t(2 * n + 1));
  for (Index i = 0; i < 3 * n; ++i) values.push_back(random_scalar<double>(1, i, 0));
  const Data spectrum = upload(this->runtime(), values), copy = this->doubles(3 * n);
  for (const int exponent : {0, 5, -70}) {
    scaled.back() = exponent;
    const Data data = upload(this->runtime(), scaled),
               w = Data::bytes(this->runtime(), sizeof(R) * std::size_t(n), Data::every_rank);
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(CopyBytes{.source = spectrum, .destination = copy}, {.execute_on = 0});
      s.insert(divide_and_conquer::Unscale<R>{.scaled = data, .spectrum = copy, .values = w, .n = n});
    }));
    EXPECT_EQ(download_values<double>(copy), values);
    const auto result = download_values<R>(w);
    for (Index i = 0; i < n; ++i)
      EXPECT_EQ(result[std::size_t(i)], R(std::ldexp(values[std::size_t(i)], exponent)));
  }
}

}  // namespace
}  // namespace tessera::test
