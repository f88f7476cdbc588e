// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

/// A warp takes a block; the strict lower triangle of those on the diagonal is read, the rest written.
template <class S>
__global__ void __launch_bounds__(panel_threads)
    symmetry_kernel(const std::int32_t* words, std::int32_t row_panel, std::int32_t col_panel,
                    Symmetry symmetry, S* values) {
  const PackedPattern pattern(words);
  const PackedPanel panel = pattern.panel(row_panel, col_panel);
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  const std::int32_t row_count = rows.blocks(row_panel),
                     stride = static_cast<std::int32_t>(gridDim.x) * (panel_threads / 32);
  for (auto b = static_cast<std::int32_t>(blockIdx.x * (panel_threads / 32) + threadIdx.x / 32);
       b < panel.blocks; b += stride) {
    const std::int32_t at = rows.first[row_panel] + row_of_block(panel, row_count, b);
    if (rows.number[at] != cols.number[cols.first[col_panel] + panel.column[b]]) continue;
    const std::int32_t n = rows.size[at];
    S* const a = values + panel.offset[b];
    for (std::int32_t e = threadIdx.x % 32; e < n * n; e += 32) {
      const std::int32_t i = e % n, j = e / n;
      if (i > j)
        a[j + i * n] = mirror_image(symmetry, a[i + j * n]);
      else if (i == j && symmetry == Symmetry::antisymmetric)
        a[i + i * n] = S(0);
      else if (i == j && symmetry == Symmetry::hermitian)
        a[i + i * n] = S(device::real(a[i + i * n]));
    }
  }
}

template <class S>
struct CutElement {
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i > block.first_col + j) values[block.offset + i + j * block.rows] = S(0);
  }
};

template <class S>
struct ScaleElement {
  bool left;
  const S* v;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    S& element = values[block.offset + i + j * block.rows];
    element = times(element, left ? v[block.first_row + i] : v[block.first_col + j]);
  }
};

template <class S>
struct ShiftElement {
  S alpha;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i != block.first_col + j) return;
    S& element = values[block.offset + i + j * block.rows];
    element = plus(element, alpha);
  }
};

template <class S>
struct SetElement {
  const S* v;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    if (block.first_row + i == block.first_col + j)
      values[block.offset + i + j * block.rows] = v[block.first_row + i];
  }
};

template <class S>
struct ScaleWithin {
  S factor;
  bool zero;
  ScaledWindow window;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    const Index row = block.first_row + i, col = block.first_col + j;
    if (row < window.first_row || row >= window.end_row || col < window.first_col || col >= window.end_col)
      return;
    S& value = values[block.offset + i + j * block.rows];
    value = zero ? S(0) : times(factor, value);
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

}  // namespace
}  // namespace device

using device::device_cast, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const ImposeSymmetry<T>& task) {
  using namespace device;
  symmetry_kernel<<<full_grid, panel_threads, 0, on.stream>>>(task.pattern.view().data(), task.row_panel,
                                                              task.col_panel, task.symmetry,
                                                              device_cast(task.values.view().data()));
}

template <class T>
void run(const DeviceContext& on, const CutBelowDiagonal<T>& task) {
  device::for_elements(on.stream, *task.blocks,
                       device::CutElement<DeviceScalar<T>>{device_cast(task.values.view().data())});
}

template <class T>
void run(const DeviceContext& on, const ScaleByVector<T>& task) {
  device::for_elements(
      on.stream, *task.blocks,
      device::ScaleElement<DeviceScalar<T>>{task.side == Side::left, device_cast(task.v.view().data()),
                                            device_cast(task.values.view().data())});
}

template <class T>
void run(const DeviceContext& on, const AddOnDiagonal<T>& task) {
  device::for_elements(on.stream, *task.blocks,
                       device::ShiftElement<DeviceScalar<T>>{device::device_scalar(task.alpha),
                                                             device_cast(task.values.view().data())});
}

template <class T>
void run(const DeviceContext& on, const SetDiagonal<T>& task) {
  device::for_elements(on.stream, *task.blocks,
                       device::SetElement<DeviceScalar<T>>{device_cast(task.v.view().data()),
                                                           device_cast(task.values.view().data())});
}

template <class T>
void run(const DeviceContext& on, const GetDiagonal<T>& task) {
  const auto blocks = *task.blocks;
  device::get_diagonal_kernel<<<1, 32, 0, on.stream>>>(static_cast<Index>(blocks.size()), blocks.data(),
                                                       device_cast(task.values.view().data()),
                                                       device_cast(task.diagonal.view().data()));
}

template <class T>
void run(const DeviceContext& on, const ScaleWindow<T>& task) {
  device::for_elements(
      on.stream, *task.blocks,
      device::ScaleWithin<DeviceScalar<T>>{device::device_scalar(task.factor), task.factor == T(0),
                                           task.window, device_cast(task.values.view().data())});
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_ON_GPU(ImposeSymmetry<T>)   \
  TESSERA_DEFINE_ON_GPU(CutBelowDiagonal<T>) \
  TESSERA_DEFINE_ON_GPU(ScaleByVector<T>)    \
  TESSERA_DEFINE_ON_GPU(AddOnDiagonal<T>)    \
  TESSERA_DEFINE_ON_GPU(SetDiagonal<T>)      \
  TESSERA_DEFINE_ON_GPU(GetDiagonal<T>)      \
  TESSERA_DEFINE_ON_GPU(ScaleWindow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
