// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/common/store.hpp>

struct CUstream_st;  // cudaStream_t points to one

/// Tasks that compute the products of a panel of C as one product of dense matrices: where nearly all blocks
/// are stored, many small products take longer than a large one with some zeros.
namespace tessera::detail {

/// One block of a panel and its place in the dense array of the panel, whose rows and columns are those of
/// the panel's blocks without gaps.
struct DenseBlock {
  std::int32_t offset;      ///< element of the panel's data at which it begins
  std::int32_t row, col;    ///< of the dense array at which it begins
  std::int32_t rows, cols;  ///< elements
};

/// The dense array of a panel, zero where it has no block.
/// | operand | mode  | shape               | what                                                  |
/// |---------|-------|---------------------|-------------------------------------------------------|
/// | blocks  | read  | array of DenseBlock | the panel's                                           |
/// | values  | read  | array               | the panel's                                           |
/// | dense   | write | matrix              | all rows by all columns of the panel; of `every_rank` |
/// No flops. Cost: that of its bytes. On CPUs and GPUs, with the same bits. Runs on the rank that the
/// insertion names and writes its copy of `dense`; on the other ranks `blocks` is any piece of `every_rank`.
template <class T>
struct ExpandPanel {
  static constexpr const char* name = "expand_panel";
  Read<Array<DenseBlock>> blocks;
  Read<Array<T>> values;
  Write<Matrix<T>> dense;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// C := A B (+ C, if an earlier task of the sequence has written it) for the dense arrays of panels.
/// | operand | mode         | shape  | what  |
/// |---------|--------------|--------|-------|
/// | a       | read         | matrix | m x k |
/// | b       | read         | matrix | k x n |
/// | c       | write or add | matrix | m x n |
/// Flops: those of the products of blocks that it stands for: 2 m n k each (complex: x 4). Cost: the flops of
/// the dense product at the rate of a core or a GPU. Runs where C lives. By BLAS gemm. On ranks that do not
/// own C, `classes` and `ran_on` are not used.
template <class T>
struct MultiplyDense {
  static constexpr const char* name = "multiply_dense";
  Read<Matrix<T>> a, b;
  WriteOrAdd<Matrix<T>> c;
  Index m, n, k;
  std::span<const StackClass> classes;  ///< of the products of blocks; read at the insertion alone
  ProductWorker* ran_on;                ///< the task stores the kind of its worker here

  double flops() const noexcept { return stack_flops(classes, is_complex<T>); }
  double seconds(WorkerKind kind, double) const noexcept { return dense_seconds<T>(kind, m, n, k); }
};

/// The blocks of a panel := those parts of its dense array (or themselves + those). What of the dense array
/// belongs to no block is left out.
/// | operand | mode         | shape               | what                                                   |
/// |---------|--------------|---------------------|--------------------------------------------------------|
/// | blocks  | read         | array of DenseBlock | the panel's; any of `every_rank` where it is not owned |
/// | dense   | read         | matrix              | all rows by all columns of the panel                   |
/// | values  | write or add | array               | the panel's                                            |
/// No flops counted. Cost: that of its bytes. On CPUs and GPUs, with the same bits.
template <class T>
struct ExtractBlocks {
  static constexpr const char* name = "extract_blocks";
  Read<Array<DenseBlock>> blocks;
  Read<Matrix<T>> dense;
  WriteOrAdd<Array<T>> values;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

namespace kernels {

template <class T>
void expand_panel(std::span<const DenseBlock> blocks, const T* values, MatrixView<T> dense) noexcept;
template <class T>
void extract_blocks(std::span<const DenseBlock> blocks, MatrixView<const T> dense, Store store,
                    T* values) noexcept;

}  // namespace kernels

/// The same on a GPU: all pointers are device memory, everything is enqueued on the stream.
namespace device {

template <class T>
void launch_expand_panel(CUstream_st* stream, std::span<const DenseBlock> blocks, const T* values,
                         MatrixView<T> dense);
template <class T>
void launch_extract_blocks(CUstream_st* stream, std::span<const DenseBlock> blocks, MatrixView<const T> dense,
                           Store store, T* values);

}  // namespace device

}  // namespace tessera::detail
