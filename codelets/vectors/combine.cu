// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/kernels/row_tiles.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr int max_across = 2 * max_block_columns / 8;  // tiles of 8 x 8 of eight rows of the outputs
constexpr int multiprocessors = 132, multiprocessor_bytes = 227 * 1024;

template <class T>
struct CombineProblem {
  BlockRow<const T, 4> inputs;
  CombineOutput<T> outputs[2];
  int output_count, output_columns;
  std::int64_t rows;
  int depth, across;  ///< columns of the inputs, up to a multiple of four; tiles of 8 columns of the outputs
  int stride, c_stride;  ///< of rows in shared memory
  const double* c;
};

/// The shared memory: C, and two times eight rows for each warp.
template <class T>
struct CombineShared {
  int stride, c_stride, bytes;
  constexpr CombineShared(int depth, int across)
      : stride(tile_stride<T>(std::max(depth, 8 * across), true)),
        c_stride(tile_stride<double>(8 * across, false)),
        bytes(depth * c_stride * int(sizeof(double)) + warps * 2 * 8 * stride * int(sizeof(T))) {}
};

/// Rows first, ..., first + rows - 1 of the outputs, from a tile of shared memory, and zeros beside them.
template <class T>
__device__ void store_outputs(const CombineProblem<T>& p, std::int64_t first, int rows, const T* from,
                              int thread, int threads_of_rows) {
  for (int o = 0; o < p.output_count; ++o) {
    const CombineOutput<T>& output = p.outputs[o];
    const int columns = output.block.columns, whole = output.whole > 0 ? output.whole : columns,
              width = output.before + whole;
    for (int e = thread; e < rows * width; e += threads_of_rows) {
      const int i = e / width, j = e % width - output.before;
      if (first + i < p.rows)
        output.block.data[(first + i) * output.block.ld + j] =
            0 <= j && j < columns ? from[i * p.stride + j] : T(0);
    }
    from += columns;
  }
}

/// A warp takes eight rows at a time, of which it reads all before it writes; its next rows come while it
/// works.
template <class T>
__global__ void __launch_bounds__(threads) combine_kernel(const __grid_constant__ CombineProblem<T> p) {
  extern __shared__ __align__(16) char shared[];
  double* const c = reinterpret_cast<double*>(shared);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  T* const tiles = reinterpret_cast<T*>(c + p.depth * p.c_stride) + warp * 2 * 8 * p.stride;
  const int in = p.inputs.columns;
  for (int e = thread; e < p.depth * 8 * p.across; e += threads) {
    const int k = e % p.depth, j = e / p.depth;
    c[k * p.c_stride + j] = k < in && j < p.output_columns ? p.c[k + j * in] : 0;
  }
  __syncthreads();

  const auto bring = [&](std::int64_t t, int buffer) {
    copy_rows(p.inputs, 8 * t, 8, p.rows, tiles + buffer * 8 * p.stride, p.stride, 0, lane, 32);
  };
  const std::int64_t count = (p.rows + 7) / 8, step = std::int64_t(gridDim.x) * warps;
  std::int64_t t = std::int64_t(blockIdx.x) * warps + warp;
  if (t < count) bring(t, 0);
  commit_copies();
  for (int buffer = 0; t < count; t += step, buffer ^= 1) {
    if (t + step < count) bring(t + step, buffer ^ 1);
    commit_copies();
    wait_for_copies<1>();
    T* const tile = tiles + buffer * 8 * p.stride;
    if (in + lane % 4 < p.depth) tile[lane / 4 * p.stride + in + lane % 4] = T(0);
    __syncwarp();
    double sum[max_across][2] = {};
    for (int k = lane % 4; k < p.depth; k += 4) {
      const double a = tile[lane / 4 * p.stride + k];
      const double* const row = c + k * p.c_stride + lane / 4;
#pragma unroll
      for (int j = 0; j < max_across; ++j)
        if (j < p.across) mma_8x8x4(sum[j], a, row[8 * j]);
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < max_across; ++j)
      if (j < p.across) {
        T* const to = tile + lane / 4 * p.stride + 8 * j + 2 * (lane % 4);
        to[0] = T(sum[j][0]);
        to[1] = T(sum[j][1]);
      }
    __syncwarp();
    store_outputs(p, 8 * t, 8, tile, lane, 32);
    __syncwarp();
  }
}

/// Of more columns than the warps' tiles and C leave memory for: a thread block takes wide_rows rows at a time, of
/// which each warp computes every eighth tile's columns, and C comes from the caches, once for all of these rows.
constexpr int wide_rows = 64, wide_depth = 4 * max_real_columns, wide_across = 2 * max_real_columns / 8;

