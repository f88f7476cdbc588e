// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/block_values_arguments.hpp>
#include <tessera/codelets/block_sparse/panel_grid.cuh>
#include <tessera/codelets/block_sparse/scale_window.hpp>
#include <tessera/codelets/block_sparse/unfused.cuh>
#include <tessera/codelets/device_launch.cuh>
#include <tessera/codelets/device_warp.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace block_values_codelets;
using namespace device;

constexpr int threads = panel_threads;

template <class S>
__device__ S moved(bool conjugated, bool add, S factor, S element, S to) {
  const S value = times(factor, conjugated ? device::conj(element) : element);
  return add ? plus(to, value) : value;
}

template <class S>
__global__ void __launch_bounds__(threads) fill_kernel(S value, Index count, S* values) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    values[i] = value;
}

template <class S>
__global__ void __launch_bounds__(threads)
    copy_kernel(bool conjugated, bool add, S factor, Index count, const S* __restrict__ from, S* to) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    to[i] = moved(conjugated, add, factor, from[i], add ? to[i] : S(0));
}

/// blockIdx.x takes a move, blockIdx.y a part of it.
template <class S>
__global__ void __launch_bounds__(threads)
    move_kernel(bool transposed, bool conjugated, bool add, S factor, Index move_count,
                const BlockMove* __restrict__ moves, const S* __restrict__ source, S* destination) {
  for (Index m = blockIdx.x; m < move_count; m += gridDim.x) {
    const BlockMove move = moves[m];
    const Index count = Index(move.rows) * move.cols;
    const Index row_step = transposed ? move.source_ld : 1, col_step = transposed ? 1 : move.source_ld;
    for (Index e = Index(blockIdx.y) * threads + threadIdx.x; e < count; e += Index(gridDim.y) * threads) {
      const auto [i, j] = position(e, move.rows);
      S& to = destination[move.destination + i + j * move.destination_ld];
      to = moved(conjugated, add, factor, source[move.source + i * row_step + j * col_step], add ? to : S(0));
    }
  }
}

/// A warp takes a block.
template <class S>
__global__ void __launch_bounds__(threads)
    norms_kernel(Index block_count, const PanelBlock* __restrict__ blocks, const S* __restrict__ values,
                 double* norms) {
  const Index stride = Index(gridDim.x) * (threads / 32);
  for (Index b = Index(blockIdx.x) * (threads / 32) + threadIdx.x / 32; b < block_count; b += stride) {
    const S* const block = values + blocks[b].offset;
    const Index count = Index(blocks[b].rows) * blocks[b].cols;
    double sum = 0;
    for (Index i = threadIdx.x % 32; i < count; i += 32) {
      const double re = real(block[i]), im = imag(block[i]);
      sum += re * re + im * im;
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) norms[b] = sum;
  }
}

template <class S>
struct ScaleWindow {
  S factor;
  bool zero;
  Index first_row, end_row, first_col, end_col;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    const Index row = block.first_row + i, col = block.first_col + j;
    if (row < first_row || row >= end_row || col < first_col || col >= end_col) return;
    S& value = values[block.offset + i + j * block.rows];
    value = zero ? S(0) : times(factor, value);
  }
};

template <class T>
void fill_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const FillArguments<T>& a) {
  const auto values = buffers.array<T>(0);
  const auto count = static_cast<Index>(values.size());
  if (a.value == T(0))
    cudaMemsetAsync(values.data(), 0, values.size_bytes(), context.stream);
  else if (count > 0)
    fill_kernel<<<blocks_for(count, 4 * threads, full_grid), threads, 0, context.stream>>>(
        device_scalar(a.value), count, device_cast(values.data()));
}

template <class T>
void move_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const MoveArguments<T>& a) {
  const auto moves = buffers.array<const BlockMove>(0);
  if (moves.empty()) return;
  move_kernel<<<panel_grid(moves.size()), threads, 0, context.stream>>>(
      a.op != Op::none, a.conjugated != (a.op == Op::adjoint), a.add, device_scalar(a.factor),
      static_cast<Index>(moves.size()), moves.data(), device_cast(buffers.array<const T>(1).data()),
      device_cast(buffers.array<T>(2).data()));
}

template <class T>
void copy_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const CopyArguments<T>& a) {
  const auto source = buffers.array<const T>(0);
  const auto count = static_cast<Index>(source.size());
  T* const destination = buffers.array<T>(1).data();
  if (a.factor == T(1) && !a.conjugated && !a.add)
    cudaMemcpyAsync(destination, source.data(), source.size_bytes(), cudaMemcpyDeviceToDevice,
                    context.stream);
  else if (count > 0)
    copy_kernel<<<blocks_for(count, 4 * threads, full_grid), threads, 0, context.stream>>>(
        a.conjugated, a.add, device_scalar(a.factor), count, device_cast(source.data()),
        device_cast(destination));
}

template <class T>
void norms_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  const auto blocks = buffers.array<const PanelBlock>(0);
  const auto count = static_cast<Index>(blocks.size());
  if (count > 0)
    norms_kernel<<<blocks_for(count, threads / 32, full_grid), threads, 0, context.stream>>>(
        count, blocks.data(), device_cast(buffers.array<const T>(1).data()), buffers.array<double>(2).data());
}

template <class T>
void scale_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                const ScaleWindowArguments<T>& a) {
  for_elements(context.stream, buffers.array<const PanelBlock>(0),
               ScaleWindow<DeviceScalar<T>>{device_scalar(a.factor), a.factor == T(0), a.first_row, a.end_row,
                                            a.first_col, a.end_col, device_cast(buffers.array<T>(1).data())});
}

#define TESSERA_REGISTER(T)                                                         \
  register_cuda<FillArguments<T>, fill_cuda<T>>("fill_values", type_letter<T>),     \
      register_cuda<MoveArguments<T>, move_cuda<T>>("move_blocks", type_letter<T>), \
      register_cuda<CopyArguments<T>, copy_cuda<T>>("copy_values", type_letter<T>), \
      register_cuda<NoArguments, norms_cuda<T>>("block_norms", type_letter<T>),     \
      register_cuda<ScaleWindowArguments<T>, scale_cuda<T>>("scale_window", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
