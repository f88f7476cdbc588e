// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/sparse/hermitian_rows.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera {

void SymmetricRows::complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                                    std::vector<ComplexSparseEntry>& out) const {
  std::vector<SparseEntry> real;
  entries(first_row, end_row, first_column, end_column, real);
  for (const SparseEntry& entry : real) out.push_back({entry.row, entry.column, entry.value});
}

void HermitianRows::entries(Index, Index, Index, Index, std::vector<SparseEntry>&) const {
  throw detail::hermitian_entries();
}

}  // namespace tessera
