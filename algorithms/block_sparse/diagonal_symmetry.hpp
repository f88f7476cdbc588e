// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Gives the diagonal blocks of a half-stored matrix its symmetry, after their lower halves. No index is needed on the host: the
/// tasks look for the blocks.
template <class T>
void impose_symmetry(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  std::vector<Index> panels;
  for (Index i = 0; i < pattern.rows().blocks(); ++i)
    panels.push_back(pattern.panel(pattern.rows().panel_of(i), pattern.cols().panel_of(i)));
  std::sort(panels.begin(), panels.end());
  panels.erase(std::unique(panels.begin(), panels.end()), panels.end());
  for (const Index p : panels)
    if (a.panel(p).valid())
      sequence.insert(ImposeSymmetry<T>{.pattern = pattern.packed(),
                                        .values = a.panel(p),
                                        .row_panel = word_of(pattern.row_panel(p)),
                                        .col_panel = word_of(pattern.col_panel(p)),
                                        .symmetry = a.symmetry()});
}

}  // namespace tessera::detail
