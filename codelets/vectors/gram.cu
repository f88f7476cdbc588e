// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/gram.hpp>
#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/kernels/row_tiles.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = 256, warps = threads / 32;
/// Tiles of 8 x 8 that a warp has of the result: enough warps for 96 x 64.
constexpr int down = 3, across = 4;

/// The most columns of a launch, on either side.
constexpr int most_left = 3 * max_block_columns, most_right = 2 * max_block_columns;

constexpr int ceil_of(int x, int y) {
  return (x + y - 1) / y;
}

/// The shared memory for a result of tiles_down x tiles_across tiles: two tiles of rows, or the result.
template <class T>
struct GramShared {
  int stride, tile_rows, bytes;
  constexpr GramShared(int tiles_down, int tiles_across)
      : stride(tile_stride<T>(8 * (tiles_down + tiles_across), false)),
        tile_rows(std::clamp(24 * 1024 / (stride * int(sizeof(T))) / 32 * 32, 32, 256)),
        bytes(std::max(2 * tile_rows * stride * int(sizeof(T)),
                       tiles_down * tiles_across * 64 * int(sizeof(double)))) {}
};
template <class T>
constexpr int max_gram_bytes() {
  int most = 0;
  for (int i = 1; i <= most_left / 8; ++i)
    for (int j = 1; j <= most_right / 8; ++j) most = std::max(most, GramShared<T>(i, j).bytes);
  return most;
}

template <class T>
struct GramProblem {
  BlockRow<const T, 3> left;
  BlockRow<const T, 2> right;
  std::int64_t rows;
  int tile_rows, stride, right_column;  ///< of the rows in shared memory
  int tiles_down, tiles_across;         ///< of the result, 8 x 8
  int warps_down, warps_across, warps_deep;
  double* parts;
};

/// Each thread block adds up the products of every gridDim.x-th tile of rows, which come to shared memory
/// while the tile before is worked on. Warps share the result's tiles, and the rows where there are fewer
/// tiles than warps.
template <class T>
__global__ void __launch_bounds__(threads, 2) gram_kernel(const __grid_constant__ GramProblem<T> p) {
  extern __shared__ __align__(16) char shared[];
  T* const tiles = reinterpret_cast<T*>(shared);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  const int my_down = warp % p.warps_down * down, my_across = warp / p.warps_down % p.warps_across * across,
            deep = warp / (p.warps_down * p.warps_across);
  double sum[down][across][2] = {};

  const auto bring = [&](std::int64_t t, int buffer) {
    T* const tile = tiles + buffer * p.tile_rows * p.stride;
    copy_rows(p.left, t * p.tile_rows, p.tile_rows, p.rows, tile, p.stride, 0, thread, threads);
    copy_rows(p.right, t * p.tile_rows, p.tile_rows, p.rows, tile, p.stride, p.right_column, thread, threads);
  };
  const std::int64_t count = (p.rows + p.tile_rows - 1) / p.tile_rows;
  if (blockIdx.x < count) bring(blockIdx.x, 0);
  commit_copies();
  int buffer = 0;
  for (std::int64_t t = blockIdx.x; t < count; t += gridDim.x, buffer ^= 1) {
    if (t + gridDim.x < count) bring(t + gridDim.x, buffer ^ 1);
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    const T* const tile = tiles + buffer * p.tile_rows * p.stride + lane % 4 * p.stride + lane / 4;
    if (deep < p.warps_deep)
      for (int k = 4 * deep; k < p.tile_rows; k += 4 * p.warps_deep) {
        double a[down], b[across];
#pragma unroll
        for (int i = 0; i < down; ++i)
          a[i] = my_down + i < p.tiles_down ? double(tile[k * p.stride + 8 * (my_down + i)]) : 0;
#pragma unroll
        for (int j = 0; j < across; ++j)
          b[j] = my_across + j < p.tiles_across
                     ? double(tile[k * p.stride + p.right_column + 8 * (my_across + j)])
                     : 0;
#pragma unroll
        for (int i = 0; i < down; ++i)
#pragma unroll
          for (int j = 0; j < across; ++j)
            if (my_down + i < p.tiles_down && my_across + j < p.tiles_across)
              mma_8x8x4(sum[i][j], a[i], b[j]);
      }
    __syncthreads();
  }

  wait_for_copies<0>();
  double* const g = reinterpret_cast<double*>(shared);  // column-major, whole tiles
  const int ld = 8 * p.tiles_down;
  for (int s = 0; s < p.warps_deep; ++s) {
    if (deep == s) {
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int j = 0; j < across; ++j)
          if (my_down + i < p.tiles_down && my_across + j < p.tiles_across) {
            double* const to = g + 8 * (my_down + i) + lane / 4 + (8 * (my_across + j) + 2 * (lane % 4)) * ld;
            to[0] = s == 0 ? sum[i][j][0] : to[0] + sum[i][j][0];
            to[ld] = s == 0 ? sum[i][j][1] : to[ld] + sum[i][j][1];
          }
    }
    __syncthreads();
  }
  const int l = p.left.columns, elements = l * p.right.columns;
  for (int e = thread; e < elements; e += threads)
    p.parts[std::int64_t(blockIdx.x) * elements + e] = g[e % l + e / l * ld];
}

