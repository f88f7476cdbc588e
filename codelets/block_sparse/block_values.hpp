// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/panel_block.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets on the values of one panel of a block-sparse matrix, for CPUs and GPUs: with the same bits on
/// both but for sums. The cost of their bytes predicts their time.
namespace tessera {

/// Codelet fill_values: every value := `value`.
/// Buffers:   values (write; array of T). Flops: none.
template <class T>
void insert_fill_values(Sequence& sequence, int priority, T value, const Data& values);

/// One block, or a part of it, on its way from one panel to another; rows and cols as in the destination.
struct BlockMove {
  Index source, destination;  ///< elements of the panels' data at which the parts begin
  std::int32_t rows, cols;
  std::int32_t source_ld, destination_ld;
};

/// Codelet move_blocks: for each move, destination := factor op(source) (+ destination if `add`).
///
/// Arguments: op (none, transpose, adjoint), conjugated (the elements, after op), factor, add.
/// Buffers:   moves (read; array of BlockMove), source (read; array of T), destination (read-write; array of
/// T). Flops: none counted.
template <class T>
void insert_move_blocks(Sequence& sequence, int priority, Op op, bool conjugated, T factor, bool add,
                        const Data& moves, const Data& source, const Data& destination);

/// Codelet copy_values: destination := factor source (+ destination if `add`), all of it.
///
/// Arguments: conjugated (the elements), factor, add.
/// Buffers:   source (read; array of T), destination (write, with `add` read-write; array of T).
/// Flops: none counted.
template <class T>
void insert_copy_values(Sequence& sequence, int priority, bool conjugated, T factor, bool add,
                        const Data& source, const Data& destination);

/// Codelet block_norms: squares of the blocks' Frobenius norms, in double.
/// Buffers:   blocks (read; array of PanelBlock), values (read; array of T), norms (write; array of double).
/// Flops:     2 a value (complex: 4).
template <class T>
void insert_block_norms(Sequence& sequence, int priority, const Data& blocks, const Data& values,
                        const Data& norms);

}  // namespace tessera
