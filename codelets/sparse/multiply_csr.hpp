// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/task.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// In memory: begins (32 bits; of each row and, last, the entries' number), values (V), columns (32 bits), at
/// multiples of 64 bytes.
struct CsrPieceSizes {
  std::int64_t values_offset, columns_offset, total;
};
constexpr CsrPieceSizes csr_piece_sizes(std::int64_t rows, std::int64_t entries,
                                        std::int64_t value_bytes) noexcept {
  const auto aligned = [](std::int64_t bytes) { return (bytes + 63) / 64 * 64; };
  CsrPieceSizes s{};
  s.values_offset = aligned((rows + 1) * 4);
  s.columns_offset = s.values_offset + aligned(entries * value_bytes);
  s.total = s.columns_offset + aligned(entries * 4);
  return s;
}

struct CsrPieceShape {
  std::int64_t rows = 0, entry_count = 0;
};

/// One piece A_IJ of a matrix whose entries are all stored, by rows (CSR), times a block of row-major
/// vectors:
///   Y_I += A_IJ X_J.                                                          [2 m an entry, m = columns]
/// | operand | mode         | shape                               | what |
/// |---------|--------------|-------------------------------------|------|
/// | piece   | read         | bytes: csr_piece_sizes              | A_IJ |
/// | x       | read         | block of vectors, rows: A's columns | X_J  |
/// | y       | write or add | block of vectors                    | Y_I  |
/// Columns m, ..., width - 1 of Y_I become zero if it is written, and are left alone if it is added to. Rows
/// ascend, entries are in the order of storage: the same bits in every run. Predicted by the bytes. CPUs
/// only.
template <class V, class T>
struct MultiplyCsr {
  static constexpr const char* name = std::is_same_v<V, T> ? "multiply_csr" : "multiply_csr_mixed";
  using Scalar = T;
  Read<Array<char>> piece;
  Read<Matrix<T>> x;
  WriteOrAdd<Matrix<T>> y;
  CsrPieceShape shape;
  int columns = 0;  ///< 1 to 32 that take part

  double flops() const noexcept {
    return 2.0 * flop_factor<T> * columns * static_cast<double>(shape.entry_count);
  }
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

namespace kernels {

template <class V>
struct CsrPieceView {
  std::int64_t rows;
  const std::uint32_t* begins;
  const V* values;
  const std::uint32_t* columns;
};

#define TESSERA_DECLARE_MULTIPLY_CSR                                                               \
  template <class V, class T>                                                                      \
  void multiply_csr(const CsrPieceView<V>& piece, int columns, const T* x, std::int64_t ldx, T* y, \
                    std::int64_t ldy) noexcept;
/// At the level of instructions that the processor has (cpu_level).
TESSERA_DECLARE_MULTIPLY_CSR
namespace level2 {
TESSERA_DECLARE_MULTIPLY_CSR
}
namespace level3 {
TESSERA_DECLARE_MULTIPLY_CSR
}
namespace level4 {
TESSERA_DECLARE_MULTIPLY_CSR
}
#undef TESSERA_DECLARE_MULTIPLY_CSR

}  // namespace kernels

}  // namespace tessera::detail
