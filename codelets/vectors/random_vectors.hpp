// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/memory_cost.hpp>
#include <tessera/codelets/block_sparse/splitmix.hpp>
#include <tessera/codelets/vectors/column_range.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet random_vectors: columns first, ..., first + columns - 1 of a block of row-major vectors, of one
/// segment of rows, := random numbers of mean zero, about normally distributed, each of which depends on the
/// seed, its column and its row in the whole vector alone: not on segments, ranks or workers.
///
/// Arguments: seed, first_row (of the segment in the whole vector), first, columns; clear: the other columns
/// := 0. Buffers:   V (write with `clear`, else read-write; width x rows elements of T, column-major for
/// StarPU). Flops:     none counted. Cost:      that of its bytes. On CPUs and GPUs, with the same bits (sums
/// of integers).
namespace tessera {

struct RandomVectorsArguments {
  std::uint64_t seed = 0;
  std::int64_t first_row = 0;
  std::int32_t first = 0, columns = 0, clear = 0;
  static double seconds(WorkerKind kind, double bytes) { return memory_seconds(kind, bytes); }
};

/// Element (row, column): the sum of four uniform integers of 16 bits, brought to variance 4/3 (float has it
/// exactly).
TESSERA_HOST_DEVICE constexpr float random_vector_element(std::uint64_t seed, std::int64_t row,
                                                          std::int32_t column) noexcept {
  const std::uint64_t bits =
      splitmix(splitmix(seed, static_cast<std::uint64_t>(column)), static_cast<std::uint64_t>(row));
  const auto sum = static_cast<std::int32_t>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
                                             (bits >> 48));
  return static_cast<float>(sum - 131070) * (1.0f / 32768.0f);
}

namespace kernels {

template <class T>
void random_vectors(std::int64_t rows, std::int64_t width, const RandomVectorsArguments& arguments, T* v,
                    std::int64_t ld) noexcept;

}  // namespace kernels

/// `gpu`: see TaskOptions.
template <class T>
void insert_random_vectors(Sequence& sequence, int priority, const RandomVectorsArguments& arguments,
                           const Data& v, int gpu = -1);

}  // namespace tessera
