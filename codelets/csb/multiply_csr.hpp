// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/runtime/sequence.hpp>

/// Codelet multiply_csr: one piece A_IJ of a matrix whose entries are all stored, by rows (CSR), times a
/// block of row-major vectors:
///   Y_I += A_IJ X_J.
///
/// Arguments: rows and entries of the piece; columns 1 <= m <= 32 that take part; overwrite: Y_I is
/// overwritten, not
///            added to, and its columns m, ..., width - 1 become zero.
/// Buffers:   piece (read; bytes: csr_piece_sizes), X_J (read; width x columns of the piece), Y_I (read-write
/// or write;
///            width x rows). Columns m, ..., width - 1 of what is added to are left alone.
/// Flops:     2 m an entry.
/// Cost:      that of its bytes. CPUs only.
/// Order:     rows ascending, entries as they are stored: the same bits in every run.
namespace tessera {

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
/// Level by cpu_level().
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

template <class V, class T>
void insert_multiply_csr(Sequence& sequence, int priority, const CsrPieceShape& shape, int columns,
                         bool overwrite, const Data& piece, const Data& x, const Data& y);

}  // namespace tessera
