// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <tessera/codelets/common/device_shared.cuh>

/// The GPU instructions of the kernel in apply_chase.cuh.
namespace tessera::detail::kernels::apply_chase_detail {

template <class S>
struct PairOf;
template <>
struct PairOf<float> {
  using type = float2;
};
template <>
struct PairOf<double> {
  using type = double2;
};
template <class S>
using Pair = typename PairOf<S>::type;

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
using device::barrier_arrive, device::barrier_init, device::barrier_wait, device::barriers_ready,
    device::thread_copy;

/// Copies from global to shared memory; the barrier completes when all bytes have arrived.
__device__ inline void bulk_copy(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ inline void thread_copy_wait() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

/// A result of M columns x 8 rows as the first operand of a product that sums over the rows: a thread's rows
/// 2 t and 2 t + 1 become the summation indices t and t + 4 of the instruction.
template <int M>
struct Operand;
template <>
struct Operand<16> {
  double a[4];
  /// Swaps the middle ones. `zero` is 0, but the compiler must not know that, because it would then move the
  /// registers for every product.
  __device__ Operand(const double (&c)[4], int zero)
      : a{moved(c[0], zero), moved(c[2], zero), moved(c[1], zero), moved(c[3], zero)} {}
  __device__ static double moved(double x, int zero) {
    return __hiloint2double(__double2hiint(x) ^ zero, __double2loint(x) ^ zero);
  }
};
template <>
struct Operand<8> {
  double a[2];
  __device__ Operand(const double (&c)[2], int) : a{c[0], c[1]} {}
};

/// c += a b: b is a tile of 8 x 8 numbers, two of each thread.
__device__ inline void multiply_add(double (&c)[4], const Operand<16>& a, double2 b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a.a[0]), "d"(a.a[1]), "d"(a.a[2]), "d"(a.a[3]), "d"(b.x), "d"(b.y));
}
__device__ inline void multiply_add(double (&c)[2], const Operand<8>& a, double2 b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a.a[0]), "d"(b.x));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a.a[1]), "d"(b.y));
}

/// 16 columns x 16 rows of a result, two tiles, as the first operand of a product of halves that sums over the rows;
/// split: the sum of `high` and `low`. Here the instruction's layouts of results and operands agree.
struct SplitOperand {
  unsigned high[4], low[4];

  __device__ SplitOperand(const float (&upper)[4], const float (&lower)[4], float scale) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      split(upper[2 * i] * scale, upper[2 * i + 1] * scale, high[i], low[i]);
      split(lower[2 * i] * scale, lower[2 * i + 1] * scale, high[i + 2], low[i + 2]);
    }
  }
  __device__ static void split(float x, float y, unsigned& high, unsigned& low) {
    const __half2 rounded = __floats2half2_rn(x, y);
    const float2 back = __half22float2(rounded);
    const __half2 rest = __floats2half2_rn(x - back.x, y - back.y);
    high = *reinterpret_cast<const unsigned*>(&rounded), low = *reinterpret_cast<const unsigned*>(&rest);
  }
};

/// c += a b: b is a tile of 16 x 8 halves.
__device__ inline void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Loads past the first-level cache, in program order, because another multiprocessor may have written.
__device__ inline double load_fresh(const double* p) {
  double x;
  asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(x) : "l"(p) : "memory");
  return x;
}
__device__ inline double load_fresh(const float* p) {
  float x;
  asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(p) : "memory");
  return x;
}
__device__ inline double2 load_fresh_pair(const double* p) {
  double2 x;
  asm volatile("ld.global.cg.v2.f64 {%0, %1}, [%2];" : "=d"(x.x), "=d"(x.y) : "l"(p) : "memory");
  return x;
}
__device__ inline float2 load_fresh_pair(const float* p) {
  float2 x;
  asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "l"(p) : "memory");
  return x;
}

__device__ inline unsigned load_acquire(const unsigned* flag) {
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ inline void store_release(unsigned* flag, unsigned value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

}  // namespace tessera::detail::kernels::apply_chase_detail
