// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/product/dense_panels.inl>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = panel_threads, warps = threads / 32;

/// change(element of the panel's data, row, column of the dense array) for the elements of all blocks: a warp
/// takes a block, or, of few large blocks, blockIdx.y a part of it.
template <class Change>
__global__ void __launch_bounds__(threads)
    each_element_kernel(Index block_count, const DenseBlock* __restrict__ blocks, Change change) {
  for (Index b = Index(blockIdx.x) * warps + threadIdx.x / 32; b < block_count;
       b += Index(gridDim.x) * warps) {
    const DenseBlock block = blocks[b];
    const Index count = Index(block.rows) * block.cols;
    for (Index e = Index(blockIdx.y) * 32 + threadIdx.x % 32; e < count; e += Index(gridDim.y) * 32) {
      const auto [i, j] = position(e, block.rows);
      change(block.offset + e, block.row + i, block.col + j);
    }
  }
}

template <class Change>
void each_element(cudaStream_t stream, std::span<const DenseBlock> blocks, const Change& change) {
  if (blocks.empty()) return;
  const auto count = static_cast<Index>(blocks.size());
  const unsigned x = blocks_for(count, warps, full_grid),
                 y = blocks_for(full_grid, static_cast<Index>(x), 65535);
  each_element_kernel<<<dim3(x, y), threads, 0, stream>>>(count, blocks.data(), change);
}

template <class S>
struct Expand {
  const S* values;
  MatrixView<S> dense;
  __device__ void operator()(Index element, Index i, Index j) const {
    dense.data[i + j * dense.ld] = values[element];
  }
};

template <class S>
struct Extract {
  Store store;
  MatrixView<const S> dense;
  S* values;
  __device__ void operator()(Index element, Index i, Index j) const {
    const S x = dense.data[i + j * dense.ld];
    values[element] = store == Store::add ? plus(values[element], x) : x;
  }
};

}  // namespace

template <class T>
void launch_expand_panel(cudaStream_t stream, std::span<const DenseBlock> blocks, const T* values,
                         MatrixView<T> dense) {
  cudaMemset2DAsync(dense.data, static_cast<std::size_t>(dense.ld) * sizeof(T), 0,
                    static_cast<std::size_t>(dense.rows) * sizeof(T), static_cast<std::size_t>(dense.cols),
                    stream);
  each_element(stream, blocks, Expand<DeviceScalar<T>>{device_cast(values), device_view(dense)});
}

template <class T>
void launch_extract_blocks(cudaStream_t stream, std::span<const DenseBlock> blocks, MatrixView<const T> dense,
                           Store store, T* values) {
  each_element(stream, blocks, Extract<DeviceScalar<T>>{store, device_view(dense), device_cast(values)});
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void launch_expand_panel<T>(cudaStream_t, std::span<const DenseBlock>, const T*, MatrixView<T>); \
  template void launch_extract_blocks<T>(cudaStream_t, std::span<const DenseBlock>, MatrixView<const T>,    \
                                         Store, T*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

template <class T>
void run(const DeviceContext& on, const ExpandPanel<T>& task) {
  device::launch_expand_panel<T>(on.stream, *task.blocks, task.values.view().data(), *task.dense);
}

template <class T>
void run(const DeviceContext& on, const ExtractBlocks<T>& task) {
  device::launch_extract_blocks<T>(on.stream, *task.blocks, *task.dense, store_of(task.values),
                                   task.values.view().data());
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_ON_GPU(ExpandPanel<T>)   \
  TESSERA_DEFINE_ON_GPU(MultiplyDense<T>) \
  TESSERA_DEFINE_ON_GPU(ExtractBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
