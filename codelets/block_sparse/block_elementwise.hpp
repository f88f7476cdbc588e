// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/panel_block.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets on the values of one panel that need to know where in the matrix they stand. In all of them
/// `blocks` (read) is the panel's array of PanelBlock, `values` its array of T. They run at the speed
/// of memory, whose cost predicts their time: no flops are counted. On CPUs and GPUs, with the same bits.
namespace tessera {

/// Codelet impose_symmetry: in the diagonal blocks (equal block numbers; square) the strict upper triangle :=
/// the mirror image of the lower one; the diagonal := its real part (hermitian), zero (antisymmetric).
/// Buffers: blocks, values (read-write).
template <class T>
void insert_impose_symmetry(Sequence& sequence, int priority, Symmetry symmetry, const Data& blocks,
                            const Data& values);

/// Codelet cut_below_diagonal: elements (i, j) of the matrix with i > j := 0.
/// Buffers: blocks, values (read-write).
template <class T>
void insert_cut_below_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& values);

/// Codelet scale_by_vector: element (i, j) := v_i (left) or v_j (right) times it.
/// Buffers: blocks, v (read; array of T, of all rows or columns), values (read-write).
template <class T>
void insert_scale_by_vector(Sequence& sequence, int priority, Side side, const Data& blocks, const Data& v,
                            const Data& values);

/// Codelet add_on_diagonal: element (i, i) := alpha + it.
/// Buffers: blocks, values (read-write).
template <class T>
void insert_add_on_diagonal(Sequence& sequence, int priority, T alpha, const Data& blocks,
                            const Data& values);

/// Codelet set_diagonal: element (i, i) := v_i.
/// Buffers: blocks, v (read; array of T, of all elements on the diagonal), values (read-write).
template <class T>
void insert_set_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& v,
                         const Data& values);

/// Codelet get_diagonal: the elements (i, i), in the order of the blocks.
/// Buffers: blocks, values (read), diagonal (write; array of T, as many as the panel has).
template <class T>
void insert_get_diagonal(Sequence& sequence, int priority, const Data& blocks, const Data& values,
                         const Data& diagonal);

/// The elements (i, i), first <= i < end, of the matrix that a block holds; none if end <= first.
struct DiagonalPart {
  Index first, end;
};
constexpr DiagonalPart diagonal_part(const PanelBlock& block) noexcept {
  return {std::max(block.first_row, block.first_col),
          std::min(block.first_row + block.rows, block.first_col + block.cols)};
}
/// Where element (i, i) of the matrix lies in the panel's data.
constexpr Index diagonal_place(const PanelBlock& block, Index i) noexcept {
  return block.offset + (i - block.first_row) + (i - block.first_col) * block.rows;
}

}  // namespace tessera
