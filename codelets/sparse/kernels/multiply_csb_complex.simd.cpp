// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of multiply_csb for complex numbers, for one instruction set level (see dispatch.hpp).
#include <complex>

#include <tessera/codelets/sparse/kernels/complex_registers.inl>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

/// As real numbers, with real strides.
template <class R>
struct ComplexVectors {
  const R* x_columns;
  std::int64_t ldx_columns;
  const R* x_rows;
  std::int64_t ldx_rows;
  R* y_rows;
  std::int64_t ldy_rows;
  R* y_columns;
  std::int64_t ldy_columns;
};

/// One cell: sum += a (a row of X_J), and that row of Y_J += conj(a) x, for a row's run of entries. On the diagonal
/// the entry with row = column counts once, and no other entry of the run touches the row itself.
template <bool on_diagonal, int columns, class Part, class R>
TESSERA_ALWAYS_INLINE void multiply_complex_cell(std::uint32_t entries, const Part* values,
                                                 const std::uint16_t* rows, const std::uint16_t* cols,
                                                 const ComplexVectors<R>& v) noexcept {
  constexpr std::uint32_t values_ahead = 128;  // entries, that are read once and not fetched early enough
  for (std::uint32_t e = 0; e < entries;) {
    const std::uint16_t row = rows[e];
    const auto x = ComplexRow<R, columns>::load(v.x_rows + row * v.ldx_rows), x_i = times_i<R, columns>(x);
    auto sum = ComplexSums<R, columns>::zeros();
    for (; e < entries && rows[e] == row; ++e) {
      __builtin_prefetch(values + 2 * (e + values_ahead));
      const R re = static_cast<R>(values[2 * e]), im = static_cast<R>(values[2 * e + 1]);
      const std::int64_t column = cols[e];
      sum.add(re, im, v.x_columns + column * v.ldx_columns);
      if (!on_diagonal || column != row) x.add_to(re, x_i, -im, v.y_columns + column * v.ldy_columns);
    }
    sum.add_to(v.y_rows + row * v.ldy_rows);
  }
}

template <int columns, class Part, class R>
void multiply_complex(const CsbPieceView<std::complex<Part>>& piece, const ComplexVectors<R>& v) noexcept {
  for (std::int64_t b = 0; b < piece.cell_count; ++b) {
    const CsbCell& cell = piece.cells[b];
    const Part* const values = reinterpret_cast<const Part*>(piece.values + cell.first_entry);
    const std::uint16_t *const rows = piece.rows + cell.first_entry, *const cols =
                                                                         piece.columns + cell.first_entry;
    const std::int64_t row = cell.first_row, column = cell.first_column;
    const ComplexVectors<R> here{v.x_columns + column * v.ldx_columns, v.ldx_columns,
                                 v.x_rows + row * v.ldx_rows,          v.ldx_rows,
                                 v.y_rows + row * v.ldy_rows,          v.ldy_rows,
                                 v.y_columns + column * v.ldy_columns, v.ldy_columns};
    if (piece.on_diagonal && row == column)
      multiply_complex_cell<true, columns>(cell.entries, values, rows, cols, here);
    else
      multiply_complex_cell<false, columns>(cell.entries, values, rows, cols, here);
  }
}

template <class Part, class R>
void multiply_complex_columns(int columns, const CsbPieceView<std::complex<Part>>& piece,
                              const ComplexVectors<R>& v) noexcept {
#define TESSERA_CALL(COLUMNS) return multiply_complex<COLUMNS>(piece, v);
  TESSERA_FOR_COMPLEX_COLUMNS(columns, TESSERA_CALL)
#undef TESSERA_CALL
}

}  // namespace

template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept {
  using R = typename T::value_type;
  for (int first = 0; first < columns; first += most_complex_columns) {
    const int here = columns - first < most_complex_columns ? columns - first : most_complex_columns;
    const ComplexVectors<R> v{reinterpret_cast<const R*>(x_columns + first), 2 * ldx_columns,
                              reinterpret_cast<const R*>(x_rows + first),    2 * ldx_rows,
                              reinterpret_cast<R*>(y_rows + first),          2 * ldy_rows,
                              reinterpret_cast<R*>(y_columns + first),       2 * ldy_columns};
    multiply_complex_columns(here, piece, v);
  }
}

#define TESSERA_INSTANTIATE(V, T)                                                                 \
  template void multiply_csb<V, T>(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, \
                                   std::int64_t, T*, std::int64_t, T*, std::int64_t) noexcept;
TESSERA_INSTANTIATE(std::complex<double>, std::complex<double>)
TESSERA_INSTANTIATE(std::complex<float>, std::complex<double>)
TESSERA_INSTANTIATE(std::complex<float>, std::complex<float>)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
