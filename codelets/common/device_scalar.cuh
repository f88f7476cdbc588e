// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>

#include <tessera/types.hpp>

/// Scalars in device code: float, double, and a complex type with the layout of std::complex whose product is
/// four multiplications (no repair of infinities). Kernels are templates over DeviceScalar<T>; `device_cast`
/// changes pointers.
namespace tessera::detail::device {

template <class R>
struct Complex {
  R re, im;
  Complex() = default;
  __host__ __device__ constexpr Complex(R real, R imaginary = R(0)) : re(real), im(imaginary) {}
  __host__ __device__ Complex& operator+=(Complex b) {
    re += b.re, im += b.im;
    return *this;
  }
  __host__ __device__ Complex& operator-=(Complex b) {
    re -= b.re, im -= b.im;
    return *this;
  }
  __host__ __device__ Complex& operator*=(Complex b) { return *this = *this * b; }
  friend __host__ __device__ Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend __host__ __device__ Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend __host__ __device__ Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend __host__ __device__ Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend __host__ __device__ Complex operator*(R a, Complex b) { return {a * b.re, a * b.im}; }
  friend __host__ __device__ Complex operator*(Complex a, R b) { return {a.re * b, a.im * b}; }
  friend __host__ __device__ Complex operator/(Complex a, R b) { return {a.re / b, a.im / b}; }
  friend __host__ __device__ bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
};

template <class T>
struct Scalar {
  using type = T;
};
template <class R>
struct Scalar<std::complex<R>> {
  using type = Complex<R>;
};
/// The device's type for the library's scalar type T.
template <class T>
using DeviceScalar = typename Scalar<T>::type;
template <class T>
DeviceScalar<T>* device_cast(T* x) noexcept {
  return reinterpret_cast<DeviceScalar<T>*>(x);
}
template <class T>
const DeviceScalar<T>* device_cast(const T* x) noexcept {
  return reinterpret_cast<const DeviceScalar<T>*>(x);
}

/// The value as the device's type.
template <class T>
DeviceScalar<T> device_scalar(T x) noexcept {
  if constexpr (tessera::is_complex<T>)
    return {x.real(), x.imag()};
  else
    return x;
}

template <class S>
struct RealPart {
  using type = S;
  static constexpr bool complex = false;
};
template <class R>
struct RealPart<Complex<R>> {
  using type = R;
  static constexpr bool complex = true;
};
template <class S>
using Real = typename RealPart<S>::type;
template <class S>
inline constexpr bool is_complex_scalar = RealPart<S>::complex;

template <class S>
__host__ __device__ inline S conj(S a) {
  if constexpr (is_complex_scalar<S>)
    return {a.re, -a.im};
  else
    return a;
}
template <class S>
__host__ __device__ inline Real<S> real(S a) {
  if constexpr (is_complex_scalar<S>)
    return a.re;
  else
    return a;
}
template <class S>
__host__ __device__ inline Real<S> imag(S a) {
  if constexpr (is_complex_scalar<S>)
    return a.im;
  else
    return Real<S>(0);
}
/// |a|^2
template <class S>
__host__ __device__ inline Real<S> norm(S a) {
  if constexpr (is_complex_scalar<S>)
    return a.re * a.re + a.im * a.im;
  else
    return a * a;
}
/// |Re a| + |Im a| is finite: also false for NaN.
template <class S>
__host__ __device__ inline bool finite(S a) {
  if constexpr (is_complex_scalar<S>)
    return isfinite(a.re) && isfinite(a.im);
  else
    return isfinite(a);
}

/// 1 / x to about one unit in the last place, for 1e-300 < |x| < 1e300, without a division's branches for
/// subnormal numbers.
__device__ inline double fast_reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(y, fma(-x, y, 1.0), y);
  return fma(y, fma(-x, y, 1.0), y);
}
__device__ inline Complex<double> fast_reciprocal(Complex<double> x) {
  const double scale = fast_reciprocal(norm(x));
  return {x.re * scale, -x.im * scale};
}

}  // namespace tessera::detail::device
