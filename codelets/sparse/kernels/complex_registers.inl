// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A row of complex row-major vectors in the registers of one instruction set level, real and imaginary parts next to
// each other as in memory. Products with a complex number are two with its parts: sums of both are kept apart until the
// end of a row, so that no product shuffles registers.
#include <tessera/codelets/sparse/kernels/row_registers.inl>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

/// Columns that are multiplied at once: two sums, x and i x then fill the registers.
constexpr int most_complex_columns = 8;

/// CALL(columns) with a constant, for 1 to most_complex_columns columns.
#define TESSERA_FOR_COMPLEX_COLUMNS(COLUMNS, CALL) \
  switch (COLUMNS) {                               \
    TESSERA_CASES(CALL, 1)                         \
    TESSERA_CASES(CALL, 5)                         \
    default:                                       \
      break;                                       \
  }

template <class R, int columns>
using ComplexRow = Row<R, 2 * columns>;

/// i times a row.
template <class R, int columns>
TESSERA_ALWAYS_INLINE ComplexRow<R, columns> times_i(const ComplexRow<R, columns>& x) noexcept {
  R from[2 * columns], to[2 * columns];
  x.store(from);
  for (int j = 0; j < 2 * columns; j += 2) {
    to[j] = -from[j + 1];
    to[j + 1] = from[j];
  }
  return ComplexRow<R, columns>::load(to);
}

/// Sums of products a x: of Re a x, and of Im a x.
template <class R, int columns>
struct ComplexSums {
  ComplexRow<R, columns> real, imaginary;

  static TESSERA_ALWAYS_INLINE ComplexSums zeros() noexcept {
    constexpr R none[2 * columns] = {};
    return {ComplexRow<R, columns>::load(none), ComplexRow<R, columns>::load(none)};
  }
  /// += (re + i im) (the row at p).
  TESSERA_ALWAYS_INLINE void add(R re, R im, const R* p) noexcept {
    real.add_from(re, p);
    imaginary.add_from(im, p);
  }
  /// (The row at p) += the sum.
  TESSERA_ALWAYS_INLINE void add_to(R* p) const noexcept {
    real.add_to(R(1), times_i<R, columns>(imaginary), R(1), p);
  }
};

}  // namespace
}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
