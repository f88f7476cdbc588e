// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

/// Scalar types, index type and the small enumerations that every layer shares.
namespace tessera {

/// Rows, columns, counts: always 64 bits.
using Index = std::int64_t;

template <class T>
struct ScalarTraits {
  using Real = T;
  static constexpr bool complex = false;
};
template <class R>
struct ScalarTraits<std::complex<R>> {
  using Real = R;
  static constexpr bool complex = true;
};

/// float for float and complex<float>, double for double and complex<double>.
template <class T>
using RealOf = typename ScalarTraits<T>::Real;
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::complex;

template <class T>
constexpr T conjugate(T x) noexcept {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}
template <class T>
constexpr RealOf<T> real_part(T x) noexcept {
  if constexpr (is_complex<T>)
    return x.real();
  else
    return x;
}
template <class T>
constexpr RealOf<T> imag_part(T x) noexcept {
  if constexpr (is_complex<T>)
    return x.imag();
  else
    return RealOf<T>(0);
}

/// LAPACK's dlamch('P'): the spacing of floating-point numbers at 1 (2^-52 in double).
template <class T>
inline constexpr RealOf<T> precision = std::numeric_limits<RealOf<T>>::epsilon();

/// One letter of the LAPACK naming scheme: s, d, c or z.
template <class T>
inline constexpr char type_letter = is_complex<T> ? (sizeof(RealOf<T>) == 4 ? 'c' : 'z')
                                                  : (sizeof(RealOf<T>) == 4 ? 's' : 'd');

/// A complex multiply-add counts as four real ones.
template <class T>
inline constexpr double flop_factor = is_complex<T> ? 4.0 : 1.0;

enum class Op : char { none = 'N', transpose = 'T', adjoint = 'C' };
enum class Uplo : char { lower = 'L', upper = 'U', general = 'A' };
enum class Side : char { left = 'L', right = 'R' };
enum class Diag : char { non_unit = 'N', unit = 'U' };

constexpr Index ceil_div(Index a, Index b) noexcept {
  return (a + b - 1) / b;
}

}  // namespace tessera

/// Explicit instantiation for the four scalar types: TESSERA_FOR_SCALARS(MACRO) expands MACRO(type) four
/// times.
#define TESSERA_FOR_SCALARS(MACRO) \
  MACRO(float) MACRO(double) MACRO(std::complex<float>) MACRO(std::complex<double>)
#define TESSERA_FOR_REALS(MACRO) MACRO(float) MACRO(double)
