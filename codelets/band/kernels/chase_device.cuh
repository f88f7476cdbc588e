// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase_launch.cuh>
#include <tessera/codelets/common/device_reflector.cuh>

/// The parts of the chase's kernels: messages between thread blocks, reflectors, storage of the elements.
namespace tessera::detail::kernels {
namespace {

using device::Complex;
using device::conj;
using device::exchange;
using device::from_lane;
using device::fused;
using device::imag;
using device::larger;
using device::norm;
using device::real;
using device::Real;
using device::Reflector;
using device::reflector_of;
using device::warp_sum;
using device::warp_sums;

// ---- numbers with tags ------------------------------------------------------------------------------------

/// Words of a scalar in a message. The tag follows each of its words, so that a receiver never mixes the
/// halves of a number with older ones, whatever the width of memory transactions (at least 8 bytes).
template <class S>
constexpr int mail_words = 2 * static_cast<int>(sizeof(S) / 4);

__device__ inline void send(unsigned* to, float x, unsigned tag) {
  asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(__float_as_uint(x)), "r"(tag)
               : "memory");
}
__device__ inline void send(unsigned* to, double x, unsigned tag) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to), "r"(__double2loint(x)),
               "r"(tag), "r"(__double2hiint(x))
               : "memory");
}
template <class R>
__device__ inline void send(unsigned* to, Complex<R> x, unsigned tag) {
  send(to, x.re, tag);
  send(to + mail_words<R>, x.im, tag);
}
__device__ inline void receive(const unsigned* from, float& x, unsigned tag) {
  unsigned value, seen;
  do {
    asm volatile("ld.volatile.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(value), "=r"(seen)
                 : "l"(from)
                 : "memory");
  } while (seen != tag);
  x = __uint_as_float(value);
}
__device__ inline void receive(const unsigned* from, double& x, unsigned tag) {
  unsigned low, high, seen, also;
  do {
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(seen), "=r"(high), "=r"(also)
                 : "l"(from)
                 : "memory");
  } while (seen != tag || also != tag);
  x = __hiloint2double(static_cast<int>(high), static_cast<int>(low));
}
template <class R>
__device__ inline void receive(const unsigned* from, Complex<R>& x, unsigned tag) {
  receive(from, x.re, tag);
  receive(from + mail_words<R>, x.im, tag);
}

__device__ inline void wait_for_steps(const int* progress, int steps) {
  int done;
  do {
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(done) : "l"(progress) : "memory");
  } while (done < steps);
}
__device__ inline void announce_steps(int* progress, int steps) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(progress), "r"(steps) : "memory");
}

// ---- memory without the first-level cache, which is not coherent ------------------------------------------

__device__ inline float load(const float* p) {
  return __ldcg(p);
}
__device__ inline double load(const double* p) {
  return __ldcg(p);
}
__device__ inline Complex<float> load(const Complex<float>* p) {
  const float2 x = __ldcg(reinterpret_cast<const float2*>(p));
  return {x.x, x.y};
}
__device__ inline Complex<double> load(const Complex<double>* p) {
  const double2 x = __ldcg(reinterpret_cast<const double2*>(p));
  return {x.x, x.y};
}
__device__ inline void store(float* p, float x) {
  __stcg(p, x);
}
__device__ inline void store(double* p, double x) {
  __stcg(p, x);
}
__device__ inline void store(Complex<float>* p, Complex<float> x) {
  __stcg(reinterpret_cast<float2*>(p), make_float2(x.re, x.im));
}
__device__ inline void store(Complex<double>* p, Complex<double> x) {
  __stcg(reinterpret_cast<double2*>(p), make_double2(x.re, x.im));
}

// ---- products whose last bit does not depend on the compiler ------------------------------------------------

/// v_i conj(w_j) + w_i conj(v_j). Without fused operations, in an order that gives the conjugate's bits if i and j
/// change places: D stays Hermitian to the last bit, and does not depend on the triangle that the band stores.
__device__ inline float rank_two(float v_i, float w_i, float v_j, float w_j) {
  return __fadd_rn(__fmul_rn(v_i, w_j), __fmul_rn(w_i, v_j));
}
__device__ inline double rank_two(double v_i, double w_i, double v_j, double w_j) {
  return __dadd_rn(__dmul_rn(v_i, w_j), __dmul_rn(w_i, v_j));
}
template <class R>
__device__ Complex<R> rank_two(Complex<R> v_i, Complex<R> w_i, Complex<R> v_j, Complex<R> w_j) {
  return {rank_two(v_i.re, w_i.re, v_j.re, w_j.re) + rank_two(v_i.im, w_i.im, v_j.im, w_j.im),
          rank_two(v_i.im, -w_i.re, v_j.im, w_j.re) + rank_two(w_i.im, -v_i.re, w_j.im, v_j.re)};
}

// ---- reflectors -------------------------------------------------------------------------------------------

/// LAPACK's larfg for x (b numbers in shared memory, of which number `first` is the first; tail is the sum of
/// squares of the others), by all threads of the block. If squares over- or underflow, x is scaled.
template <class S>
__device__ Reflector<S> generate(S* x, Real<S> tail, int b, int first = 0) {
  using R = Real<S>;
  constexpr R tiny = sizeof(R) == 4 ? R(1e-26) : R(1e-270), huge = sizeof(R) == 4 ? R(1e34) : R(1e300);
  S head = x[first];
  R scale = R(1);
  const R total = tail + norm(head);
  if (!(total > tiny && total < huge)) {
    scale = R(0);
    for (int i = 0; i < b; ++i) scale = larger(imag(x[i]), larger(real(x[i]), scale));
    __syncthreads();
    if (scale > R(0))
      for (int i = threadIdx.x; i < b; i += blockDim.x) x[i] = x[i] / scale;
    __syncthreads();
    head = x[first];
    tail = R(0);
    for (int i = 0; i < b; ++i)
      if (i != first) tail += norm(x[i]);
  }
  return reflector_of(head, tail, scale);
}

// ---- a thread's elements of D and B -----------------------------------------------------------------------

/// A thread's elements of D or B (number (k, c): row lane + 32 k, column warp + W c).
template <class S, int K, int C, Keep keep>
struct Part;
template <class S, int K, int C>
struct Part<S, K, C, Keep::registers> {
  S value[K][C];
  __device__ S get(int k, int c) const { return value[k][c]; }
  __device__ void set(int k, int c, S x) { value[k][c] = x; }
};
template <class S, int K, int C>
struct Part<S, K, C, Keep::shared> {
  S* value;
  __device__ S get(int k, int c) const { return value[(k * C + c) * static_cast<int>(blockDim.x)]; }
  __device__ void set(int k, int c, S x) { value[(k * C + c) * static_cast<int>(blockDim.x)] = x; }
};
/// In the band itself, for elements that exist; the column that is sent is not written.
template <class S, int K, int C>
struct Part<S, K, C, Keep::global> {
  S* corner;  ///< address of the thread's element (0, 0), which may lie outside of the band
  Index down, right;
  unsigned readable[C], writable[C];
  __device__ S get(int k, int c) const {
    return readable[c] >> k & 1 ? load(corner + k * down + c * right) : S(Real<S>(0));
  }
  __device__ void set(int k, int c, S x) {
    if (writable[c] >> k & 1) store(corner + k * down + c * right, x);
  }
};

}  // namespace
}  // namespace tessera::detail::kernels
