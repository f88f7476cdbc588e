// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/codelets/sparse/multiply_two_species.hpp>
#include <tessera/two_species_operator.hpp>

namespace tessera::detail {

/// The lists of a TwoSpeciesOperator, as vectors; see two_species_layout.hpp.
template <class T>
struct TwoSpeciesTables {
  std::vector<TwoSpeciesLine> lines;
  TwoSpeciesBlocks host;  ///< pairs and blocks
  std::vector<TwoSpeciesRun> runs;
  std::vector<TwoSpeciesBatch> batches;
  std::vector<TwoSpeciesJob> jobs;
  std::vector<std::uint32_t> begins;
  std::vector<TwoSpeciesEntry> entries;
  std::vector<T> values;
  std::vector<double> line_products;  ///< multiplications of each line, for a column

  TwoSpeciesShape shape() const noexcept;
  /// Copies all into memory of two_species_bytes.
  void store(void* memory) const;
};

/// @throws InvalidArgument (TwoSpeciesOperator::build)
void check_structure(const TwoSpeciesStructure& structure);

/// Makes the lists of a checked structure. `fewest_dense`: states of both sectors from which on a block of A or
/// B may be dense with SpeciesStorage::automatic.
/// @throws InvalidArgument for moves into one sector from several ones, and lists of 2^32 items or more
template <class T>
TwoSpeciesTables<T> make_two_species_tables(const TwoSpeciesStructure& structure, SpeciesStorage storage,
                                            Index fewest_dense);

/// The diagonal of H, and the largest sum of magnitudes of a row.
struct TwoSpeciesNorm {
  std::vector<double> diagonal;
  double bound = 0;
};
template <class T>
TwoSpeciesNorm measure_two_species(int threads, const TwoSpeciesTables<T>& tables);

}  // namespace tessera::detail
