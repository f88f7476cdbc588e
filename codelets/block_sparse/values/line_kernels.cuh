// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/block_sparse/values/panel_lines.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>

/// Sums along the rows, or the columns, of a panel: a thread block owns the lines of a row (column) of blocks,
/// its groups of lanes take shares of the terms, and the shares are added in a fixed order. No atomics: the
/// same bits in every run.
namespace tessera::detail::device {

inline constexpr int line_threads = 256, line_width = 4;

/// The panel that sums are taken of, in device memory.
struct LinePanel {
  const PanelBlock* blocks;
  const BlockLines* lines;
  PanelOrder order;
  Index block_rows, block_cols;
};

/// Lanes for so many neighbours: a power of two.
__device__ inline int lanes_for(int count) {
  int lanes = 4;
  while (lanes < count && lanes < 32) lanes *= 2;
  return lanes;
}

/// How the threads share the terms: groups of `lanes`, of which `across` take neighbouring lines of the other
/// direction and the rest other blocks.
struct LineShare {
  int lanes, groups, across, lane, group, position, block, blocks;
  __device__ LineShare(int along, int other)
      : lanes(lanes_for(along)),
        groups(line_threads / lanes),
        across(min(groups, lanes_for(other))),
        lane(static_cast<int>(threadIdx.x) % lanes),
        group(static_cast<int>(threadIdx.x) / lanes),
        position(group % across),
        block(group / across),
        blocks(groups / across) {}
};

/// out[line + k ld] := the sum of `of` over the row `line` of the panel, for 0 <= k < width.
template <class V, class Of>
__global__ void __launch_bounds__(line_threads)
    row_lines_kernel(LinePanel panel, Of of, Index width, V* out, Index ld) {
  __shared__ __align__(16) unsigned char memory[sizeof(V) * line_threads * line_width];
  V* const shared = reinterpret_cast<V*>(memory);
  const std::int32_t begin = panel.order.row_begin[blockIdx.x], end = panel.order.row_begin[blockIdx.x + 1];
  if (begin == end) return;
  const Index first_k = Index(blockIdx.y) * line_width;
  const int rows = panel.blocks[begin].rows, first_row = panel.lines[begin].row;
  const LineShare share(rows, panel.blocks[begin].cols);
  for (int i0 = static_cast<int>(blockIdx.z) * share.lanes; i0 < rows;
       i0 += static_cast<int>(gridDim.z) * share.lanes) {
    const int i = i0 + share.lane;
    V sums[line_width];
    for (int k = 0; k < line_width; ++k) sums[k] = V(0);
    if (i < rows)
      for (std::int32_t b = begin + share.block; b < end; b += share.blocks) {
        const PanelBlock block = panel.blocks[b];
        if (!of.counts(block)) continue;
        const BlockLines at = panel.lines[b];
        for (int j = share.position; j < block.cols; j += share.across)
          for (int k = 0; k < line_width; ++k)
            if (first_k + k < width) sums[k] += of(block, i, j, at.col + j, first_k + k);
      }
    for (int k = 0; k < line_width; ++k) shared[k * line_threads + threadIdx.x] = sums[k];
    __syncthreads();
    const int k = static_cast<int>(threadIdx.x) / share.lanes;
    if (k < line_width && first_k + k < width && i < rows) {
      V sum(0);
      for (int g = 0; g < share.groups; ++g) sum += shared[k * line_threads + g * share.lanes + share.lane];
      out[first_row + i + (first_k + k) * ld] = sum;
    }
    __syncthreads();
  }
}

/// The same along the columns of the panel.
template <class V, class Of>
__global__ void __launch_bounds__(line_threads)
    col_lines_kernel(LinePanel panel, Of of, Index width, V* out, Index ld) {
  __shared__ __align__(16) unsigned char memory[sizeof(V) * line_threads * line_width];
  V* const shared = reinterpret_cast<V*>(memory);
  const std::int32_t begin = panel.order.col_begin[blockIdx.x], end = panel.order.col_begin[blockIdx.x + 1];
  if (begin == end) return;
  const Index first_k = Index(blockIdx.y) * line_width;
  const std::int32_t top = panel.order.by_col[begin];
  const int cols = panel.blocks[top].cols, first_col = panel.lines[top].col;
  const LineShare share(panel.blocks[top].rows, cols);
  for (int j0 = static_cast<int>(blockIdx.z) * share.across; j0 < cols;
       j0 += static_cast<int>(gridDim.z) * share.across) {
    const int j = j0 + share.position;
    V sums[line_width];
    for (int k = 0; k < line_width; ++k) sums[k] = V(0);
    if (j < cols)
      for (std::int32_t place = begin + share.block; place < end; place += share.blocks) {
        const std::int32_t b = panel.order.by_col[place];
        const PanelBlock block = panel.blocks[b];
        if (!of.counts(block)) continue;
        const BlockLines at = panel.lines[b];
        for (int i = share.lane; i < block.rows; i += share.lanes)
          for (int k = 0; k < line_width; ++k)
            if (first_k + k < width) sums[k] += of(block, i, j, at.row + i, first_k + k);
      }
    for (int k = 0; k < line_width; ++k) {
      for (int mask = share.lanes / 2; mask > 0; mask /= 2) sums[k] += exchange(sums[k], mask);
      if (share.lane == 0) shared[k * line_threads + share.group] = sums[k];
    }
    __syncthreads();
    const int k = static_cast<int>(threadIdx.x) / share.across,
              column = static_cast<int>(threadIdx.x) % share.across;
    if (k < line_width && first_k + k < width && j0 + column < cols) {
      V sum(0);
      for (int b = 0; b < share.blocks; ++b) sum += shared[k * line_threads + b * share.across + column];
      out[first_col + j0 + column + (first_k + k) * ld] = sum;
    }
    __syncthreads();
  }
}

/// Thread blocks for so many rows (columns) of blocks.
inline dim3 line_grid(Index count, Index width) noexcept {
  const auto y = static_cast<unsigned>(ceil_div(width, line_width));
  return {static_cast<unsigned>(count), y, blocks_for(full_grid, count * y, 16)};
}

/// out := sums of of(block, i, j, column of the panel, k) along the `rows` rows of the panel, for the blocks
/// that of.counts(block) names; zero where there is none. rows x width, without gaps.
template <class V, class Of>
void sum_along_rows(cudaStream_t stream, const LinePanel& panel, const Of& of, Index rows, Index width,
                    V* out) {
  cudaMemsetAsync(out, 0, static_cast<std::size_t>(rows * width) * sizeof(V), stream);
  if (panel.block_rows > 0)
    row_lines_kernel<<<line_grid(panel.block_rows, width), line_threads, 0, stream>>>(panel, of, width, out,
                                                                                      rows);
}

/// The same of of(block, i, j, row of the panel, k) along the `cols` columns.
template <class V, class Of>
void sum_along_cols(cudaStream_t stream, const LinePanel& panel, const Of& of, Index cols, Index width,
                    V* out) {
  cudaMemsetAsync(out, 0, static_cast<std::size_t>(cols * width) * sizeof(V), stream);
  if (panel.block_cols > 0)
    col_lines_kernel<<<line_grid(panel.block_cols, width), line_threads, 0, stream>>>(panel, of, width, out,
                                                                                      cols);
}

}  // namespace tessera::detail::device
