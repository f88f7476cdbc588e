// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/block_sparse/values/whole_panels.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

/// Calls visit(element of the panel's data, row, column, the block is on the diagonal) for the elements of a panel; a
/// warp takes a block at a time, blockIdx.y some of its elements.
template <class Visit>
__global__ void __launch_bounds__(panel_threads)
    panel_elements_kernel(const std::int32_t* words, std::int32_t row_panel, std::int32_t col_panel,
                          const Visit visit) {
  const PackedPattern pattern(words);
  const PackedPanel panel = pattern.panel(row_panel, col_panel);
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  const auto stride = static_cast<std::int32_t>(gridDim.x * (panel_threads / 32));
  for (auto b = static_cast<std::int32_t>(blockIdx.x * (panel_threads / 32) + threadIdx.x / 32);
       b < panel.blocks; b += stride) {
    const std::int32_t i = rows.first[row_panel] + row_of_block(panel, rows.blocks(row_panel), b),
                       j = cols.first[col_panel] + panel.column[b];
    const bool diagonal = rows.number[i] == cols.number[j];
    const Index height = rows.size[i], count = height * cols.size[j];
    for (Index e = blockIdx.y * 32 + threadIdx.x % 32; e < count; e += gridDim.y * 32) {
      const auto [r, c] = position(e, height);
      visit(panel.offset[b] + e, rows.element[i] + r, cols.element[j] + c, diagonal);
    }
  }
}

template <class Visit>
void for_panel(cudaStream_t stream, std::span<const std::int32_t> pattern, std::int32_t row_panel,
               std::int32_t col_panel, Index blocks, std::size_t elements, const Visit& visit) {
  if (blocks == 0) return;
  const Index each = static_cast<Index>(elements) / blocks;  // elements of a block
  const dim3 grid(blocks_for(blocks, panel_threads / 32, full_grid), blocks_for(each, 1024, 64));
  panel_elements_kernel<<<grid, panel_threads, 0, stream>>>(pattern.data(), row_panel, col_panel, visit);
}

template <class S>
struct ToDense {
  Symmetry symmetry;
  const S* values;
  MatrixView<S> matrix;
  __device__ void operator()(Index element, Index i, Index j, bool diagonal) const {
    const S x = values[element];
    matrix.data[i + j * matrix.ld] = x;
    if (symmetry != Symmetry::none && !diagonal) matrix.data[j + i * matrix.ld] = mirror_image(symmetry, x);
  }
};

template <class S>
struct FromDense {
  Uplo counted;
  Symmetry symmetry;
  MatrixView<const S> matrix;
  S* values;
  __device__ void operator()(Index element, Index i, Index j, bool diagonal) const {
    const bool halved = diagonal && symmetry != Symmetry::none;
    const DensePlace place = dense_place(counted, halved, i, j);
    S x = matrix.data[place.row + place.col * matrix.ld];
    if (place.conjugated) x = conj(x);
    if (place.image) x = mirror_image(symmetry, x);
    if (halved && i == j && symmetry == Symmetry::antisymmetric) x = S(0);
    if (halved && i == j && symmetry == Symmetry::hermitian) x = S(real(x));
    values[element] = x;
  }
};

template <class R>
__device__ double modulus_of(R x) {
  return fabs(x);
}
template <class R>
__device__ double modulus_of(Complex<R> x) {
  return hypot(x.re, x.im);
}

/// `lanes` neighbouring threads share a row of blocks, blockIdx.y is the column, blockIdx.z some of its elements'
/// columns. A block is read until an element is above.
template <class S>
__global__ void __launch_bounds__(panel_threads)
    flag_kernel(const std::int32_t* words, MatrixView<const S> matrix, Uplo counted, bool half_stored,
                double threshold, int lanes, char* flags) {
  const PackedPattern pattern(words);
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  const Index thread = Index(blockIdx.x) * panel_threads + threadIdx.x, i = thread / lanes;
  const std::int32_t row_blocks = pattern.header().row_blocks, col_blocks = pattern.header().col_blocks;
  if (i >= row_blocks) return;
  const Index first = rows.element[i], end = first + rows.size[i];
  for (Index j = blockIdx.y; j < col_blocks; j += gridDim.y) {
    if (half_stored && rows.number[i] < cols.number[j]) continue;
    bool above = threshold < 0;
    const Index end_column = cols.element[j] + cols.size[j];
    for (Index c = cols.element[j] + Index(blockIdx.z); c < end_column && !above; c += gridDim.z)
      for (Index r = first + thread % lanes; r < end && !above; r += lanes) {
        const DensePlace place = dense_place(counted, false, r, c);
        above = !(modulus_of(matrix.data[place.row + place.col * matrix.ld]) <= threshold);
      }
    if (above) flags[j + i * col_blocks] = 1;
  }
}

}  // namespace
}  // namespace device

using device::device_cast, device::device_view, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const PanelToDense<T>& task) {
  const std::span<const T> values = *task.values;
  device::for_panel(
      on.stream, *task.pattern, task.row_panel, task.col_panel, task.blocks, values.size(),
      device::ToDense<DeviceScalar<T>>{task.symmetry, device_cast(values.data()), device_view(*task.matrix)});
}

template <class T>
void run(const DeviceContext& on, const PanelFromDense<T>& task) {
  const std::span<T> values = *task.values;
  device::for_panel(on.stream, *task.pattern, task.row_panel, task.col_panel, task.blocks, values.size(),
                    device::FromDense<DeviceScalar<T>>{task.counted, task.symmetry, device_view(*task.matrix),
                                                       device_cast(values.data())});
}

template <class T>
void run(const DeviceContext& on, const FlagBlocks<T>& task) {
  using namespace device;
  const std::span<char> flags = *task.flags;
  cudaMemsetAsync(flags.data(), 0, flags.size_bytes(), on.stream);
  if (task.row_blocks == 0 || task.col_blocks == 0) return;
  const MatrixView<const T> matrix = *task.matrix;
  const Index height = matrix.rows / task.row_blocks, width = matrix.cols / task.col_blocks;
  const int lanes = height > 32 ? 32 : 1;
  const dim3 grid(blocks_for(task.row_blocks * lanes, panel_threads), blocks_for(task.col_blocks, 1, 65535),
                  blocks_for(width, 32, 1024));
  flag_kernel<<<grid, panel_threads, 0, on.stream>>>(task.pattern.view().data(), device_view(matrix),
                                                     task.counted, task.half_stored, task.threshold, lanes,
                                                     flags.data());
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_ON_GPU(PanelToDense<T>)   \
  TESSERA_DEFINE_ON_GPU(PanelFromDense<T>) \
  TESSERA_DEFINE_ON_GPU(FlagBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
