// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/krylov_basis.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int vector_threads = 1024, threads = 256;

/// h_k := v_k^H w for column k = blockIdx.x.
template <class S>
__global__ void __launch_bounds__(vector_threads)
    project_kernel(Index n, const S* v, Index ldv, const S* w, S* h) {
  __shared__ S parts[vector_threads / 32];
  v += Index(blockIdx.x) * ldv;
  S sum(0);
  for (Index i = threadIdx.x; i < n; i += vector_threads) sum += conj(v[i]) * w[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = warp_sum(parts[threadIdx.x]);
  if (threadIdx.x == 0) h[blockIdx.x] = sum;
}

/// w := w - V h; a thread takes a row.
template <class S>
__global__ void __launch_bounds__(threads)
    subtract_kernel(Index n, Index count, const S* v, Index ldv, const S* h, S* w) {
  const Index i = Index(blockIdx.x) * threads + threadIdx.x;
  if (i >= n) return;
  S sum(0);
#pragma unroll 8
  for (Index k = 0; k < count; ++k) sum += v[i + k * ldv] * h[k];
  w[i] = w[i] - sum;
}

/// One thread block.
template <class S>
__global__ void __launch_bounds__(vector_threads)
    end_step_kernel(Index n, const S* first_pass, const S* second_pass, S* next, double* coefficients) {
  __shared__ double parts[vector_threads / 32];
  __shared__ double norm;
  double square = 0;
  for (Index i = threadIdx.x; i < n; i += vector_threads) {
    const double re = real(next[i]), im = imag(next[i]);
    square += re * re + im * im;
  }
  square = warp_sum(square);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = square;
  __syncthreads();
  if (threadIdx.x < 32) {
    const double sum = warp_sum(parts[threadIdx.x]);
    if (threadIdx.x == 0) norm = sqrt(sum);
  }
  __syncthreads();
  const auto factor = Real<S>(norm > 0 ? 1 / norm : 0);
  for (Index i = threadIdx.x; i < n; i += vector_threads) next[i] = factor * next[i];
  if (threadIdx.x > 0) return;
  coefficients[0] = double(real(*first_pass)) + double(real(*second_pass));
  coefficients[1] = norm;
}

}  // namespace

template <class T>
void orthogonalise(const CudaContext& on, MatrixView<const T> v, MatrixView<T> w, T* h) {
  project_kernel<<<static_cast<unsigned>(v.cols), vector_threads, 0, on.stream>>>(
      v.rows, device_cast(v.data), v.ld, device_cast(static_cast<const T*>(w.data)), device_cast(h));
  subtract_kernel<<<blocks_for(v.rows, threads), threads, 0, on.stream>>>(
      v.rows, v.cols, device_cast(v.data), v.ld, device_cast(static_cast<const T*>(h)), device_cast(w.data));
}

template <class T>
void end_lanczos_step(const CudaContext& on, const T* first_pass, const T* second_pass, MatrixView<T> next,
                      double* coefficients) {
  end_step_kernel<<<1, vector_threads, 0, on.stream>>>(
      next.rows, device_cast(first_pass), device_cast(second_pass), device_cast(next.data), coefficients);
}

#define TESSERA_INSTANTIATE(T)                                                                \
  template void orthogonalise<T>(const CudaContext&, MatrixView<const T>, MatrixView<T>, T*); \
  template void end_lanczos_step<T>(const CudaContext&, const T*, const T*, MatrixView<T>, double*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
