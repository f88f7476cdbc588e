// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/task.hpp>

namespace tessera::detail {

/// Columns first, ..., first + columns - 1 of a block of row-major vectors, of one segment of rows, := random
/// numbers (both parts of complex ones) of mean zero, about normally distributed, each of which depends on the
/// seed, its column and its row in the whole vector alone: not on segments, ranks or workers. On CPUs and GPUs
/// the same bits (sums of integers). No flops counted; predicted by the bytes.
/// | operand | mode         | shape            | what                                                  |
/// |---------|--------------|------------------|-------------------------------------------------------|
/// | v       | write or add | block of vectors | other columns become zero if it is written, else stay |
template <class T>
struct RandomVectors {
  static constexpr const char* name = "random_vectors";
  static constexpr bool gpu_instead_of_cpu = true;
  WriteOrAdd<Matrix<T>> v;
  std::uint64_t seed = 0;
  std::int64_t first_row = 0;  ///< of the segment in the whole vector
  std::int32_t first = 0, columns = 0;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Element (row, real column): the sum of four uniform integers of 16 bits, brought to variance 4/3 (float has it
/// exactly).
TESSERA_HOST_DEVICE constexpr float random_vector_element(std::uint64_t seed, std::int64_t row,
                                                          std::int32_t column) noexcept {
  const std::uint64_t bits =
      splitmix(splitmix(seed, static_cast<std::uint64_t>(column)), static_cast<std::uint64_t>(row));
  const auto sum = static_cast<std::int32_t>((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) +
                                             (bits >> 48));
  return static_cast<float>(sum - 131070) * (1.0f / 32768.0f);
}

}  // namespace tessera::detail
