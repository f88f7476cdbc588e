// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>

struct CUstream_st;  // cudaStream_t points to one

namespace tessera::detail {

/// The most thread blocks of the kernel for GPUs; each leaves its sums, which a second kernel adds up.
inline constexpr Index gram_parts = 2 * 132;
/// Of so many inner products, those that a launch computes at most.
constexpr Index gram_launch(Index products) noexcept {
  constexpr Index most = 3 * max_block_columns * 2 * max_block_columns;
  return products < most ? products : most;
}

/// Inner products of blocks of row-major vectors, of one segment of rows, in one pass over them:
///   G := [L_0 L_1 L_2]^T [R_0 R_1],                                             [2 l r a row]
/// of complex vectors those of their real columns (columns.hpp), twice as many, on both sides: what
/// L^H R consists of.
/// | operand     | mode    | shape                                     | what                     |
/// |-------------|---------|-------------------------------------------|--------------------------|
/// | left, right | read    | blocks of vectors, 1 to 32 columns each   | l and r real columns     |
/// | g           | write   | l r doubles at least: l x r, column-major | the inner products       |
/// | work        | scratch | gram_parts gram_launch(l r) doubles       | sums of thread blocks    |
/// Products and sums in double, also of float vectors; rows ascend: the same bits in every run on the same
/// kind of worker. Predicted by flops and bytes.
template <class T>
struct Gram {
  static constexpr const char* name = "gram";
  static constexpr bool gpu_instead_of_cpu = true;
  std::array<ReadColumns<T>, 3> left{};
  std::array<ReadColumns<T>, 2> right{};
  Write<Array<double>> g;
  GpuScratch<Array<double>> work{};
  Index rows = 0;

  double flops() const noexcept {
    return 2. * flop_factor<T> * columns_of(left) * columns_of(right) * static_cast<double>(rows);
  }
  double seconds(WorkerKind kind, double bytes) const noexcept {
    return memory_seconds(kind, bytes) + flops() / (kind == WorkerKind::gpu ? 1e13 : 1e10);
  }
};

namespace kernels {

/// g: l x r without gaps.
template <class T>
void gram(std::int64_t rows, std::span<const VectorBlock<const T>> left,
          std::span<const VectorBlock<const T>> right, double* g) noexcept;

}  // namespace kernels

/// All pointers are device memory; everything is enqueued on the stream.
namespace device {

/// g := [L_0 ...]^T [R_0 ...], column-major, ld = l: tensor cores, thread blocks' sums, then their sum. More than
/// 96 x 64 inner products take several launches.
/// @param parts device memory for gram_parts gram_launch(l r) numbers
template <class T>
void launch_gram(CUstream_st* stream, std::int64_t rows, std::span<const VectorBlock<const T>> left,
                 std::span<const VectorBlock<const T>> right, double* g, double* parts);

}  // namespace device

}  // namespace tessera::detail
