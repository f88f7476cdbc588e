// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera::test {
using namespace detail;
namespace {

TEST(SolverChoice, TheDriverOfAGpuTakesSmallMatricesAndTwoStagesLargeOnes) {
  for (const int workers : {1, 16}) {
    for (const Index n : {1, 64, 200, 1000, 2048}) {
      EXPECT_EQ(choose_solver(n, n, workers, true), Solver::vendor) << n;
      EXPECT_EQ(choose_solver(n, 0, workers, true), Solver::vendor) << n;
    }
    for (const Index n : {8192, 16384, 65536}) {
      EXPECT_EQ(choose_solver(n, n, workers, true), Solver::two_stage) << n;
      EXPECT_EQ(choose_solver(n, 0, workers, true), Solver::two_stage) << n;
    }
  }
}

/// The smallest order for which two stages are chosen.
Index first_of_two_stages(Index (*wanted)(Index n), int workers, bool gpu_driver) {
  constexpr Index last = 16384;
  Index first = last + 1;
  for (Index n = last; n > 0 && choose_solver(n, wanted(n), workers, gpu_driver) == Solver::two_stage; --n)
    first = n;
  EXPECT_GT(first, 1) << "small matrices are for others";
  EXPECT_LE(first, last) << "large ones are for two stages";
  for (Index n = 1; n < first; ++n)
    EXPECT_NE(choose_solver(n, wanted(n), workers, gpu_driver), Solver::two_stage) << n;
  return first;
}

/// Fewer vectors make the second back-transform cheaper, so two stages must be chosen at the same
/// order or earlier.
TEST(SolverChoice, FewerVectorsNeverFavourTheDriverMore) {
  for (const bool gpu_driver : {true, false})
    for (const int workers : {1, 2, 16}) {
      const Index all = first_of_two_stages([](Index n) { return n; }, workers, gpu_driver),
                  some = first_of_two_stages([](Index n) { return n / 10; }, workers, gpu_driver),
                  none = first_of_two_stages([](Index) { return Index(0); }, workers, gpu_driver);
      EXPECT_LE(some, all) << workers << gpu_driver;
      EXPECT_LE(none, some) << workers << gpu_driver;
    }
}

TEST(SolverChoice, OnCpusByOrderWorkersAndVectors) {
  EXPECT_EQ(choose_solver(200, 200, 2, false), Solver::vendor);
  EXPECT_EQ(choose_solver(1500, 1500, 2, false), Solver::one_stage);
  EXPECT_EQ(choose_solver(1500, 1500, 16, false), Solver::two_stage);
  EXPECT_EQ(choose_solver(700, 700, 16, false), Solver::one_stage);
  EXPECT_EQ(choose_solver(700, 300, 16, false), Solver::two_stage);
  EXPECT_EQ(choose_solver(1600, 1600, 2, false), Solver::two_stage);
}

}  // namespace
}  // namespace tessera::test
