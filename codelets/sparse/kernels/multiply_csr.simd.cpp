// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of multiply_csr for one instruction set level (see dispatch.hpp).
#include <tessera/codelets/sparse/kernels/row_registers.inl>
#include <tessera/codelets/sparse/multiply_csr.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

template <int columns, class V, class T>
void multiply(const CsrPieceView<V>& piece, const T* x, std::int64_t ldx, T* y, std::int64_t ldy) noexcept {
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    const std::uint32_t end = piece.begins[row + 1];
    std::uint32_t e = piece.begins[row];
    if (e == end) continue;
    Row<T, columns> sum = Row<T, columns>::load(y + row * ldy);
    for (; e < end; ++e)
      sum.add_from(static_cast<T>(piece.values[e]), x + std::int64_t(piece.columns[e]) * ldx);
    sum.store(y + row * ldy);
  }
}

}  // namespace

template <class V, class T>
void multiply_csr(const CsrPieceView<V>& piece, int columns, const T* x, std::int64_t ldx, T* y,
                  std::int64_t ldy) noexcept {
#define TESSERA_CALL(COLUMNS) return multiply<COLUMNS>(piece, x, ldx, y, ldy);
  TESSERA_FOR_COLUMNS(columns, TESSERA_CALL)
#undef TESSERA_CALL
}

#define TESSERA_INSTANTIATE(V, T)                                                           \
  template void multiply_csr<V, T>(const CsrPieceView<V>&, int, const T*, std::int64_t, T*, \
                                   std::int64_t) noexcept;
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
