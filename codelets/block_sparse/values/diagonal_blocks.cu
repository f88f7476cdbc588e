// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/diagonal_blocks.hpp>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int max_threads = 256;
constexpr std::size_t max_shared_bytes = 200 * 1024;

/// What a thread block computes on: an n x n matrix without gaps, in shared or global memory, and a line of n
/// elements and n pivots in shared memory.
template <class S>
struct Square {
  S* a;
  int n;
  S* line;
  int* pivots;
  __device__ S& operator()(int i, int j) const { return a[i + static_cast<std::ptrdiff_t>(j) * n]; }
};

template <class S>
__host__ __device__ constexpr std::size_t line_bytes(Index n) {
  return static_cast<std::size_t>(n) * (sizeof(S) + sizeof(int));
}
template <class S>
__host__ __device__ constexpr std::size_t square_bytes(Index n) {
  return line_bytes<S>(n) + static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(S);
}

/// visit(i, j) for the elements of columns [first, end) in rows [first, end), shared out among the threads.
template <class Visit>
__device__ void each_element(int first, int end, const Visit& visit) {
  const int m = end - first;
  for (int e = static_cast<int>(threadIdx.x); e < m * m; e += static_cast<int>(blockDim.x))
    visit(first + e % m, first + e / m);
}

/// Column by column, each followed by the update of the columns behind it. All threads return the same.
template <class S>
__device__ bool cholesky(const Square<S>& s) {
  using R = Real<S>;
  for (int k = 0; k < s.n; ++k) {
    const R pivot = real(s(k, k));
    if (!(pivot > R(0)) || !isfinite(pivot)) return false;
    const R root = sqrt(pivot), inverse = R(1) / root;
    __syncthreads();
    for (int i = k + static_cast<int>(threadIdx.x); i < s.n; i += static_cast<int>(blockDim.x))
      s(i, k) = i == k ? S(root) : inverse * s(i, k);
    __syncthreads();
    each_element(k + 1, s.n, [&](int i, int j) {
      if (i >= j) s(i, j) = s(i, j) - s(i, k) * device::conj(s(j, k));
    });
    __syncthreads();
  }
  each_element(0, s.n, [&](int i, int j) {
    if (i < j) s(i, j) = S(0);
  });
  __syncthreads();
  return true;
}

/// The inverse of a lower triangle with a real diagonal in its place, from the last column to the first: each
/// is multiplied by the inverse of what is behind it.
template <class S>
__device__ void invert_lower(const Square<S>& s) {
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  for (int j = s.n - 1; j >= 0; --j) {
    const Real<S> inverse = Real<S>(1) / real(s(j, j));
    for (int i = j + 1 + first; i < s.n; i += step) {
      S sum(0);
      for (int k = j + 1; k <= i; ++k) sum += s(i, k) * s(k, j);
      s.line[i] = sum;
    }
    __syncthreads();
    for (int i = j + 1 + first; i < s.n; i += step) s(i, j) = -inverse * s.line[i];
    if (first == 0) s(j, j) = S(inverse);
    __syncthreads();
  }
}

template <class R>
__device__ R magnitude(R x) {
  return fabs(x);
}
template <class R>
__device__ R magnitude(Complex<R> x) {
  return fabs(x.re) + fabs(x.im);
}
template <class R>
__device__ R reciprocal(R x) {
  return R(1) / x;
}
/// Of numbers whose squares may overflow, too.
template <class R>
__device__ Complex<R> reciprocal(Complex<R> x) {
  const R scale = R(1) / magnitude(x);
  const Complex<R> y = scale * x;
  return (scale / norm(y)) * device::conj(y);
}

/// The row at or below k with the largest magnitude in column k, the first of several. The first warp finds
/// it.
template <class S>
__device__ void find_pivot(const Square<S>& s, int k) {
  if (threadIdx.x >= 32) return;
  using R = Real<S>;
  R largest = R(-1);
  int row = k;
  for (int i = k + static_cast<int>(threadIdx.x); i < s.n; i += 32)
    if (const R size = magnitude(s(i, k)); size > largest) largest = size, row = i;
  for (int mask = 16; mask > 0; mask /= 2) {
    const R other = exchange(largest, mask);
    const int other_row = exchange(row, mask);
    if (other > largest || (other == largest && other_row < row)) largest = other, row = other_row;
  }
  if (threadIdx.x == 0) s.pivots[k] = row;
}

