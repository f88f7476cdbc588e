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
    const T* from = tile;
    for (int o = 0; o < p.output_count; ++o) {
      const CombineOutput<T>& output = p.outputs[o];
      const int columns = output.block.columns, whole = output.whole > 0 ? output.whole : columns,
                width = output.before + whole;
      for (int e = lane; e < 8 * width; e += 32) {
        const int i = e / width, j = e % width - output.before;
        if (8 * t + i < p.rows)
          output.block.data[(8 * t + i) * output.block.ld + j] =
              0 <= j && j < columns ? from[i * p.stride + j] : T(0);
      }
      from += columns;
    }
    __syncwarp();
  }
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
  const CombineShared<T> memory(p.depth, p.across);
  p.stride = memory.stride;
  p.c_stride = memory.c_stride;
  p.c = c;
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
  std::array<device::CombineOutput<T>, 2> outputs;
  std::size_t count = 0;
  for (const OutputColumns<T>& o : task.outputs) {
    if (!o) continue;
    outputs[count] = {o.block()};
    if (o.first()) {
      outputs[count].before = o.first_column;
      outputs[count].whole = static_cast<std::int32_t>(o.view().rows) - o.first_column;
    }
    ++count;
  }
  device::launch_combine<T>(on.stream, task.rows, blocks_of<const T>(task.inputs), {outputs.data(), count},
                            task.c.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(Combine<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
