// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/block_sparse/block_sums.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>

/// Squares of the norms of the blocks of a matrix, for the filter of a product. They stay where the matrix is.
namespace tessera::detail {

/// A piece for each panel, owned by the panel's owner; or one piece for the panels of a matrix of one process.
/// It must outlive the insertion of the tasks that read the pieces.
template <class T>
class PanelNorms {
 public:
  /// @param together one piece for all panels: in one process alone
  PanelNorms(Sequence& sequence, const BlockSparseMatrix<T>& matrix, bool together)
      : sequence_(sequence),
        matrix_(matrix),
        all_(together),
        pieces_(all_ ? 1 : static_cast<std::size_t>(matrix.pattern().panels())) {}
  /// The piece with the norms of a panel that has blocks; made, by tasks of the sequence, when it is first asked
  /// for.
  const Data& of(Index p, int priority = 0) {
    Data& norms = pieces_[all_ ? 0 : static_cast<std::size_t>(p)];
    if (norms.valid()) return norms;
    const BlockPattern& pattern = matrix_.pattern();
    std::vector<std::int32_t> panels;
    for (Index q = all_ ? 0 : p; q < (all_ ? pattern.panels() : p + 1); ++q)
      if (pattern.panel_blocks(q) > 0) panels.push_back(word_of(q));
    const Index blocks = all_ ? pattern.blocks() : pattern.panel_blocks(p);
    norms = Data::bytes(sequence_.runtime(), static_cast<std::size_t>(blocks) * sizeof(double),
                        pattern.panel_owner(p));
    insert_norms(sequence_, matrix_, panels, norms, before(pattern, p), {.priority = priority});
    return norms;
  }
  /// The same, or null where nobody has asked for it.
  const Data* made(Index p) const noexcept {
    const Data& norms = pieces_[all_ ? 0 : static_cast<std::size_t>(p)];
    return norms.valid() ? &norms : nullptr;
  }
  /// Blocks that this rank knows in `pattern`, the matrix' one, before the first number of that piece.
  Index before(const BlockPattern& pattern, Index p) const noexcept {
    return all_ ? 0 : pattern.blocks_before(p);
  }
  /// Makes the one piece for all panels, unless there is no block.
  void make_all() {
    if (all_ && matrix_.pattern().blocks() > 0) of(0);
  }
  /// The piece of each panel; those of panels without blocks are not valid. Not with one for all.
  std::vector<Data> take_all() && {
    for (Index p = 0; p < matrix_.pattern().panels(); ++p)
      if (matrix_.pattern().panel_blocks(p) > 0) of(p);
    return std::move(pieces_);
  }

 private:
  Sequence& sequence_;
  const BlockSparseMatrix<T>& matrix_;
  const bool all_;
  std::vector<Data> pieces_;
};

/// Those of a product's operands, by tasks of a sequence that must outlive them.
template <class T>
class OperandNorms {
 public:
  OperandNorms(Sequence& sequence, const ProductOperands<T>& operands)
      : a_(sequence, operands.a(), sequence.runtime().size() == 1),
        b_(sequence, operands.b(), sequence.runtime().size() == 1),
        same_(&operands.a() == &operands.b()) {}
  PanelNorms<T>& a() noexcept { return a_; }
  PanelNorms<T>& b() noexcept { return same_ ? a_ : b_; }
  const PanelNorms<T>& a() const noexcept { return a_; }
  const PanelNorms<T>& b() const noexcept { return same_ ? a_ : b_; }

 private:
  PanelNorms<T> a_, b_;
  const bool same_;  ///< A B is the square of an image
};

}  // namespace tessera::detail
