// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include <tessera/block_sparse_matrix.hpp>

namespace tessera {

/// Rows and columns of elements, [first_row, end_row) x [first_col, end_col).
struct ElementWindow {
  Index first_row = 0, end_row = std::numeric_limits<Index>::max();
  Index first_col = 0, end_col = std::numeric_limits<Index>::max();
  bool operator==(const ElementWindow&) const = default;
};

struct CopyBlocksOptions {
  Op op = Op::none;
  bool conjugated = false;  ///< the elements, after op: the adjoint conjugated is the transpose
  bool add = false;         ///< to what is there; else the copied elements replace it
  ElementWindow window{};   ///< of the destination: other elements stay. It may cut through blocks
};

/// B := factor op(A) (+ B) on the blocks that both store; the other blocks of B stay. The block sizes of B
/// are those of op(A); symmetry, owners and panels may differ: blocks that A has only by symmetry are copied,
/// too, where B stores them. Every change of distribution, transposition, desymmetrization or cut is this
/// copy. B must have values, unless it has A's very layout and blocks and all of them are replaced.
///
/// One task for each pair of panels between which something moves, on the owner of B's panel, reads a list of
/// its moves; where the layouts have the same places, one task a panel, in the longest pieces, or all at once
/// if the panel has the same blocks. The host's part is a walk over A's blocks.
/// Copies of A's panels that other ranks received are dropped.
/// @throws InvalidArgument if the sizes differ, or B is A.
template <class T>
void copy_blocks(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                 const CopyBlocksOptions& options = {});

/// The blocks in `layout` that op(A) has there, as far as the layout stores them and the window touches them
/// (of size zero: only if the window is the whole matrix). On all ranks, but without communication.
/// @throws InvalidArgument if the layout's sizes are not those of op(A).
template <class T>
BlockPatternPointer image_pattern(const BlockSparseMatrix<T>& a, const BlockLayout& layout, Op op = Op::none,
                                  const ElementWindow& window = {});

/// factor op(A), cut to a window (zero outside), in another layout. Collective.
template <class T>
BlockSparseMatrix<T> make_image(Sequence& sequence, T factor, const BlockSparseMatrix<T>& a,
                                const BlockLayout& layout, Op op = Op::none, bool conjugated = false,
                                const ElementWindow& window = {});

}  // namespace tessera
