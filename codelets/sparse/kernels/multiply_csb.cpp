// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/sparse/csb_magnitudes.hpp>
#include <tessera/codelets/sparse/kernels/csb_kernels.hpp>

namespace tessera::kernels {

template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept {
#define TESSERA_CALL(LEVEL)                                                                             \
  LEVEL::multiply_csb<V, T>(piece, columns, x_columns, ldx_columns, x_rows, ldx_rows, y_rows, ldy_rows, \
                            y_columns, ldy_columns)
#if defined(__x86_64__)
  switch (cpu_level()) {
    case 4:
      return TESSERA_CALL(level4);
    case 3:
      return TESSERA_CALL(level3);
    default:
      break;
  }
#endif
  TESSERA_CALL(level2);
#undef TESSERA_CALL
}

template <class V>
void add_csb_magnitudes(const CsbPieceView<V>& piece, double* rows, double* columns) noexcept {
  for (std::int64_t b = 0; b < piece.block_count; ++b) {
    const CsbBlock& block = piece.blocks[b];
    for (std::int64_t e = block.first_entry; e < block.first_entry + block.entries; ++e) {
      const std::int64_t row = std::int64_t(block.first_row) + piece.rows[e],
                         column = std::int64_t(block.first_column) + piece.columns[e];
      const double value = piece.values[e], magnitude = value < 0 ? -value : value;
      if (rows) rows[row] += magnitude;
      if (columns && (!piece.on_diagonal || row != column)) columns[column] += magnitude;
    }
  }
}

#define TESSERA_INSTANTIATE(V, T)                                                                 \
  template void multiply_csb<V, T>(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, \
                                   std::int64_t, T*, std::int64_t, T*, std::int64_t) noexcept;
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)
template void add_csb_magnitudes<double>(const CsbPieceView<double>&, double*, double*) noexcept;
template void add_csb_magnitudes<float>(const CsbPieceView<float>&, double*, double*) noexcept;

}  // namespace tessera::kernels
