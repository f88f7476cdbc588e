// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/block_elementwise_arguments.hpp>
#include <tessera/codelets/block_sparse/panel_grid.cuh>
#include <tessera/codelets/block_sparse/unfused.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace block_elementwise_codelets;
using namespace device;

/// The strict lower triangle is read, the rest written: elements may come in any order.
template <class S>
struct ImposeSymmetry {
  Symmetry symmetry;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.block_row != block.block_col || i < j) return;
    S* const a = values + block.offset;
    const Index ld = block.rows;
    if (i > j)
      a[j + i * ld] = mirror_image(symmetry, a[i + j * ld]);
    else if (symmetry == Symmetry::antisymmetric)
      a[i + i * ld] = S(0);
    else if (symmetry == Symmetry::hermitian)
      a[i + i * ld] = S(device::real(a[i + i * ld]));
  }
};

template <class S>
struct CutBelow {
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i > block.first_col + j) values[block.offset + i + j * block.rows] = S(0);
  }
};

template <class S>
struct ScaleByVector {
  bool left;
  const S* v;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    S& element = values[block.offset + i + j * block.rows];
    element = times(element, left ? v[block.first_row + i] : v[block.first_col + j]);
  }
};

template <class S>
struct AddOnDiagonal {
  S alpha;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i != block.first_col + j) return;
    S& element = values[block.offset + i + j * block.rows];
    element = plus(element, alpha);
  }
};

template <class S>
struct SetDiagonal {
  const S* v;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i == block.first_col + j)
      values[block.offset + i + j * block.rows] = v[block.first_row + i];
  }
};

/// One warp: every lane a block, whose elements follow those of the lanes before.
template <class S>
__global__ void get_diagonal_kernel(Index block_count, const PanelBlock* __restrict__ blocks,
                                    const S* __restrict__ values, S* out) {
  for (Index first = 0; first < block_count; first += 32) {
    const Index b = first + threadIdx.x;
    DiagonalPart part{0, 0};
    if (b < block_count)
      part = {max(blocks[b].first_row, blocks[b].first_col),
              min(blocks[b].first_row + blocks[b].rows, blocks[b].first_col + blocks[b].cols)};
    const Index count = max(part.end - part.first, Index(0));
    Index before = count;  // of this lane and those before
    for (int step = 1; step < 32; step *= 2) {
      const Index other = __shfl_up_sync(~0u, before, step);
      if (static_cast<int>(threadIdx.x) >= step) before += other;
    }
    const Index all = __shfl_sync(~0u, before, 31);
    for (Index i = part.first; i < part.end; ++i) {
      const PanelBlock& block = blocks[b];
      out[before - count + i - part.first] =
          values[block.offset + (i - block.first_row) + (i - block.first_col) * block.rows];
    }
    out += all;
  }
}

template <class T>
void symmetry_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const SymmetryArguments& a) {
  for_elements(context.stream, buffers.array<const PanelBlock>(0),
               ImposeSymmetry<DeviceScalar<T>>{a.symmetry, device_cast(buffers.array<T>(1).data())});
}

template <class T>
void cut_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  for_elements(context.stream, buffers.array<const PanelBlock>(0),
               CutBelow<DeviceScalar<T>>{device_cast(buffers.array<T>(1).data())});
}

template <class T>
void vector_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                 const SideArguments& a) {
  for_elements(
      context.stream, buffers.array<const PanelBlock>(0),
      ScaleByVector<DeviceScalar<T>>{a.side == Side::left, device_cast(buffers.array<const T>(1).data()),
                                     device_cast(buffers.array<T>(2).data())});
}

template <class T>
void add_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const AddArguments<T>& a) {
  for_elements(
      context.stream, buffers.array<const PanelBlock>(0),
      AddOnDiagonal<DeviceScalar<T>>{device_scalar(a.alpha), device_cast(buffers.array<T>(1).data())});
}

template <class T>
void set_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  for_elements(context.stream, buffers.array<const PanelBlock>(0),
               SetDiagonal<DeviceScalar<T>>{device_cast(buffers.array<const T>(1).data()),
                                            device_cast(buffers.array<T>(2).data())});
}

template <class T>
void get_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const NoArguments&) {
  const auto blocks = buffers.array<const PanelBlock>(0);
  get_diagonal_kernel<<<1, 32, 0, context.stream>>>(static_cast<Index>(blocks.size()), blocks.data(),
                                                    device_cast(buffers.array<const T>(1).data()),
                                                    device_cast(buffers.array<T>(2).data()));
}

#define TESSERA_REGISTER(T)                                                              \
  register_cuda<SymmetryArguments, symmetry_cuda<T>>("impose_symmetry", type_letter<T>), \
      register_cuda<NoArguments, cut_cuda<T>>("cut_below_diagonal", type_letter<T>),     \
      register_cuda<SideArguments, vector_cuda<T>>("scale_by_vector", type_letter<T>),   \
      register_cuda<AddArguments<T>, add_cuda<T>>("add_on_diagonal", type_letter<T>),    \
      register_cuda<NoArguments, set_cuda<T>>("set_diagonal", type_letter<T>),           \
      register_cuda<NoArguments, get_cuda<T>>("get_diagonal", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
