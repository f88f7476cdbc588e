// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The scalars and the instructions that the kernel of stack_kernel.cuh is made of. No headers: also compiled
/// at run time.
namespace tessera::detail::kernels {

/// Complex numbers with the layout of std::complex.
template <class R>
struct alignas(2 * sizeof(R)) StackComplex {
  R re, im;
  StackComplex() = default;
  __device__ StackComplex(R real, R imaginary) : re(real), im(imaginary) {}
};

namespace stack_detail {

template <class T>
inline constexpr int planes = 1;
template <class R>
inline constexpr int planes<StackComplex<R>> = 2;

template <class T>
inline constexpr bool single_precision = false;
template <>
inline constexpr bool single_precision<float> = true;
template <>
inline constexpr bool single_precision<StackComplex<float>> = true;

/// A thread's part of C: stack_kernel.cuh, in single precision stack_float.cuh.
template <class T, int TilesM, int TilesN>
struct Sum;

/// An element as it is multiplied: in double precision here, in single precision in stack_float.cuh.
template <class T>
struct Fragment {
  double re = 0;
  Fragment() = default;
  explicit __device__ Fragment(T x) : re(x) {}
};
template <class R>
struct Fragment<StackComplex<R>> {
  double re = 0, im = 0;
  Fragment() = default;
  explicit __device__ Fragment(StackComplex<R> x) : re(x.re), im(x.im) {}
};

/// c += a b for a tile of 8 x 8 and four inner indices. A thread (row = lane / 4, column = lane % 4) gives
/// a(row, column) and b(column, row) and holds c(row, 2 column) and c(row, 2 column + 1).
__device__ inline void mma_8x8x4(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// Two tiles, one below the other.
__device__ inline void mma_16x8x4(double (&c)[2], double (&c2)[2], double a, double a2, double b) {
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c2[0]), "+d"(c2[1])
      : "d"(a), "d"(a2), "d"(b));
}
/// Two tiles, eight inner indices: first four of them, then the other four.
__device__ inline void mma_16x8x8(double (&c)[2], double (&c2)[2], double a, double a2, double next,
                                  double next2, double b, double next_b) {
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c2[0]), "+d"(c2[1])
      : "d"(a), "d"(a2), "d"(next), "d"(next2), "d"(b), "d"(next_b));
}
#else
__device__ inline void mma_16x8x4(double (&c)[2], double (&c2)[2], double a, double a2, double b) {
  mma_8x8x4(c, a, b), mma_8x8x4(c2, a2, b);
}
__device__ inline void mma_16x8x8(double (&c)[2], double (&c2)[2], double a, double a2, double next,
                                  double next2, double b, double next_b) {
  mma_16x8x4(c, c2, a, a2, b), mma_16x8x4(c, c2, next, next2, next_b);
}
#endif

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
/// x, of which the compiler is not to know how it came about: what is added to it stays a constant offset of
/// the instruction that uses it.
template <class T>
__device__ inline T* opaque(T* x) {
  asm("" : "+l"(x));
  return x;
}
__device__ inline unsigned opaque(unsigned x) {
  asm("" : "+r"(x));
  return x;
}

/// x is computed, or read, no later than here.
__device__ inline void needed(int x) {
  asm volatile("" ::"r"(x));
}

/// The pointer that thread `lane` of the warp has.
template <class T>
__device__ inline const T* shuffle(const T* mine, int lane) {
  return reinterpret_cast<const T*>(
      __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(mine), lane));
}

/// Reads global memory that nothing writes meanwhile.
__device__ inline float read_global(const float* at) {
  return __ldg(at);
}
__device__ inline StackComplex<float> read_global(const StackComplex<float>* at) {
  const float2 x = __ldg(reinterpret_cast<const float2*>(at));
  return {x.x, x.y};
}

/// Reads shared memory.
__device__ inline void read_shared(float& x, unsigned address) {
  asm volatile("ld.shared.b32 %0, [%1];" : "=f"(x) : "r"(address) : "memory");
}
__device__ inline void read_shared(StackComplex<float>& x, unsigned address) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=f"(x.re), "=f"(x.im) : "r"(address) : "memory");
}

/// Starts a copy of one element, or of 16 bytes, from global to shared memory. The first-level cache keeps it
/// for the other thread blocks of the multiprocessor: the second-level cache is the bound.
template <int Bytes>
__device__ inline void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
}
/// The copies started since the last commit are a group.
__device__ inline void copy_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until all but the last `Pending` groups of this thread have arrived.
template <int Pending>
__device__ inline void copy_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}
__device__ inline void prefetch(const void* at) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
}

/// Waits for the `Threads` threads of one of `Parts` groups.
template <int Threads, int Parts>
__device__ inline void synchronize(int part) {
  if constexpr (Threads == 32)
    __syncwarp();
  else if constexpr (Parts == 1)
    __syncthreads();
  else
    asm volatile("bar.sync %0, %1;" ::"r"(part + 1), "n"(Threads) : "memory");
}

}  // namespace stack_detail
}  // namespace tessera::detail::kernels
