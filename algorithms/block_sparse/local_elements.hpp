// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <tessera/block_sparse_matrix.hpp>

namespace tessera::detail {

/// Host access to all panels of this rank at a time. Waits for their tasks, and holds later ones back while
/// it lives.
template <class T>
class LocalElements {
 public:
  LocalElements(const BlockSparseMatrix<T>& a, HostAccess::Mode mode)
      : pattern_(&a.pattern()), panels_(static_cast<std::size_t>(pattern_->panels())) {
    for (Index p = 0; p < pattern_->panels(); ++p)
      if (pattern_->panel_local(p) && pattern_->panel_blocks(p) > 0)
        panels_[static_cast<std::size_t>(p)] = std::make_unique<HostAccess>(a.panel(p), mode);
  }

  /// The values of a stored block of this rank.
  T* values(BlockPattern::Location at) const {
    return panels_[static_cast<std::size_t>(at.panel)]->template array<T>().data() +
           pattern_->index(at.panel).offset[static_cast<std::size_t>(at.block)];
  }

  /// Adds to an element if its block is stored on this rank. In a half-stored matrix the element is on or
  /// below the diagonal; its image within a diagonal block follows.
  void add(Index row, Index col, T value) const {
    const BlockLayout& layout = pattern_->layout();
    const Index i = layout.rows->block_of(row), j = layout.cols->block_of(col);
    if (layout.owner(i, j) != pattern_->runtime().rank()) return;
    const auto at = pattern_->find(i, j);
    if (!at) return;
    const Index ld = layout.rows->size(i), r = row - layout.rows->first(i), c = col - layout.cols->first(j);
    T* const block = values(*at);
    block[r + c * ld] += value;
    if (i != j || row == col) return;
    if (layout.symmetry == Symmetry::symmetric) block[c + r * ld] += value;
    if (layout.symmetry == Symmetry::antisymmetric) block[c + r * ld] -= value;
    if (layout.symmetry == Symmetry::hermitian) block[c + r * ld] += conjugate(value);
  }

 private:
  const BlockPattern* pattern_;
  std::vector<std::unique_ptr<HostAccess>> panels_;
};

}  // namespace tessera::detail
