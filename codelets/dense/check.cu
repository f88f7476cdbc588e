// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/check.hpp>
#include <tessera/codelets/dense/check.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail::device {
namespace {

constexpr int threads = 256;

template <class S>
__device__ double absolute(S x) {
  if constexpr (is_complex_scalar<S>)
    return hypot(x.re, x.im);
  else
    return fabs(x);
}

/// The sum over the block, valid in thread 0.
__device__ double block_sum(double sum) {
  __shared__ double warps[threads / 32];
  sum = warp_sum(sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  if (threadIdx.x == 0)
    for (const double part : warps) sum += part;
  return sum;
}

/// A block takes one column at a time, from the diagonal on if `lower`.
template <class S>
__global__ void __launch_bounds__(threads)
    column_sums_kernel(MatrixView<const S> r, const S* y, Index ldy, const Real<S>* values, bool lower,
                       double* sums) {
  for (Index c = blockIdx.x; c < r.cols; c += gridDim.x) {
    const Real<S> lambda = y ? values[c] : Real<S>(0);
    double sum = 0;
#pragma unroll 4
    for (Index i = (lower ? c : 0) + threadIdx.x; i < r.rows; i += threads) {
      S x = r.data[i + c * r.ld];
      if (y) x -= lambda * y[i + c * ldy];
      sum += absolute(x);
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[c] = sum;
  }
}

constexpr int strip = 32;  ///< rows of a block of row_sums_kernel, one for each lane

enum class Part { all, without_identity, strictly_lower };

/// A block of (32, 8) threads takes 32 rows, and each warp every eighth column. Column c of p is column first
/// + c of the matrix.
template <class S>
__global__ void __launch_bounds__(threads)
    row_sums_kernel(MatrixView<const S> p, Part part, Index first, bool add, double* sums) {
  constexpr int warps = threads / strip;
  const Index d = Index(blockIdx.x) * strip + threadIdx.x;
  double sum = 0;
  if (d < p.rows) {
    const Index end = part == Part::strictly_lower ? min(d, p.cols) : p.cols;
#pragma unroll 4
    for (Index c = threadIdx.y; c < end; c += warps) {
      S x = p.data[d + c * p.ld];
      if (part == Part::without_identity && first + c == d) x -= S(1);
      sum += absolute(x);
    }
  }
  __shared__ double parts[warps][strip];
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y > 0 || d >= p.rows) return;
  for (int w = 1; w < warps; ++w) sum += parts[w][threadIdx.x];
  sums[d] = add ? sums[d] + sum : sum;
}

template <class T>
void row_sums(cudaStream_t stream, MatrixView<const T> p, Part part, Index first, bool add, double* sums) {
  if (p.rows == 0) return;
  row_sums_kernel<<<blocks_for(p.rows, strip), dim3(strip, threads / strip), 0, stream>>>(
      device_view(p), part, first, add, sums);
}

}  // namespace

template <class T>
void launch_column_sums(cudaStream_t stream, MatrixView<const T> r, const MatrixView<const T>* y,
                        const RealOf<T>* values, double* sums) {
  if (r.cols == 0) return;
  column_sums_kernel<<<blocks_for(r.cols, 1), threads, 0, stream>>>(
      device_view(r), y ? device_cast(y->data) : nullptr, y ? y->ld : 0, values, false, sums);
}

template <class T>
void launch_tile_sums(cudaStream_t stream, MatrixView<const T> a, bool diagonal, double* sums) {
  if (a.cols > 0)
    column_sums_kernel<<<blocks_for(a.cols, 1), threads, 0, stream>>>(
        device_view(a), static_cast<const DeviceScalar<T>*>(nullptr), 0, nullptr, diagonal, sums);
  if (diagonal)
    row_sums(stream, a, Part::strictly_lower, 0, true, sums);
  else
    row_sums(stream, a, Part::all, 0, false, sums + a.cols);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void launch_column_sums<T>(cudaStream_t, MatrixView<const T>, const MatrixView<const T>*, \
                                      const RealOf<T>*, double*);                                    \
  template void launch_tile_sums<T>(cudaStream_t, MatrixView<const T>, bool, double*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::device

namespace tessera::detail {

template <class T>
void row_sums(const CudaContext& on, MatrixView<const T> p, bool identity, Index first,
              double* sums) noexcept {
  using device::Part;
  device::row_sums(on.stream, p, identity ? Part::without_identity : Part::all, first, first > 0, sums);
}
#define TESSERA_INSTANTIATE_ROW_SUMS(T) \
  template void row_sums<T>(const CudaContext&, MatrixView<const T>, bool, Index, double*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE_ROW_SUMS)

template <class T>
void run(const DeviceContext& on, const AbsoluteColumnSums<T>& task) {
  const auto r = *task.r;
  double* const sums = task.sums.view().data();
  if (!task.y) return device::launch_column_sums<T>(on.stream, r, nullptr, nullptr, sums);
  const auto y = *task.y;
  device::launch_column_sums<T>(on.stream, r, &y, task.values.view().data() + task.first, sums);
}

template <class T>
void run(const DeviceContext& on, const AbsoluteTileSums<T>& task) {
  device::launch_tile_sums<T>(on.stream, *task.a, task.diagonal, task.sums.view().data());
}

#define TESSERA_DEFINE(T)                      \
  TESSERA_DEFINE_ON_GPU(HermitianTimesSlab<T>) \
  TESSERA_DEFINE_ON_GPU(AbsoluteColumnSums<T>) \
  TESSERA_DEFINE_ON_GPU(AbsoluteInnerSums<T>)  \
  TESSERA_DEFINE_ON_GPU(AbsoluteTileSums<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
