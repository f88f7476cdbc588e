// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/sparse/two_species_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

using TwoSpeciesRanks = RuntimeTest<double>;

TEST_F(TwoSpeciesRanks, ProductsOfRandomStructures) {
  for (const SpeciesStorage storage : {SpeciesStorage::automatic, SpeciesStorage::sparse})
    for (const Index segments : {0, 1, 7}) {
      check_two_species<double>(runtime(), random_structure({3, 1, 4}, {2, 5}, 1), {segments, storage},
                                {1, 8});
      check_two_species<float>(runtime(), random_structure({12, 9}, {15, 7}, 4, 0.1, 1), {segments, storage},
                               {3});
    }
}

TEST_F(TwoSpeciesRanks, StructuresThatDiffer) {
  TwoSpeciesStructure structure = random_structure({3, 1, 4}, {2, 5}, 1, 0.3, 1);
  if (runtime().rank() == runtime().size() - 1 && runtime().size() > 1)
    structure.couplings.back().strengths[0] += 1;
  if (runtime().size() == 1) return;
  EXPECT_THROW((void)TwoSpeciesOperator<double>::build(runtime(), structure), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
