// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

/// @file
/// Scalar types, index type and the small enumerations that every layer shares.
namespace tessera {

/// Rows, columns, counts: always 64 bits.
using Index = std::int64_t;

/// What a scalar type is.
template <class T>
struct ScalarTraits {
  using Real = T;                         ///< the type of its modulus
  static constexpr bool complex = false;  ///< it has an imaginary part
};
/// Of complex types.
template <class R>
struct ScalarTraits<std::complex<R>> {
  using Real = R;                        ///< the type of its modulus
  static constexpr bool complex = true;  ///< it has an imaginary part
};

/// float for float and complex<float>, double for double and complex<double>.
template <class T>
using RealOf = typename ScalarTraits<T>::Real;
/// T has an imaginary part.
template <class T>
inline constexpr bool is_complex = ScalarTraits<T>::complex;

/// The complex conjugate; of a real number the number itself.
template <class T>
constexpr T conjugate(T x) noexcept {
  if constexpr (is_complex<T>)
    return T(x.real(), -x.imag());
  else
    return x;
}
/// The real part, for real types, too.
template <class T>
constexpr RealOf<T> real_part(T x) noexcept {
  if constexpr (is_complex<T>)
    return x.real();
  else
    return x;
}
/// The imaginary part; 0 for real types.
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

/// What a matrix is before it is multiplied.
enum class Op : char {
  none = 'N',       ///< A
  transpose = 'T',  ///< A^T
  adjoint = 'C'     ///< A^H
};
/// Which part of a matrix counts.
enum class Uplo : char {
  lower = 'L',   ///< the lower triangle
  upper = 'U',   ///< the upper triangle
  general = 'A'  ///< all of it
};
/// From where a matrix is applied.
enum class Side : char {
  left = 'L',  ///< from the left
  right = 'R'  ///< from the right
};
/// What the diagonal of a triangular matrix is.
enum class Diag : char {
  non_unit = 'N',  ///< as stored
  unit = 'U'       ///< ones, whatever is stored
};

/// What half of a square matrix tells about the other. Other than `none`, only the blocks (i, j) with i >= j
/// are stored; diagonal blocks are stored whole.
enum class Symmetry : char {
  none = 'N',           ///< nothing
  symmetric = 'S',      ///< A^T = A
  antisymmetric = 'A',  ///< A^T = -A
  hermitian = 'H'       ///< A^H = A
};

/// What an element of one half gives for its mirror image.
template <class T>
constexpr T mirrored(Symmetry symmetry, T x) noexcept {
  return symmetry == Symmetry::antisymmetric ? -x : symmetry == Symmetry::hermitian ? conjugate(x) : x;
}

/// When the products of blocks that two panels have are computed as one product of dense matrices.
enum class UseDense : char {
  automatic,  ///< where it is expected to take less time
  never,      ///< not at all
  always      ///< wherever it gives the same products
};

/// Functions of single elements (function_of_elements).
enum class ElementFunction {
  inverse,          ///< 1 / x
  tanh,             ///< tanh x
  tanh_derivative,  ///< 1 - tanh^2 x
  artanh,           ///< artanh x
  sin,              ///< sin x
  cos,              ///< cos x
  asin,             ///< arcsin x
  square_root,      ///< the square root of x
  absolute,         ///< |x|
  truncate          ///< the nearest number of [-1, 1]; NaN stays
};

/// a / b, rounded up; a >= 0, b > 0.
constexpr Index ceil_div(Index a, Index b) noexcept {
  return (a + b - 1) / b;
}

}  // namespace tessera

/// Explicit instantiation for the four scalar types: TESSERA_FOR_SCALARS(MACRO) expands MACRO(type) four
/// times.
#define TESSERA_FOR_SCALARS(MACRO) \
  MACRO(float) MACRO(double) MACRO(std::complex<float>) MACRO(std::complex<double>)
/// The same for float and double.
#define TESSERA_FOR_REALS(MACRO) MACRO(float) MACRO(double)
