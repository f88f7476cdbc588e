// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/vectors/column_range.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet gram: inner products of blocks of row-major vectors, of one segment of rows, in one pass over
/// them:
///   G = [L_0 L_1 L_2]^T [R_0 R_1].
///
/// Arguments: left_count <= 3, right_count <= 2 ranges of 1 to 32 columns; several may lie in one buffer, and
/// overlap. Buffers:   V_0, ..., V_{k-1}, k <= 5 (read; each width x rows elements of T, column-major for
/// StarPU: row-major
///            vectors with ld = width), then G (write; bytes: an array of double of which the first l r are
///            used: column-major, l x r, ld = l, where l and r are the sums of the left and the right
///            columns), [W (scratch; at least gram_parts l r doubles), where GPUs take part].
/// Flops:     2 l r a row. Products and sums in double, also of float vectors.
/// Footprint: l and r decide beside the size of the vectors: predicted by the flops and the bytes.
/// Order:     rows ascend: the same bits in every run on the same kind of worker.
namespace tessera {

struct GramArguments {
  std::int32_t left_count = 0, right_count = 0;
  ColumnRange left[3], right[2];
  std::int32_t result = 0;  ///< which buffer G is
  double flops = 0;         ///< for the prediction

  std::int32_t left_columns() const noexcept { return columns(left, left_count); }
  std::int32_t right_columns() const noexcept { return columns(right, right_count); }
  double seconds(WorkerKind kind, double bytes) const {
    return memory_seconds(kind, bytes) + flops / (kind == WorkerKind::gpu ? 1e13 : 1e10);
  }

 private:
  static std::int32_t columns(const ColumnRange* ranges, std::int32_t count) noexcept {
    std::int32_t sum = 0;
    for (std::int32_t k = 0; k < count; ++k) sum += ranges[k].columns;
    return sum;
  }
};

/// The most thread blocks of the kernel for GPUs; each leaves sums of its own, which are added up then.
inline constexpr Index gram_parts = 2 * 132;

namespace kernels {

/// g: l x r without gaps.
template <class T>
void gram(std::int64_t rows, std::span<const VectorBlock<const T>> left,
          std::span<const VectorBlock<const T>> right, double* g) noexcept;

}  // namespace kernels

/// A range of columns of a piece of vectors.
struct VectorColumns {
  const Data* data = nullptr;
  Index first = 0, columns = 0;
};

/// Ranges without columns are left out.
/// @param rows of the segment, to count flops
/// @param work scratch, which only GPUs use
/// @param gpu see TaskOptions
template <class T>
void insert_gram(Sequence& sequence, int priority, Index rows, std::span<const VectorColumns> left,
                 std::span<const VectorColumns> right, const Data& g, const Data& work, int gpu = -1);

}  // namespace tessera
