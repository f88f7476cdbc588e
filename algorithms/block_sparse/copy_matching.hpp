// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// B := factor A on the blocks that both have, zero on B's others, panel by panel: blocks that both have lie in
/// panels of the same number.
template <class T>
void copy_matching(Sequence& sequence, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                   T factor) {
  const BlockPattern &from = a.pattern(), &to = b.pattern();
  for (Index p = 0; p < to.panels(); ++p) {
    if (!b.panel(p).valid()) continue;
    if (a.panel(p).valid())
      sequence.insert(CopyMatching<T>{.from = from.packed(),
                                      .to = to.packed(),
                                      .source = a.panel(p),
                                      .destination = overwrite(b.panel(p)),
                                      .row_panel = word_of(to.row_panel(p)),
                                      .col_panel = word_of(to.col_panel(p)),
                                      .factor = factor});
    else
      sequence.insert(FillValues<T>{.values = b.panel(p), .value = T(0)});
  }
}

}  // namespace tessera::detail