/// A part of g, whose columns are ld numbers apart.
template <class T>
void launch_part(cudaStream_t stream, std::int64_t rows, std::span<const VectorBlock<const T>> left,
                 std::span<const VectorBlock<const T>> right, double* g, int ld, double* parts) {
  GramProblem<T> p{};
  p.left = BlockRow<const T, 3>::of(left);
  p.right = BlockRow<const T, 2>::of(right);
  const int elements = p.left.columns * p.right.columns;
  if (elements == 0) return;
  p.rows = rows;
  p.tiles_down = ceil_of(p.left.columns, 8);
  p.tiles_across = ceil_of(p.right.columns, 8);
  p.right_column = 8 * p.tiles_down;
  const GramShared<T> memory(p.tiles_down, p.tiles_across);
  p.stride = memory.stride;
  p.tile_rows = memory.tile_rows;
  p.warps_down = ceil_of(p.tiles_down, down);
  p.warps_across = ceil_of(p.tiles_across, across);
  p.warps_deep = warps / (p.warps_down * p.warps_across);
  const auto blocks =
      static_cast<int>(std::clamp<std::int64_t>((rows + p.tile_rows - 1) / p.tile_rows, 1, gram_parts));
  p.parts = parts;
  // The same bound for every launch: another thread may be about to launch.
  constexpr int max_bytes = max_gram_bytes<T>();
  cudaFuncSetAttribute(gram_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, max_bytes);
  gram_kernel<T>
      <<<static_cast<unsigned>(blocks), threads, static_cast<std::size_t>(memory.bytes), stream>>>(p);
  add_parts(stream, blocks, elements, p.parts, g, p.left.columns, ld);
}

/// The first blocks with at most `most` columns in all, of which each has fewer.
template <class T>
std::span<const VectorBlock<const T>> first_of(std::span<const VectorBlock<const T>> blocks, int most) {
  std::size_t count = 0;
  for (int columns = 0; count < blocks.size() && columns + blocks[count].columns <= most; ++count)
    columns += blocks[count].columns;
  return blocks.first(count);
}

}  // namespace

template <class T>
void launch_gram(cudaStream_t stream, std::int64_t rows, std::span<const VectorBlock<const T>> left,
                 std::span<const VectorBlock<const T>> right, double* g, double* parts) {
  const int ld = columns_of(left);
  while (!right.empty()) {
    const auto across = first_of<T>(right, most_right);
    double* to = g;
    for (auto rest = left; !rest.empty();) {
      const auto down = first_of<T>(rest, most_left);
      launch_part<T>(stream, rows, down, across, to, ld, parts);
      to += columns_of(down);
      rest = rest.subspan(down.size());
    }
    g += columns_of(across) * ld;
    right = right.subspan(across.size());
  }
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void launch_gram<T>(cudaStream_t, std::int64_t, std::span<const VectorBlock<const T>>, \
                               std::span<const VectorBlock<const T>>, double*, double*);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace device

template <class T>
void run(const DeviceContext& on, const Gram<T>& task) {
  using R = RealOf<T>;
  device::launch_gram<R>(on.stream, task.rows, blocks_of<const R>(task.left), blocks_of<const R>(task.right),
                         task.g.view().data(), task.work.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(Gram<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
