// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of multiply_csr for complex numbers, for one instruction set level (see dispatch.hpp).
#include <complex>

#include <tessera/codelets/sparse/kernels/complex_registers.inl>
#include <tessera/codelets/sparse/multiply_csr.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

template <int columns, class Part, class R>
void multiply_complex(const CsrPieceView<std::complex<Part>>& piece, const R* x, std::int64_t ldx, R* y,
                      std::int64_t ldy) noexcept {
  const Part* const values = reinterpret_cast<const Part*>(piece.values);
  for (std::int64_t row = 0; row < piece.rows; ++row) {
    const std::uint32_t begin = piece.begins[row], end = piece.begins[row + 1];
    if (begin == end) continue;
    auto sum = ComplexSums<R, columns>::zeros();
    for (std::int64_t e = begin; e < end; ++e)
      sum.add(static_cast<R>(values[2 * e]), static_cast<R>(values[2 * e + 1]),
              x + std::int64_t(piece.columns[e]) * ldx);
    sum.add_to(y + row * ldy);
  }
}

}  // namespace

template <class V, class T>
void multiply_csr(const CsrPieceView<V>& piece, int columns, const T* x, std::int64_t ldx, T* y,
                  std::int64_t ldy) noexcept {
  using R = typename T::value_type;
  for (int first = 0; first < columns; first += most_complex_columns) {
    const int here = columns - first < most_complex_columns ? columns - first : most_complex_columns;
    const R* const from = reinterpret_cast<const R*>(x + first);
    R* const to = reinterpret_cast<R*>(y + first);
#define TESSERA_CALL(COLUMNS)                                   \
  multiply_complex<COLUMNS>(piece, from, 2 * ldx, to, 2 * ldy); \
  break;
    TESSERA_FOR_COMPLEX_COLUMNS(here, TESSERA_CALL)
#undef TESSERA_CALL
  }
}

#define TESSERA_INSTANTIATE(V, T)                                                           \
  template void multiply_csr<V, T>(const CsrPieceView<V>&, int, const T*, std::int64_t, T*, \
                                   std::int64_t) noexcept;
TESSERA_INSTANTIATE(std::complex<double>, std::complex<double>)
TESSERA_INSTANTIATE(std::complex<float>, std::complex<double>)
TESSERA_INSTANTIATE(std::complex<float>, std::complex<float>)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