template <class T>
__global__ void __launch_bounds__(threads) wide_combine_kernel(const __grid_constant__ CombineProblem<T> p) {
  constexpr int down = wide_rows / 8, own = wide_across / warps;
  extern __shared__ __align__(16) char shared[];
  T* const tile = reinterpret_cast<T*>(shared);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32,
            in = p.inputs.columns, padding = p.depth - in;
  const std::int64_t count = (p.rows + wide_rows - 1) / wide_rows;
  for (std::int64_t t = blockIdx.x; t < count; t += gridDim.x) {
    copy_rows(p.inputs, t * wide_rows, wide_rows, p.rows, tile, p.stride, 0, thread, threads);
    commit_copies();
    for (int e = thread; e < wide_rows * padding; e += threads)
      tile[e / padding * p.stride + in + e % padding] = T(0);
    wait_for_copies<0>();
    __syncthreads();
    double sum[down][own][2] = {};
    for (int k = lane % 4; k < p.depth; k += 4) {
      double c[own];
#pragma unroll
      for (int j = 0; j < own; ++j) {
        const int column = 8 * (warp + warps * j) + lane / 4;
        c[j] = k < in && column < p.output_columns ? __ldg(p.c + k + column * in) : 0;
      }
#pragma unroll
      for (int i = 0; i < down; ++i) {
        const double a = tile[(8 * i + lane / 4) * p.stride + k];
#pragma unroll
        for (int j = 0; j < own; ++j) mma_8x8x4(sum[i][j], a, c[j]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < own; ++j)
        if (warp + warps * j < p.across) {
          T* const to = tile + (8 * i + lane / 4) * p.stride + 8 * (warp + warps * j) + 2 * (lane % 4);
          to[0] = T(sum[i][j][0]);
          to[1] = T(sum[i][j][1]);
        }
    __syncthreads();
    store_outputs(p, t * wide_rows, wide_rows, tile, thread, threads);
    __syncthreads();
  }
}

template <class T>
constexpr int wide_stride(int depth, int across) {
  return tile_stride<T>(std::max(depth, 8 * across), true);
}

template <class T>
void launch_wide_combine(cudaStream_t stream, CombineProblem<T>& p) {
  p.stride = wide_stride<T>(p.depth, p.across);
  constexpr int row_bytes = wide_rows * int(sizeof(T)),
                max_bytes = row_bytes * wide_stride<T>(wide_depth, wide_across);
  const int bytes = row_bytes * p.stride, together = std::clamp(multiprocessor_bytes / (bytes + 1024), 1, 4);
  const std::int64_t blocks =
      std::min<std::int64_t>((p.rows + wide_rows - 1) / wide_rows, multiprocessors * together);
  cudaFuncSetAttribute(wide_combine_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, max_bytes);
  wide_combine_kernel<T>
      <<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(bytes), stream>>>(p);
}

}  // namespace

template <class T>
void launch_combine(cudaStream_t stream, std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
                    std::span<const CombineOutput<T>> outputs, const double* c) {
  CombineProblem<T> p{};
  p.inputs = BlockRow<const T, 4>::of(inputs);
  for (const CombineOutput<T>& output : outputs) {
    p.outputs[p.output_count++] = output;
    p.output_columns += output.block.columns;
  }
  if (rows == 0 || p.output_columns == 0) return;
  p.rows = rows;
  p.depth = (p.inputs.columns + 3) / 4 * 4;
  p.across = (p.output_columns + 7) / 8;
  p.c = c;
  if (p.depth > 4 * max_block_columns || p.across > max_across) return launch_wide_combine(stream, p);
  const CombineShared<T> memory(p.depth, p.across);
  p.stride = memory.stride;
  p.c_stride = memory.c_stride;
  const int together = std::clamp(multiprocessor_bytes / (memory.bytes + 1024), 1, 4);
  const std::int64_t blocks =
      std::min<std::int64_t>((rows + 8 * warps - 1) / (8 * warps), multiprocessors * together);
  // The same bound for every launch: another thread may be about to launch.
  constexpr int max_bytes = CombineShared<T>(4 * max_block_columns, max_across).bytes;
  cudaFuncSetAttribute(combine_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, max_bytes);
  combine_kernel<T>
      <<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(memory.bytes), stream>>>(p);
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void launch_combine<T>(cudaStream_t, std::int64_t, std::span<const VectorBlock<const T>>, \
                                  std::span<const CombineOutput<T>>, const double*);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace device

template <class T>
void run(const DeviceContext& on, const Combine<T>& task) {
  using R = RealOf<T>;
  std::array<device::CombineOutput<R>, 2> outputs;
  std::size_t count = 0;
  for (const OutputColumns<T>& o : task.outputs) {
    if (!o) continue;
    outputs[count] = {real_block(o.block())};
    if (o.first()) {
      outputs[count].before = reals_of<T> * o.first_column;
      outputs[count].whole = reals_of<T> * (static_cast<std::int32_t>(o.view().rows) - o.first_column);
    }
    ++count;
  }
  device::launch_combine<R>(on.stream, task.rows, blocks_of<const R>(task.inputs), {outputs.data(), count},
                            task.c.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(Combine<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
