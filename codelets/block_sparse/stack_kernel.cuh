// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/stack_entry.hpp>
#include <tessera/codelets/block_sparse/stack_plan.hpp>

namespace tessera::device {

template <class R>
struct StackComplex {
  R re, im;
  __device__ friend void add_product(StackComplex& c, StackComplex a, StackComplex b) {
    c.re += a.re * b.re - a.im * b.im;
    c.im += a.re * b.im + a.im * b.re;
  }
};
__device__ inline void add_product(float& c, float a, float b) {
  c += a * b;
}
__device__ inline void add_product(double& c, double a, double b) {
  c += a * b;
}
__device__ inline void add(float& c, float a) {
  c += a;
}
__device__ inline void add(double& c, double a) {
  c += a;
}
template <class R>
__device__ inline void add(StackComplex<R>& c, StackComplex<R> a) {
  c.re += a.re;
  c.im += a.im;
}

template <class T, int M, int N, int K>
__global__ void __launch_bounds__(128)
    multiply_stack_kernel(const StackRun* runs, int run_count, const StackEntry* entries, const T* a,
                          const T* b, T* c) {
  extern __shared__ double2 memory[];
  T* const left = reinterpret_cast<T*>(memory);
  T* const right = left + M * K;
  constexpr int each = (M * N + 127) / 128;
  const StackRun run = runs[blockIdx.x];
  T sum[each] = {};
  for (int e = run.first; e < run.first + run.count; ++e) {
    __syncthreads();
    for (int i = threadIdx.x; i < M * K; i += 128) left[i] = a[entries[e].a + i];
    for (int i = threadIdx.x; i < K * N; i += 128) right[i] = b[entries[e].b + i];
    __syncthreads();
#pragma unroll
    for (int q = 0; q < each; ++q) {
      const int i = threadIdx.x + q * 128;
      if (i < M * N)
        for (int l = 0; l < K; ++l) add_product(sum[q], left[i % M + l * M], right[l + i / M * K]);
    }
  }
#pragma unroll
  for (int q = 0; q < each; ++q) {
    const int i = threadIdx.x + q * 128;
    if (i < M * N) add(c[run.c + i], sum[q]);
  }
}

}  // namespace tessera::device
