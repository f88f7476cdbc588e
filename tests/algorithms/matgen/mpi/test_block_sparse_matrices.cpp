// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/support/mpi_test.hpp>

/// Matrices generated on all ranks must equal those generated on one rank.
namespace tessera::test {
namespace {

using GenerateMpi = MpiTest;

TEST_F(GenerateMpi, SameAsOnOneRank) {
  using T = std::complex<double>;
  const auto sizes = repeated_block_sizes(std::vector<Index>{13, 5, 5}, 500);
  const int ranks = runtime().size();
  const auto make = [&](ProcessGrid grid, Symmetry symmetry, bool water) {
    const BlockLayout layout = square_layout(sizes, symmetry, grid, 60);
    return fingerprint(water ? water_block_sparse<T>(runtime(), layout, 0.2, 7, 3)
                             : random_block_sparse<T>(runtime(), layout, 0.2, 7));
  };
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian})
    for (const bool water : {false, true}) {
      const std::uint64_t one = make({1, 1}, symmetry, water);
      EXPECT_EQ(make(ProcessGrid::squarest(ranks), symmetry, water), one);
      EXPECT_EQ(make({ranks, 1}, symmetry, water), one);
      EXPECT_EQ(make({1, ranks, true}, symmetry, water), one);
    }
}

}  // namespace
}  // namespace tessera::test
