// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_parts.cuh>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail::kernels::batch {

namespace {

constexpr int width = back_width;

/// The triangular factor of each block of reflectors: H_first H_first+1 ... = I - V T V^H. One thread block
/// for a block of reflectors of a matrix; T is width x width, column-major, zero below the diagonal.
/// Source: LAPACK larft.
template <class S>
__global__ void __launch_bounds__(256)
    factors_kernel(int n, const S* v, Index ldv, Index stride_v, const S* tau, S* factors) {
  __shared__ S rows[width][width + 1], gram[width][width + 1];
  const Index matrix = blockIdx.y;
  const int first = static_cast<int>(blockIdx.x) * width, columns = min(width, n - 1 - first);
  const S* const block = v + matrix * stride_v + first * ldv;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  S sum[4];
  for (S& x : sum) x = S(0);
  for (int row = first + 1; row < n; row += width) {
    __syncthreads();
    for (int j = warp; j < width; j += 8)
      rows[j][lane] = j < columns && row + lane < n ? block[row + lane + j * ldv] : S(0);
    __syncthreads();
    for (int r = 0; r < width; ++r) {
      const S right = rows[lane][r];
#pragma unroll
      for (int q = 0; q < 4; ++q) sum[q] += conj(rows[warp + 8 * q][r]) * right;
    }
  }
#pragma unroll
  for (int q = 0; q < 4; ++q) gram[warp + 8 * q][lane] = sum[q];
  __syncthreads();
  if (warp > 0) return;
  // Lane r has row r of T, in rows[r].
  for (int j = 0; j < width; ++j) {
    const S here = j < columns ? tau[matrix * n + first + j] : S(0);
    S entry = 0;
    for (int k = lane; k < j; ++k) entry += rows[lane][k] * gram[k][j];
    __syncwarp();
    rows[lane][j] = lane < j ? -(here * entry) : lane == j ? here : S(0);
  }
  S* const to = factors + (matrix * gridDim.x + blockIdx.x) * width * width;
  for (int j = 0; j < width; ++j) to[lane + j * width] = rows[lane][j];
}

}  // namespace

template <class T>
std::size_t back_bytes(Index n, Index count) {
  Taker part{nullptr};
  part.take<T>(count * ceil_div(n, width) * width * width);
  part.take<T>(2 * count * n * width);
  return part.at;
}

template <class T>
void launch_back(cudaStream_t stream, cublasHandle_t cublas, Index n, Index count, const T* v, Index ldv,
                 Index stride_v, const T* tau, T* z, Index ldz, Index stride_z, void* memory) {
  const Index blocks = ceil_div(n - 1, width), stride_w = n * width, stride_t = blocks * width * width;
  Taker part{static_cast<char*>(memory)};
  T* const factors = part.take<T>(count * ceil_div(n, width) * width * width);
  T* const w = part.take<T>(2 * count * n * width);
  T* const turned = w + count * stride_w;
  factors_kernel<<<dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(count)), 256, 0, stream>>>(
      static_cast<int>(n), device_cast(v), ldv, stride_v, device_cast(tau), device_cast(factors));
  for (Index b = blocks - 1; b >= 0; --b) {
    const Index first = b * width, columns = std::min<Index>(width, n - 1 - first), rows = n - first - 1;
    const T* const block = v + first + 1 + first * ldv;
    T* const below = z + first + 1;
    cublas::gemm_strided_batched<T>(cublas, Op::none, Op::none, rows, columns, columns, T(1), block, ldv,
                                    stride_v, factors + b * width * width, width, stride_t, T(0), turned, n,
                                    stride_w, count);
    cublas::gemm_strided_batched<T>(cublas, Op::adjoint, Op::none, columns, n, rows, T(1), block, ldv,
                                    stride_v, below, ldz, stride_z, T(0), w, width, stride_w, count);
    cublas::gemm_strided_batched<T>(cublas, Op::none, Op::none, rows, n, columns, T(-1), turned, n, stride_w,
                                    w, width, stride_w, T(1), below, ldz, stride_z, count);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template std::size_t back_bytes<T>(Index, Index);                                                       \
  template void launch_back(cudaStream_t, cublasHandle_t, Index, Index, const T*, Index, Index, const T*, \
                            T*, Index, Index, void*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
