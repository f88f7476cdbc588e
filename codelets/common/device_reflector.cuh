// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_warp.cuh>

/// Householder reflectors as LAPACK's larfg makes them.
namespace tessera::detail::device {

/// a b + c in fused operations: the compiler shall not choose them, and so the last bit, anew in each branch.
__device__ inline float fused(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
__device__ inline double fused(double a, double b, double c) {
  return __fma_rn(a, b, c);
}
template <class R>
__device__ Complex<R> fused(Complex<R> a, Complex<R> b, Complex<R> c) {
  return {fused(a.re, b.re, fused(-a.im, b.im, c.re)), fused(a.re, b.im, fused(a.im, b.re, c.im))};
}

/// H = I - tau v v^H with v(0) = 1 and v = x inverse behind it; H^H x = beta e_0.
template <class S>
struct Reflector {
  S tau, inverse;
  Real<S> beta;
};

__device__ inline float larger(float x, float scale) {
  return fabsf(x) > scale ? fabsf(x) : scale;
}
__device__ inline double larger(double x, double scale) {
  return fabs(x) > scale ? fabs(x) : scale;
}

/// Square root and its reciprocal, and reciprocal, to about a unit in the last place, of numbers far from the ends of
/// the range: in double precision without the branches of exact roots and divisions.
__device__ inline void square_root(float x, float& root, float& reciprocal) {
  root = sqrtf(x);
  reciprocal = 1.f / root;
}
__device__ inline void square_root(double x, double& root, double& reciprocal) {
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  for (int step = 0; step < 2; ++step) y = fma(y, fma(-0.5 * x * y, y, 0.5), y);
  root = x * y;
  root = fma(fma(-root, root, x), 0.5 * y, root);
  reciprocal = y;
}
__device__ inline float reciprocal_of(float x) {
  return 1.f / x;
}
__device__ inline double reciprocal_of(double x) {
  return fast_reciprocal(x);
}

/// LAPACK's larfg of a column that was divided by `scale` (0: all of it is zero), from its first number and the sum of
/// squares of the others.
template <class S>
__device__ Reflector<S> reflector_of(S head, Real<S> tail, Real<S> scale) {
  using R = Real<S>;
  const R re = real(head), im = imag(head);
  if (tail == R(0) && (im == R(0) || scale == R(0))) return {S(R(0)), S(R(0)), re * scale};
  R length, inverse_length;
  square_root(norm(head) + tail, length, inverse_length);
  const R beta = re > R(0) ? -length : length, inverse_beta = re > R(0) ? -inverse_length : inverse_length,
          d = re - beta;
  if constexpr (is_complex_scalar<S>) {
    const R inverse = reciprocal_of(d * d + im * im);
    return {S(R(1) - re * inverse_beta, -im * inverse_beta), S(d * inverse, -im * inverse), beta * scale};
  } else {
    return {R(1) - re * inverse_beta, reciprocal_of(d), beta * scale};
  }
}

}  // namespace tessera::detail::device
