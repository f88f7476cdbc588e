// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/dense_panels_arguments.hpp>
#include <tessera/codelets/block_sparse/dense_panels_cuda.hpp>
#include <tessera/codelets/block_sparse/panel_grid.cuh>
#include <tessera/codelets/block_sparse/unfused.cuh>
#include <tessera/codelets/cublas.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
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
  bool add;
  MatrixView<const S> dense;
  S* values;
  __device__ void operator()(Index element, Index i, Index j) const {
    const S x = dense.data[i + j * dense.ld];
    values[element] = add ? plus(values[element], x) : x;
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
                           bool add, T* values) {
  each_element(stream, blocks, Extract<DeviceScalar<T>>{add, device_view(dense), device_cast(values)});
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void launch_expand_panel<T>(cudaStream_t, std::span<const DenseBlock>, const T*, MatrixView<T>); \
  template void launch_extract_blocks<T>(cudaStream_t, std::span<const DenseBlock>, MatrixView<const T>,    \
                                         bool, T*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

namespace {

using namespace dense_panels_codelets;

template <class T>
void expand_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                 const ExpandArguments&) {
  device::launch_expand_panel<T>(context.stream, buffers.array<const DenseBlock>(0),
                                 buffers.array<const T>(1).data(), buffers.matrix<T>(2));
}

template <class T>
void multiply_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const MultiplyArguments& arguments) {
  const auto a = buffers.matrix<const T>(0), b = buffers.matrix<const T>(1);
  const auto c = buffers.matrix<T>(2);
  cublas::gemm<T>(context.cublas, Op::none, Op::none, c.rows, c.cols, a.cols, T(1), a.data, a.ld, b.data,
                  b.ld, T(arguments.add ? 1 : 0), c.data, c.ld);
  *arguments.ran_on = ProductWorker::gpu;
}

template <class T>
void extract_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                  const ExtractArguments& arguments) {
  device::launch_extract_blocks<T>(context.stream, buffers.array<const DenseBlock>(0),
                                   buffers.matrix<const T>(1), arguments.add, buffers.array<T>(2).data());
}

#define TESSERA_REGISTER(T)                                                                 \
  register_cuda<ExpandArguments, expand_cuda<T>>("expand_panel", type_letter<T>),           \
      register_cuda<MultiplyArguments, multiply_cuda<T>>("multiply_dense", type_letter<T>), \
      register_cuda<ExtractArguments, extract_cuda<T>>("extract_blocks", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
