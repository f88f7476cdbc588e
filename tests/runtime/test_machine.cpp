// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gtest/gtest.h>

#include <tessera/runtime/machine.hpp>

namespace tessera {
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

}  // namespace
}  // namespace tessera
