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

using Pair = Complex<double>;  // two sums

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
  __device__ Pair operator()(const PanelBlock& block, Index i, Index j) const {
    const S x = values[block.offset + i + j * block.rows];
    const Index row = block.first_row + i, col = block.first_col + j;
    const bool image = symmetry != Symmetry::none && block.block_row != block.block_col;
    switch (sum) {
      case PanelSum::diagonal:
        return row == col ? Pair(device::real(x), device::imag(x)) : Pair(0.0);
      case PanelSum::squares:
        return image ? 2 * squared(x) : squared(x);
      case PanelSum::largest:
        return modulus(x);
      case PanelSum::by_position:
        return image ? positioned(x, row, col) + positioned(mirror_image(symmetry, x), col, row)
                     : positioned(x, row, col);
    }
    return Pair(0.0);
  }
  /// Of two partial results; a NaN stays.
  __device__ Pair joined(Pair a, Pair b) const {
    if (sum != PanelSum::largest) return a + b;
    return isnan(a.re) ? a : isnan(b.re) ? b : Pair(fmax(a.re, b.re));
  }
};

/// The elements of the runs two panels have in common.
template <class S>
struct DotTerm {
  Symmetry symmetry_x, symmetry_y;
  const S *x, *y;
  __device__ Pair operator()(const DotRun& run, Index i) const {
    const Pair a = wide(x[run.first + i]), b = wide(y[run.second + i]);
    Pair sum = device::conj(a) * b;
    if (symmetry_x != Symmetry::none && symmetry_y != Symmetry::none && !run.on_diagonal)
      sum += device::conj(mirror_image(symmetry_x, a)) * mirror_image(symmetry_y, b);
    return sum;
  }
  __device__ static Pair wide(S x) { return {double(device::real(x)), double(device::imag(x))}; }
  __device__ Pair joined(Pair a, Pair b) const { return a + b; }
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
template <class Join>
__device__ Pair join_block(Pair x, const Join& join) {
  __shared__ Pair warps[panel_threads / 32];
  for (int mask = 16; mask > 0; mask /= 2) x = join.joined(x, exchange(x, mask));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int w = 1; w < panel_threads / 32; ++w) x = join.joined(x, warps[w]);
  return x;
}

__device__ inline Index items_of(const PanelBlock& block) {
  return Index(block.rows) * block.cols;
}
__device__ inline Index items_of(const DotRun& run) {
  return run.count;
}
template <class S>
__device__ Pair term_of(const Term<S>& term, const PanelBlock& block, Index item) {
  const auto [i, j] = position(item, block.rows);
  return term(block, i, j);
}
template <class S>
__device__ Pair term_of(const DotTerm<S>& term, const DotRun& run, Index item) {
  return term(run, item);
}

/// Part blockIdx.x of every piece (a block of a panel, a run) of a group of them, to partial[blockIdx.x].
template <class Piece, class Of>
__global__ void __launch_bounds__(panel_threads)
    partial_kernel(Index piece_count, const Piece* __restrict__ pieces, Of term, int shares, Pair* partial) {
  Pair sum(0.0);
  const int groups = static_cast<int>(gridDim.x) / shares, group = static_cast<int>(blockIdx.x) / shares,
            share = static_cast<int>(blockIdx.x) % shares;
  for (Index p = group; p < piece_count; p += groups) {
    const Piece piece = pieces[p];
    const Index count = items_of(piece);
    for (Index e = Index(share) * panel_threads + threadIdx.x; e < count; e += Index(shares) * panel_threads)
      sum = term.joined(sum, term_of(term, piece, e));
  }
  sum = join_block(sum, term);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class Of>
__global__ void __launch_bounds__(panel_threads)
    finish_kernel(int count, const Pair* __restrict__ partial, Of term, double* result) {
  Pair sum(0.0);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += panel_threads)
    sum = term.joined(sum, partial[i]);
  sum = join_block(sum, term);
  if (threadIdx.x == 0) result[0] = sum.re, result[1] = sum.im;
}

/// The same blocks for the same pieces on any device: the result has the same bits.
template <class Piece, class Of>
void reduce(cudaStream_t stream, std::span<const Piece> pieces, const Of& term, std::span<double> work,
            double* result) {
  constexpr int most = reduction_parts;
  const auto count = static_cast<Index>(pieces.size());
  const int groups = static_cast<int>(std::clamp<Index>(count, 1, most)), shares = most / groups;
  auto* const partial = reinterpret_cast<Pair*>(work.data());
  partial_kernel<<<static_cast<unsigned>(groups * shares), panel_threads, 0, stream>>>(count, pieces.data(),
                                                                                       term, shares, partial);
  finish_kernel<<<1, panel_threads, 0, stream>>>(groups * shares, partial, term, result);
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const ReducePanel<T>& task) {
  using namespace device;
  reduce(on.stream, *task.blocks,
         Term<DeviceScalar<T>>{task.sum, task.symmetry, device_cast(task.values.view().data())}, *task.work,
         task.result.view().data());
}

template <class T>
void run(const DeviceContext& on, const DotPanels<T>& task) {
  using namespace device;
  reduce(on.stream, *task.runs,
         DotTerm<DeviceScalar<T>>{task.symmetry_x, task.symmetry_y, device_cast(task.x.view().data()),
                                  device_cast(task.y.view().data())},
         *task.work, task.result.view().data());
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
  TESSERA_DEFINE_ON_GPU(DotPanels<T>)   \
  TESSERA_DEFINE_ON_GPU(SumLines<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
