// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>

#include <tessera/runtime/machine.hpp>

namespace tessera {
using namespace detail;
namespace {

std::vector<int> firsts(int ranks, int gpus, int visible) {
  std::vector<int> result;
  for (int rank = 0; rank < ranks; ++rank) result.push_back(first_gpu_of_rank(rank, ranks, gpus, visible));
  return result;
}

TEST(FirstGpuOfRank, EachHasItsOwnWhereThereAreEnough) {
  EXPECT_EQ(firsts(4, 1, 4), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(firsts(3, 1, 4), (std::vector{0, 1, 2}));
  EXPECT_EQ(firsts(2, 2, 4), (std::vector{0, 2}));
  EXPECT_EQ(firsts(1, 4, 4), (std::vector{0}));
}

TEST(FirstGpuOfRank, NeighboursShare) {
  EXPECT_EQ(firsts(6, 1, 4), (std::vector{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(firsts(3, 1, 1), (std::vector{0, 0, 0}));
  EXPECT_EQ(firsts(8, 1, 2), (std::vector{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(firsts(2, 2, 2), (std::vector{0, 1}));
}

TEST(CoresForWorkers, FewWorkOnAllOfThem) {
  for (const int cores : {1, 2, 8})
    for (const int ranks : {1, 4}) EXPECT_EQ(cores_for_workers(cores, 0, ranks), cores);
}

TEST(CoresForWorkers, OfManySomeAreForOtherThreads) {
  EXPECT_EQ(cores_for_workers(9, 0, 1), 8);
  EXPECT_EQ(cores_for_workers(16, 0, 1), 15);
  EXPECT_EQ(cores_for_workers(16, 0, 2), 14);
}

TEST(CoresForWorkers, GpusAreFedByThreads) {
  EXPECT_EQ(cores_for_workers(16, 1, 1), 14);
  EXPECT_EQ(cores_for_workers(16, 4, 2), 10);
  EXPECT_EQ(cores_for_workers(2, 4, 1), 1);
}

}  // namespace
}  // namespace tessera