/// Gauss-Jordan elimination in place. All threads return the same.
template <class S>
__device__ bool invert(const Square<S>& s) {
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  for (int k = 0; k < s.n; ++k) {
    find_pivot(s, k);
    __syncthreads();
    const int row = s.pivots[k];
    const S pivot = s(row, k);
    if (magnitude(pivot) == Real<S>(0) || !finite(pivot)) return false;
    const S inverse = reciprocal(pivot);
    __syncthreads();
    for (int j = first; j < s.n; j += step) {
      const S above = s(k, j), below = s(row, j);
      s(row, j) = above;
      s(k, j) = j == k ? inverse : inverse * below;
    }
    __syncthreads();
    for (int i = first; i < s.n; i += step) s.line[i] = s(i, k);
    __syncthreads();
    each_element(0, s.n, [&](int i, int j) {
      if (i != k) s(i, j) = (j == k ? S(0) : s(i, j)) - s.line[i] * s(k, j);
    });
    __syncthreads();
  }
  for (int i = first; i < s.n; i += step)
    for (int k = s.n - 1; k >= 0; --k) {
      const int other = s.pivots[k];
      const S x = s(i, k);
      s(i, k) = s(i, other);
      s(i, other) = x;
    }
  __syncthreads();
  return true;
}

template <class S>
__device__ void mirror_lower(Symmetry symmetry, const Square<S>& s) {
  each_element(0, s.n, [&](int i, int j) {
    if (i > j) s(j, i) = mirror_image(symmetry, s(i, j));
    if (i == j && symmetry == Symmetry::hermitian) s(i, i) = S(real(s(i, i)));
    if (i == j && symmetry == Symmetry::antisymmetric) s(i, i) = S(0);
  });
  __syncthreads();
}

template <class S>
__device__ bool compute(DiagonalFactor factor, Symmetry symmetry, const Square<S>& s) {
  if (factor == DiagonalFactor::inverse) {
    if (!invert(s)) return false;
    if (symmetry != Symmetry::none) mirror_lower(symmetry, s);
    return true;
  }
  if (!cholesky(s)) return false;
  if (factor == DiagonalFactor::inverse_cholesky) invert_lower(s);
  return true;
}

/// A thread block takes a matrix block; failed[b] := whether block b has failed.
template <class S>
__global__ void __launch_bounds__(max_threads)
    factor_kernel(DiagonalFactor factor, Symmetry symmetry, std::size_t shared_bytes, Index block_count,
                  const PanelBlock* __restrict__ blocks, S* values, int* failed) {
  extern __shared__ __align__(16) unsigned char shared[];
  for (Index b = blockIdx.x; b < block_count; b += gridDim.x) {
    const PanelBlock block = blocks[b];
    const int n = block.rows;
    S* const a = values + block.offset;
    Square<S> s{a, n, reinterpret_cast<S*>(shared), nullptr};
    s.pivots = reinterpret_cast<int*>(s.line + n);
    const bool fits = square_bytes<S>(n) <= shared_bytes;
    if (fits) {
      s.a = s.line + n;
      s.pivots = reinterpret_cast<int*>(s.a + n * n);
      for (int e = static_cast<int>(threadIdx.x); e < n * n; e += static_cast<int>(blockDim.x)) s.a[e] = a[e];
    }
    __syncthreads();
    const bool good = compute(factor, symmetry, s);
    if (fits && good)
      for (int e = static_cast<int>(threadIdx.x); e < n * n; e += static_cast<int>(blockDim.x)) a[e] = s.a[e];
    if (threadIdx.x == 0) failed[b] = good ? 0 : 1;
    __syncthreads();
  }
}

/// *index := number, from 1, of the first block that has failed, if there is one. One warp.
__global__ void report_kernel(int block_count, const PanelBlock* __restrict__ blocks,
                              const int* __restrict__ failed, long long* index) {
  int first = block_count;
  for (int b = static_cast<int>(threadIdx.x); b < block_count; b += 32)
    if (failed[b] != 0) {
      first = b;
      break;
    }
  first = -warp_max(-first);
  if (threadIdx.x == 0 && first < block_count) *index = blocks[first].block_row + 1;
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const FactorBlocks<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const auto blocks = *task.blocks;
  if (blocks.empty()) return;
  const auto count = static_cast<Index>(blocks.size());
  // Of a block that does not fit as a whole, the line and the pivots do.
  const std::size_t shared =
      std::max(line_bytes<S>(task.largest), std::min(square_bytes<S>(task.largest), max_shared_bytes));
  const int threads = task.largest <= 8 ? 32 : task.largest <= 16 ? 64 : max_threads;
  auto* const failed = reinterpret_cast<int*>(task.work.view().data());
  DeviceFailure failure(on, task.factor == DiagonalFactor::inverse ? StatusCode::block_singular
                                                                   : StatusCode::block_not_positive_definite);
  cudaFuncSetAttribute(factor_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       static_cast<int>(shared));
  factor_kernel<S><<<blocks_for(count, 1, full_grid), static_cast<unsigned>(threads), shared, on.stream>>>(
      task.factor, task.symmetry, shared, count, blocks.data(), device_cast(task.values.view().data()),
      failed);
  report_kernel<<<1, 32, 0, on.stream>>>(static_cast<int>(count), blocks.data(), failed, failure.index());
  failure.report();
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(FactorBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
