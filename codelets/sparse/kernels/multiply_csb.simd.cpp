// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of multiply_csb for one instruction set level (see dispatch.hpp).
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/codelets/sparse/kernels/row_registers.inl>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

template <class T>
struct Vectors {
  const T* x_columns;
  std::int64_t ldx_columns;
  const T* x_rows;
  std::int64_t ldx_rows;
  T* y_rows;
  std::int64_t ldy_rows;
  T* y_columns;
  std::int64_t ldy_columns;
};

/// sum += value (a row of X_J), and that row of Y_J += value x: the two sides of one entry. On the diagonal
/// the entry with row = column counts once.
template <bool on_diagonal, int columns, class V, class T>
TESSERA_ALWAYS_INLINE void add_entry(V stored, std::int64_t row, std::int64_t column,
                                     const Row<T, columns>& x, Row<T, columns>& sum, const T* x_columns,
                                     std::int64_t ldx, T* y_columns, std::int64_t ldy) noexcept {
  const T value = static_cast<T>(stored);
  sum.add_from(value, x_columns + column * ldx);
  if (!on_diagonal || column != row) x.add_to(value, y_columns + column * ldy);
}

/// Distance in entries at which values are prefetched. Each value is read once, and the processor alone does
/// not fetch it early enough.
constexpr std::uint32_t values_ahead = 128;

/// One cell, whose vectors begin with its first row and column. A row's sum stays in registers over its run
/// of entries: on the diagonal no entry of a run touches the row itself but the one with row = column.
/// The loop takes pairs of entries, so that a pair needs one test for the end of the run, which is often
/// mispredicted.
template <bool on_diagonal, int columns, bool packed, class V, class T>
TESSERA_ALWAYS_INLINE void multiply_cell(std::uint32_t entries, const V* values, const std::uint16_t* rows,
                                         const std::uint16_t* cols, const Vectors<T>& v) noexcept {
  const std::int64_t ldx = packed ? columns : v.ldx_columns, ldy = packed ? columns : v.ldy_columns;
  for (std::uint32_t e = 0; e < entries;) {
    const std::uint16_t row = rows[e];
    T* const y = v.y_rows + row * v.ldy_rows;
    const Row<T, columns> x = Row<T, columns>::load(v.x_rows + row * v.ldx_rows);
    Row<T, columns> sum = Row<T, columns>::load(y);
    for (; e + 1 < entries && rows[e + 1] == row; e += 2) {
      __builtin_prefetch(values + e + values_ahead);
      add_entry<on_diagonal>(values[e], row, cols[e], x, sum, v.x_columns, ldx, v.y_columns, ldy);
      add_entry<on_diagonal>(values[e + 1], row, cols[e + 1], x, sum, v.x_columns, ldx, v.y_columns, ldy);
    }
    if (e < entries && rows[e] == row) {
      add_entry<on_diagonal>(values[e], row, cols[e], x, sum, v.x_columns, ldx, v.y_columns, ldy);
      ++e;
    }
    sum.store(y);
  }
}

template <int columns, bool packed, class V, class T>
void multiply(const CsbPieceView<V>& piece, const Vectors<T>& v) noexcept {
  for (std::int64_t b = 0; b < piece.cell_count; ++b) {
    const CsbCell& cell = piece.cells[b];
    const V* const values = piece.values + cell.first_entry;
    const std::uint16_t *const rows = piece.rows + cell.first_entry, *const cols =
                                                                         piece.columns + cell.first_entry;
    const std::int64_t row = cell.first_row, column = cell.first_column;
    const Vectors<T> here{v.x_columns + column * v.ldx_columns, v.ldx_columns,
                          v.x_rows + row * v.ldx_rows,          v.ldx_rows,
                          v.y_rows + row * v.ldy_rows,          v.ldy_rows,
                          v.y_columns + column * v.ldy_columns, v.ldy_columns};
    if (piece.on_diagonal && row == column)
      multiply_cell<true, columns, packed>(cell.entries, values, rows, cols, here);
    else
      multiply_cell<false, columns, packed>(cell.entries, values, rows, cols, here);
  }
}

/// If all columns take part and their number is a power of two, shifts give the addresses of the rows.
template <int columns, class V, class T>
void choose_packed(const CsbPieceView<V>& piece, const Vectors<T>& v) noexcept {
  if constexpr ((columns & (columns - 1)) == 0)
    if (v.ldx_columns == columns && v.ldy_columns == columns) return multiply<columns, true>(piece, v);
  multiply<columns, false>(piece, v);
}

}  // namespace

template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept {
  const Vectors<T> v{x_columns, ldx_columns, x_rows, ldx_rows, y_rows, ldy_rows, y_columns, ldy_columns};
#define TESSERA_CALL(COLUMNS) return choose_packed<COLUMNS>(piece, v);
  TESSERA_FOR_COLUMNS(columns, TESSERA_CALL)
#undef TESSERA_CALL
}

#define TESSERA_INSTANTIATE(V, T)                                                                 \
  template void multiply_csb<V, T>(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, \
                                   std::int64_t, T*, std::int64_t, T*, std::int64_t) noexcept;
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
