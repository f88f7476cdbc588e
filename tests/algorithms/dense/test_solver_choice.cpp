// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera::test {
using namespace detail;
namespace {

constexpr double cache_of_32_mib = 32 << 20;

SolverPlace gpu(int workers, bool complex, bool single) {
  return {.workers = workers, .gpu_driver = true, .complex = complex, .single = single};
}
SolverPlace cpus(int workers, double scalar_bytes = 8) {
  return {.workers = workers, .cached = cache_of_32_mib / scalar_bytes};
}

TEST(SolverChoice, TheDriverOfAGpuTakesSmallMatricesAndTwoStagesLargeOnes) {
  for (const int workers : {1, 16})
    for (const bool complex : {false, true})
      for (const bool single : {false, true}) {
        const SolverPlace place = gpu(workers, complex, single);
        for (const Index n : {1, 64, 200, 400})
          for (const Index wanted : {Index(0), n})
            EXPECT_EQ(choose_solver(n, wanted, place), Solver::vendor) << n;
        for (const Index n : {4096, 8192, 16384, 65536})
          for (const Index wanted : {Index(0), n})
            EXPECT_EQ(choose_solver(n, wanted, place), Solver::two_stage) << n;
      }
  // Real matrices sooner than complex ones, and those in double precision sooner than single.
  for (const bool single : {false, true})
    EXPECT_EQ(choose_solver(1024, 1024, gpu(14, false, single)), Solver::two_stage);
  EXPECT_EQ(choose_solver(1024, 1024, gpu(14, true, false)), Solver::vendor);
  EXPECT_EQ(choose_solver(2048, 2048, gpu(14, true, false)), Solver::two_stage);
  EXPECT_EQ(choose_solver(1400, 1400, gpu(14, true, true)), Solver::vendor);
  EXPECT_EQ(choose_solver(1400, 1400, gpu(14, true, false)), Solver::two_stage);
  EXPECT_EQ(choose_solver(2048, 2048, gpu(14, true, true)), Solver::two_stage);
  EXPECT_EQ(choose_solver(2048, 0, gpu(14, true, true)), Solver::two_stage);
}

/// Between the driver and two stages, and for any number of vectors.
TEST(SolverChoice, OneStageWhereAKernelOfAGpuHoldsTheMatrix) {
  SolverPlace place = gpu(14, true, false);
  place.at_once = 1024;
  for (const Index wanted : {0, 10, 700}) {
    EXPECT_EQ(choose_solver(1024, wanted, place), Solver::one_stage);
    EXPECT_EQ(choose_solver(700, wanted, place), Solver::one_stage);
    EXPECT_EQ(choose_solver(1025, wanted, place),
              wanted > 512 ? Solver::vendor : choose_solver(1025, wanted, gpu(14, true, false)));
    EXPECT_EQ(choose_solver(100, std::min<Index>(wanted, 100), place), Solver::vendor);
  }
}

/// The smallest order for which two stages are chosen.
Index first_of_two_stages(Index (*wanted)(Index n), const SolverPlace& place) {
  constexpr Index last = 16384;
  Index first = last + 1;
  for (Index n = last; n > 0 && choose_solver(n, wanted(n), place) == Solver::two_stage; --n) first = n;
  EXPECT_GT(first, 1) << "small matrices are for others";
  EXPECT_LE(first, last) << "large ones are for two stages";
  for (Index n = 1; n < first; ++n) EXPECT_NE(choose_solver(n, wanted(n), place), Solver::two_stage) << n;
  return first;
}

/// Fewer vectors make the second back-transform cheaper, so two stages must be chosen at the same
/// order or earlier. Of values alone LAPACK is the cheaper of the two where there are few workers.
TEST(SolverChoice, FewerVectorsNeverFavourTheDriverMore) {
  for (const bool gpu_driver : {true, false})
    for (const int workers : {1, 2, 16})
      for (const double cached : {0.0, 1e5, 4e6, 1e9}) {
        const SolverPlace place{
            .workers = workers, .gpu_driver = gpu_driver, .complex = workers == 2, .cached = cached};
        const Index all = first_of_two_stages([](Index n) { return n; }, place),
                    some = first_of_two_stages([](Index n) { return n / 10; }, place),
                    none = first_of_two_stages([](Index) { return Index(0); }, place);
        EXPECT_LE(some, all) << workers << gpu_driver;
        if (gpu_driver || workers > 4) EXPECT_LE(none, some) << workers << gpu_driver;
      }
}

TEST(SolverChoice, OnCpusByOrderWorkersAndVectors) {
  for (const Index n : {200, 400}) EXPECT_EQ(choose_solver(n, n, cpus(2)), Solver::vendor);
  EXPECT_EQ(choose_solver(401, 401, cpus(2)), Solver::one_stage);
  EXPECT_EQ(choose_solver(401, 100, cpus(2)), Solver::two_stage);
  EXPECT_EQ(choose_solver(1000, 0, cpus(2)), Solver::vendor);
  EXPECT_EQ(choose_solver(1001, 0, cpus(2)), Solver::two_stage);
  EXPECT_EQ(choose_solver(200, 200, cpus(16)), Solver::vendor);
  EXPECT_EQ(choose_solver(201, 0, cpus(16)), Solver::two_stage);
  EXPECT_EQ(choose_solver(700, 700, cpus(16)), Solver::one_stage);
  EXPECT_EQ(choose_solver(700, 300, cpus(16)), Solver::two_stage);
  const SolverPlace ranks{.workers = 4, .ranks = 4, .cached = 1e9};
  EXPECT_EQ(choose_solver(200, 200, ranks), Solver::vendor);
  EXPECT_EQ(choose_solver(201, 201, ranks), Solver::one_stage);
  EXPECT_EQ(choose_solver(201, 0, ranks), Solver::two_stage);
  for (const SolverPlace& place : {ranks, SolverPlace{.workers = 2}}) {
    EXPECT_EQ(choose_solver(1500, 1500, place), Solver::one_stage);
    EXPECT_EQ(choose_solver(1600, 1600, place), Solver::two_stage);
  }
  EXPECT_EQ(choose_solver(1500, 1500, cpus(16)), Solver::two_stage);
}

/// One stage while half the matrix fits into the third cache.
TEST(SolverChoice, OnFewCpusByTheCache) {
  const auto last = [](double scalar_bytes) {
    return first_of_two_stages([](Index n) { return n; }, cpus(2, scalar_bytes)) - 1;
  };
  EXPECT_EQ(last(8), 2896);
  EXPECT_EQ(last(16), 2048);
  EXPECT_EQ(last(4), 4096);
  EXPECT_EQ(last(0.1), 4096) << "what was not measured";
  EXPECT_EQ(first_of_two_stages([](Index n) { return n; }, {.workers = 2}), 1501) << "an unknown cache";
}

}  // namespace
}  // namespace tessera::test
