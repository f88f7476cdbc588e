// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_scalar.cuh>

/// Products and sums that the compiler does not contract to one operation: they have the bits that a CPU
/// without fused multiply-add gives them.
namespace tessera::device {

__device__ inline float times(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ inline double times(double a, double b) {
  return __dmul_rn(a, b);
}
__device__ inline float plus(float a, float b) {
  return __fadd_rn(a, b);
}
__device__ inline double plus(double a, double b) {
  return __dadd_rn(a, b);
}
template <class R>
__device__ Complex<R> times(Complex<R> a, Complex<R> b) {
  return {plus(times(a.re, b.re), -times(a.im, b.im)), plus(times(a.re, b.im), times(a.im, b.re))};
}
template <class R>
__device__ Complex<R> plus(Complex<R> a, Complex<R> b) {
  return {plus(a.re, b.re), plus(a.im, b.im)};
}

}  // namespace tessera::device
