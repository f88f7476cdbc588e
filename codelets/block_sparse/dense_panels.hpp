// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <tessera/codelets/block_sparse/multiply_stack.hpp>

/// Codelets that compute the products of a panel of C as one product of dense matrices: where nearly all
/// blocks are there, many small products take longer than a large one with some zeros.
namespace tessera {

/// One block of a panel and its place in the dense array of the panel, whose rows and columns are those of
/// the panel's blocks without gaps.
struct DenseBlock {
  std::int32_t offset;      ///< element of the panel's data at which it begins
  std::int32_t row, col;    ///< of the dense array at which it begins
  std::int32_t rows, cols;  ///< elements
};

/// Codelet expand_panel: the dense array of a panel, zero where it has no block.
///
/// Buffers: blocks (read; array of DenseBlock), values (read; array of T), dense (write; matrix, all rows by
///          all columns of the panel).
/// Flops:   none. Cost: that of its bytes. On CPUs and GPUs, with the same bits. Runs on rank `rank`, whose
///          copy of `dense` is written; on the others `blocks` is any piece of `every_rank`.
template <class T>
void insert_expand_panel(Sequence& sequence, int priority, int rank, const Data& blocks, const Data& values,
                         const Data& dense);

/// Codelet multiply_dense: C := A B (+ C if `add`) for the dense arrays of panels. Without `add`, C is not
/// read.
///
/// Arguments: add, where to note what kind of worker ran it.
/// Buffers:   a, b (read; matrices), c (write, with `add` read-write; matrix).
/// Flops:     those of the products of blocks that it stands for: 2 m n k each (complex: x 4).
/// Cost:      the flops of the dense product at the rate of a core or a GPU. Runs where C lives.
/// Source:    BLAS gemm.
///
/// On ranks that do not own C, `classes` and `ran_on` are not used.
template <class T>
void insert_multiply_dense(Sequence& sequence, int priority, std::span<const StackClass> classes, Index m,
                           Index n, Index k, bool add, ProductWorker* ran_on, const Data& a, const Data& b,
                           const Data& c);

/// Codelet extract_blocks: the blocks of a panel := those parts of its dense array (+ themselves if `add`).
/// Without `add` they are not read. What of the dense array belongs to no block is left out.
///
/// Buffers: blocks (read; array of DenseBlock), dense (read; matrix), values (write, with `add` read-write;
///          array of T).
/// Flops:   none counted. Cost: that of its bytes. On CPUs and GPUs, with the same bits.
template <class T>
void insert_extract_blocks(Sequence& sequence, int priority, bool add, const Data& blocks, const Data& dense,
                           const Data& values);

namespace kernels {

template <class T>
void expand_panel(std::span<const DenseBlock> blocks, const T* values, MatrixView<T> dense) noexcept;
template <class T>
void extract_blocks(std::span<const DenseBlock> blocks, MatrixView<const T> dense, bool add,
                    T* values) noexcept;

}  // namespace kernels
}  // namespace tessera
