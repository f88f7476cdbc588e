// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/split_hermitian.hpp>
#include <tessera/codelets/linalg/split_kernels.cuh>

namespace tessera::detail {

namespace {

using namespace split_products;

/// At the beginning of the work space.
struct Largest {
  unsigned a, w;
};

/// Rows beyond those of x are zero.
__global__ void __launch_bounds__(lanes* block_columns)
    split_matrix_kernel(const Reals x, const unsigned* largest, int stored_rows, __half* high, __half* low,
                        Index ld) {
  const float scale = power_of_two(scale_exponent(*largest));
  for (int j = blockIdx.y * block_columns + threadIdx.y; j < x.cols; j += gridDim.y * block_columns)
    for (int i = rows_of_thread * (blockIdx.x * lanes + threadIdx.x); i < stored_rows;
         i += rows_of_thread * gridDim.x * lanes) {
      const float4 v = load_rows(x.data + j * x.ld, i, x.rows, x.aligned);
      __half2 h[2], l[2];
      split_pair(v.x * scale, v.y * scale, h[0], l[0]);
      split_pair(v.z * scale, v.w * scale, h[1], l[1]);
      *reinterpret_cast<uint2*>(high + i + j * ld) = *reinterpret_cast<const uint2*>(h);
      *reinterpret_cast<uint2*>(low + i + j * ld) = *reinterpret_cast<const uint2*>(l);
    }
}

/// The high halves of W's columns, then the low ones, `columns` each. Complex: two columns for one, for re Y and im Y.
template <bool is_complex>
__global__ void __launch_bounds__(lanes* block_columns)
    split_columns_kernel(const Reals w, const unsigned* largest, int stored_rows, int columns, __half* out,
                         Index ld) {
  const float scale = power_of_two(scale_exponent(*largest));
  const auto store = [&](int i, int column, float a, float b, float c, float d) {
    __half2 h[2], l[2];
    split_pair(a, b, h[0], l[0]);
    split_pair(c, d, h[1], l[1]);
    *reinterpret_cast<uint2*>(out + i + column * ld) = *reinterpret_cast<const uint2*>(h);
    *reinterpret_cast<uint2*>(out + i + (columns + column) * ld) = *reinterpret_cast<const uint2*>(l);
  };
  for (int j = blockIdx.y * block_columns + threadIdx.y; j < w.cols; j += gridDim.y * block_columns)
    for (int i = rows_of_thread * (blockIdx.x * lanes + threadIdx.x); i < stored_rows;
         i += rows_of_thread * gridDim.x * lanes) {
      float4 v = load_rows(w.data + j * w.ld, i, w.rows, w.aligned);
      v.x *= scale, v.y *= scale, v.z *= scale, v.w *= scale;
      if constexpr (is_complex) {
        store(i, 2 * j, v.x, v.y, v.z, v.w);
        store(i, 2 * j + 1, v.y, -v.x, v.w, -v.z);
      } else {
        store(i, j, v.x, v.y, v.z, v.w);
      }
    }
}

/// Y := the sum of the results, scaled back: each has `columns` columns of high halves, then as many of low ones.
template <int f>
__global__ void add_results_kernel(const float* results, int sums, int rows, int columns,
                                   const Largest* largest, float* y, Index ld) {
  const float alpha = unscaling(largest->a, largest->w, 1);
  const Index stride = Index(2) * columns * rows;
  for (int j = blockIdx.y; j < columns; j += gridDim.y)
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
      const float* const at = results + i + Index(j) * rows;
      float high = 0, low = 0;
      for (int s = 0; s < sums; ++s) high += at[s * stride], low += at[s * stride + Index(columns) * rows];
      y[f * i + j % f + j / f * ld] = alpha * (high + low);
    }
}

template <class R>
R* at(std::span<char> space, std::size_t place) noexcept {
  return reinterpret_cast<R*>(space.data() + place);
}

}  // namespace

template <class T>
void split_hermitian(const CudaContext& on, MatrixView<const T> a, Index columns,
                     std::span<char> space) noexcept {
  const SplitHermitianLayout<T> layout(a.rows, columns);
  auto* const largest = at<Largest>(space, 0);
  const Reals x(a);
  cudaMemsetAsync(largest, 0, sizeof(Largest), on.stream);
  find_largest(on, x, &largest->a);
  split_matrix_kernel<<<grid_of(layout.ld, x.cols), dim3(lanes, block_columns), 0, on.stream>>>(
      x, &largest->a, static_cast<int>(layout.ld), at<__half>(space, layout.high()),
      at<__half>(space, layout.low()), layout.ld);
}

template <class T>
void split_hermitian_product(const CudaContext& on, Index n, Index first, MatrixView<const T> w,
                             MatrixView<T> y, std::span<char> space) noexcept {
  constexpr Index f = reals<T>;
  const SplitHermitianLayout<T> layout(n, w.cols);
  const Index m = n - first, columns = layout.columns, ld = layout.ld;
  const Index count = ceil_div(f * m, longest_sum), sum = padded(ceil_div(f * m, count));
  auto* const largest = at<Largest>(space, 0);
  auto* const halves = at<__half>(space, layout.w());
  auto* const results = at<float>(space, layout.results());
  const Reals x(w);
  cudaMemsetAsync(&largest->w, 0, sizeof(unsigned), on.stream);
  find_largest(on, x, &largest->w);
  const Index stored = count * sum;
  split_columns_kernel<is_complex<T>><<<grid_of(stored, x.cols), dim3(lanes, block_columns), 0, on.stream>>>(
      x, &largest->w, static_cast<int>(stored), static_cast<int>(columns), halves, ld);
  const auto multiply = [&](std::size_t half, Index width, float beta, float* c) {
    const float one = 1;
    cublasGemmStridedBatchedEx_64(on.cublas, CUBLAS_OP_T, CUBLAS_OP_N, m, width, sum, &one,
                                  at<__half>(space, half) + f * first + first * ld, CUDA_R_16F, ld, sum,
                                  halves, CUDA_R_16F, ld, sum, &beta, c, CUDA_R_32F, m, 2 * columns * m,
                                  count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  multiply(layout.high(), 2 * columns, 0, results);
  multiply(layout.low(), columns, 1, results + columns * m);
  constexpr unsigned threads = 256;
  const dim3 grid(device::blocks_for(m, threads, device::full_grid), static_cast<unsigned>(columns));
  add_results_kernel<f><<<grid, threads, 0, on.stream>>>(results, static_cast<int>(count),
                                                         static_cast<int>(m), static_cast<int>(columns),
                                                         largest, reinterpret_cast<float*>(y.data), f * y.ld);
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void split_hermitian<T>(const CudaContext&, MatrixView<const T>, Index,                \
                                   std::span<char>) noexcept;                                     \
  template void split_hermitian_product<T>(const CudaContext&, Index, Index, MatrixView<const T>, \
                                           MatrixView<T>, std::span<char>) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(std::complex<float>)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
