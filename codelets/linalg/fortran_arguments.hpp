// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <tessera/types.hpp>

/// Arguments of Fortran routines for blas.cpp and lapack.cpp. These declare the Fortran symbols once for each
/// scalar type, so that no vendor's C header is needed. Character arguments have hidden lengths in the
/// Fortran ABI; for one-letter options every implementation in use ignores them, and the C interfaces of
/// those libraries rely on that as well.
namespace tessera::detail::blas {

using C = std::complex<float>;
using Z = std::complex<double>;
inline int i32(Index value) noexcept {
  return static_cast<int>(value);
}
template <class E>
inline char letter(E option) noexcept {
  return static_cast<char>(option);
}
/// Real routines know 'T' where complex ones know 'C'.
template <class T>
inline char adjoint_letter(Op op) noexcept {
  return !is_complex<T> && op == Op::adjoint ? 'T' : letter(op);
}

}  // namespace tessera::detail::blas
