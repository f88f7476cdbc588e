// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/block_reductions.hpp>
#include <tessera/codelets/block_sparse/values/line_kernels.cuh>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

template <class S>
__device__ double squared(S x) {
  const double re = device::real(x), im = device::imag(x);
  return re * re + im * im;
}

template <class S>
__device__ double modulus(S x) {
  if constexpr (is_complex_scalar<S>)
    return hypot(double(x.re), double(x.im));
  else
    return fabs(double(x));
}

/// The same bits as position_weight: it jumps where a sum is a whole number.
__device__ inline double weight(Index i, Index j) {
  const double x =
      plus(times(double(i + 1), 0.61803398874989484820), times(double(j + 1), 0.41421356237309504880));
  return 0.5 + (x - double(static_cast<Index>(x)));
}

template <class S>
__device__ double positioned(S x, Index i, Index j) {
  return (double(device::real(x)) + 0.5 * double(device::imag(x))) * weight(i, j);
}

/// The contribution of one element.
template <class S>
struct Term {
  PanelSum sum;
  Symmetry symmetry;
  const S* values;
  __device__ double operator()(const PanelBlock& block, Index i, Index j) const {
    const S x = values[block.offset + i + j * block.rows];
    if (sum == PanelSum::largest) return modulus(x);
    const Index row = block.first_row + i, col = block.first_col + j;
    const bool image = symmetry != Symmetry::none && block.block_row != block.block_col;
    return image ? positioned(x, row, col) + positioned(mirror_image(symmetry, x), col, row)
                 : positioned(x, row, col);
  }
  /// Of two partial results; a NaN stays.
  __device__ double joined(double a, double b) const {
    if (sum != PanelSum::largest) return a + b;
    return isnan(a) ? a : isnan(b) ? b : fmax(a, b);
  }
};

/// The contribution of an element to its row or column; `images`: of a mirror image, so not of diagonal blocks.
template <class S>
struct LineTerm {
  LineSum sum;
  bool images;
  const S* values;
  __device__ bool counts(const PanelBlock& block) const {
    return !images || block.block_row != block.block_col;
  }
  __device__ double operator()(const PanelBlock& block, Index i, Index j, Index, Index) const {
    const S x = values[block.offset + i + j * block.rows];
    return sum == LineSum::rows_of_moduli ? modulus(x) : squared(x);
  }
};

/// The block's result in thread 0, joined in an order that the number of threads alone fixes.
template <class S>
__device__ double join_block(double x, const Term<S>& term) {
  __shared__ double warps[panel_threads / 32];
  for (int mask = 16; mask > 0; mask /= 2) x = term.joined(x, exchange(x, mask));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < panel_threads / 32; ++w) x = term.joined(x, warps[w]);
  return x;
}

/// Part blockIdx.x of every block of a group of them, to partial[blockIdx.x].
template <class S>
__global__ void __launch_bounds__(panel_threads)
    partial_kernel(Index block_count, const PanelBlock* __restrict__ blocks, Term<S> term, int shares,
                   double* partial) {
  double sum = 0;
  const int groups = static_cast<int>(gridDim.x) / shares, group = static_cast<int>(blockIdx.x) / shares,
            share = static_cast<int>(blockIdx.x) % shares;
  for (Index b = group; b < block_count; b += groups) {
    const PanelBlock block = blocks[b];
    const Index count = Index(block.rows) * block.cols;
    for (Index e = Index(share) * panel_threads + threadIdx.x; e < count;
         e += Index(shares) * panel_threads) {
      const auto [i, j] = position(e, block.rows);
      sum = term.joined(sum, term(block, i, j));
    }
  }
  sum = join_block(sum, term);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class S>
__global__ void __launch_bounds__(panel_threads)
    finish_kernel(int count, const double* __restrict__ partial, Term<S> term, double* result) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += panel_threads)
    sum = term.joined(sum, partial[i]);
  sum = join_block(sum, term);
  if (threadIdx.x == 0) *result = sum;
}

}  // namespace
}  // namespace device

/// The same thread blocks for the same panel on any device: the result has the same bits.
template <class T>
void run(const DeviceContext& on, const ReducePanel<T>& task) {
  using namespace device;
  const auto blocks = *task.blocks;
  const Term<DeviceScalar<T>> term{task.sum, task.symmetry, device_cast(task.values.view().data())};
  const auto count = static_cast<Index>(blocks.size());
  const int groups = static_cast<int>(std::clamp<Index>(count, 1, reduction_parts)),
            shares = reduction_parts / groups;
  double* const partial = task.work.view().data();
  partial_kernel<<<static_cast<unsigned>(groups * shares), panel_threads, 0, on.stream>>>(
      count, blocks.data(), term, shares, partial);
  finish_kernel<<<1, panel_threads, 0, on.stream>>>(groups * shares, partial, term,
                                                    task.result.view().data());
}

template <class T>
void run(const DeviceContext& on, const SumLines<T>& task) {
  using namespace device;
  const LinePanel panel{task.blocks.view().data(), task.lines.view().data(),
                        PanelOrder(task.order.view().data(), task.block_rows, task.block_cols),
                        task.block_rows, task.block_cols};
  const DeviceScalar<T>* const values = device_cast(task.values.view().data());
  const bool by_row = task.sum == LineSum::rows_of_moduli, images = task.symmetry != Symmetry::none;
  double* const sums = task.sums.view().data();
  double* const row_sums = by_row ? sums : sums + task.cols;
  double* const col_sums = by_row ? sums + task.rows : sums;
  if (by_row || images)
    sum_along_rows(on.stream, panel, LineTerm<DeviceScalar<T>>{task.sum, !by_row, values}, task.rows, 1,
                   row_sums);
  if (!by_row || images)
    sum_along_cols(on.stream, panel, LineTerm<DeviceScalar<T>>{task.sum, by_row, values}, task.cols, 1,
                   col_sums);
}

#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_ON_GPU(ReducePanel<T>) \
  TESSERA_DEFINE_ON_GPU(SumLines<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
