// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/dense/tridiagonal_eigen_checks.hpp>

namespace tessera::test {
namespace {

template <class T>
class TridiagonalEigenTest : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(TridiagonalEigenTest, Scalars);

TYPED_TEST(TridiagonalEigenTest, EveryMatrix) {
  using T = TypeParam;
  Runtime runtime({.cores = 2, .bind = false});
  for (const auto& kind : tridiagonal_kinds<RealOf<T>>())
    for (const TridiagonalCase& c : {TridiagonalCase{150, 0, 150, 40}, TridiagonalCase{307, 10, 75, 17}})
      check_tridiagonal_eigen<T>(runtime, kind, c, 2.0);
}

TYPED_TEST(TridiagonalEigenTest, SizesRangesAndSlabs) {
  using T = TypeParam;
  Runtime runtime({.cores = 2, .bind = false});
  const auto kinds = tridiagonal_kinds<RealOf<T>>();
  const std::vector<TridiagonalCase> cases = {
      {1, 0, 1, 5},       {2, 0, 2, 1},       {2, 1, 2, 9},     {3, 0, 3, 2},     {63, 0, 63, 64},
      {64, 5, 64, 7},     {65, 0, 65, 65},    {65, 64, 65, 1},  {65, 30, 30, 10}, {129, 0, 129, 1},
      {200, 150, 200, 3}, {511, 0, 511, 512}, {600, 0, 120, 55}};
  for (const auto& c : cases) check_tridiagonal_eigen<T>(runtime, kinds[0], c, 3.0);
  for (const auto& c : cases) check_tridiagonal_eigen<T>(runtime, kinds[5], c, 3.0);
}

TYPED_TEST(TridiagonalEigenTest, ValuesOnly) {
  using T = TypeParam;
  using R = RealOf<T>;
  Runtime runtime({.cores = 2, .bind = false});
  for (const auto& kind : tridiagonal_kinds<R>())
    for (const Index n : {1, 2, 50, 333, 1203}) {
      SCOPED_TRACE(kind.name + ", n = " + std::to_string(n));
      const auto t = make_tridiagonal<R>(kind, n);
      Status status;
      const auto w = tridiagonal_values<T>(runtime, t, &status);
      ASSERT_TRUE(status.ok());
      EXPECT_TRUE(values_within(t, w, 1.0));
    }
}

TEST(TridiagonalEigen, SynchronousAndParallelAreEqual) {
  const auto t = make_tridiagonal<double>(tridiagonal_kinds<double>()[1], 1500);
  std::vector<double> parallel, synchronous;
  Status status;
  {
    Runtime runtime({.cores = 2, .bind = false});
    parallel = tridiagonal_values<double>(runtime, t, &status);
  }
  {
    Runtime runtime({.cores = 2, .synchronous = true, .bind = false});
    synchronous = tridiagonal_values<double>(runtime, t, &status);
  }
  EXPECT_EQ(parallel, synchronous);
}

TEST(TridiagonalEigen, VectorsTwiceAndInAnotherSequence) {
  Runtime runtime({.cores = 2, .bind = false});
  const Index n = 400;
  const auto t = make_tridiagonal<double>(tridiagonal_kinds<double>()[0], n);
  const Data d = replicated(runtime, t.d), e = replicated(runtime, t.e);
  Sequence first(runtime);
  TridiagonalEigen<double> solver(first, n, d, e, true);
  ASSERT_TRUE(first.wait().ok());
  const auto w = host_copy<double>(solver.values());
  for (const auto& [lo, hi] : {std::pair<Index, Index>{0, 50}, {390, 400}}) {
    Sequence sequence(runtime);
    const ColumnSlabs<double> z(runtime, n, hi - lo, 32);
    solver.submit_vectors(sequence, lo, hi, z);
    ASSERT_TRUE(sequence.wait().ok());
    const auto errors =
        vector_errors(t, std::vector<double>(w.begin() + lo, w.begin() + hi), gather(runtime, z));
    EXPECT_LT(errors.residual, 1.0);
    EXPECT_LT(errors.orthogonality, 1.0);
  }
}

TEST(TridiagonalEigen, NotFiniteIsAStatus) {
  Runtime runtime({.cores = 2, .bind = false});
  for (const bool vectors : {false, true}) {
    auto t = make_tridiagonal<double>(tridiagonal_kinds<double>()[0], 700);
    t.e[433] = std::numeric_limits<double>::quiet_NaN();
    t.d[511] = std::numeric_limits<double>::infinity();
    const Data d = replicated(runtime, t.d), e = replicated(runtime, t.e);
    const ColumnSlabs<double> z(runtime, 700, 700, 100);
    Sequence sequence(runtime);
    sequence.begin_stage("tridiagonal_eigen");
    TridiagonalEigen<double> solver(sequence, 700, d, e, vectors);
    if (vectors) solver.submit_vectors(sequence, 0, 700, z);
    const Status status = sequence.wait();
    EXPECT_EQ(status.code, StatusCode::not_finite);
    EXPECT_EQ(status.index, 434);
    EXPECT_EQ(status.stage, "tridiagonal_eigen");
  }
}

}  // namespace
}  // namespace tessera::test
