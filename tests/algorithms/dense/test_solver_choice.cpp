// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/matrix.hpp>

#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera::test {
namespace {

template <class T>
class SolverChoice : public ::testing::Test {};
TYPED_TEST_SUITE(SolverChoice, Scalars);

TYPED_TEST(SolverChoice, TheDriverOfAGpuTakesSmallMatricesAndTwoStagesLargeOnes) {
  for (const int workers : {1, 16}) {
    for (const Index n : {1, 64, 200, 1000, 2048}) {
      EXPECT_EQ(choose_solver<TypeParam>(n, n, workers, true), Solver::vendor) << n;
      EXPECT_EQ(choose_solver<TypeParam>(n, 0, workers, true), Solver::vendor) << n;
    }
    for (const Index n : {8192, 16384, 65536}) {
      EXPECT_EQ(choose_solver<TypeParam>(n, n, workers, true), Solver::two_stage) << n;
      EXPECT_EQ(choose_solver<TypeParam>(n, 0, workers, true), Solver::two_stage) << n;
    }
  }
}

/// With fewer vectors the second back-transform costs less: two stages win no later.
TYPED_TEST(SolverChoice, FewerVectorsNeverFavourTheDriverMore) {
  for (Index n = 256; n <= 16384; n += 256)
    if (choose_solver<TypeParam>(n, n, 16, true) == Solver::two_stage) {
      EXPECT_EQ(choose_solver<TypeParam>(n, n / 10, 16, true), Solver::two_stage) << n;
      EXPECT_EQ(choose_solver<TypeParam>(n, 0, 16, true), Solver::two_stage) << n;
    }
}

TYPED_TEST(SolverChoice, OnCpusByOrderWorkersAndVectors) {
  EXPECT_EQ(choose_solver<TypeParam>(200, 200, 2, false), Solver::vendor);
  EXPECT_EQ(choose_solver<TypeParam>(1500, 1500, 2, false), Solver::one_stage);
  EXPECT_EQ(choose_solver<TypeParam>(1500, 1500, 16, false), Solver::two_stage);
  EXPECT_EQ(choose_solver<TypeParam>(700, 700, 16, false), Solver::one_stage);
  EXPECT_EQ(choose_solver<TypeParam>(700, 300, 16, false), Solver::two_stage);
  EXPECT_EQ(choose_solver<TypeParam>(1600, 1600, 2, false), Solver::two_stage);
}

}  // namespace
}  // namespace tessera::test
