// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

inline constexpr int sum_vectors_inputs = 7;

/// Sums of segments of blocks of row-major vectors, from left to right:
///   y := y + z_0 + z_1 + ... + z_{k-1}, without y where the task is the first to write it.   [k an element]
/// | operand | mode         | shape             | what                                                  |
/// |---------|--------------|-------------------|-------------------------------------------------------|
/// | y       | write or add | block of vectors  | other columns become zero if it is written, else stay |
/// | z       | read         | blocks of vectors | k of them, 0 <= k <= sum_vectors_inputs               |
/// Predicted by the bytes.
template <class T>
struct SumVectors {
  static constexpr const char* name = "sum_vectors";
  WriteOrAdd<Matrix<T>> y;
  std::array<Read<Matrix<T>>, sum_vectors_inputs> z{};
  int columns = 0;  ///< that are summed
  Index rows = 0;   ///< of y and the inputs

  int inputs() const noexcept {
    return static_cast<int>(std::count_if(z.begin(), z.end(), [](const auto& term) { return bool(term); }));
  }
  double flops() const noexcept { return static_cast<double>(rows) * reals_of<T> * columns * inputs(); }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// Inserts one task for up to sum_vectors_inputs inputs, several tasks for more. Without inputs, y := 0 or y
/// stays.
template <class T>
void insert_sum_vectors(Sequence& sequence, SumVectors<T> task, std::span<const Data* const> inputs,
                        const TaskOptions& options = {});

namespace kernels {

template <class T>
void sum_vectors(std::int64_t rows, int columns, int width, Store store, int inputs, const T* const* z,
                 const std::int64_t* ldz, T* y, std::int64_t ldy) noexcept;

}  // namespace kernels

}  // namespace tessera::detail
