// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_device.cuh>

namespace tessera::detail::kernels {
namespace {

using namespace device;
using divide_and_conquer::Child;
using divide_and_conquer::MergeBatch;
using divide_and_conquer::MergeHeader;

/// turned(:, slot) := the column of diag(Q1, Q2) that the slot is taken from.
__global__ void __launch_bounds__(128)
    gather_kernel(const MergeBatch batch, TreeMatrix q, TreeMatrix turned) {
  const Merge merge = Merge::of(batch, blockIdx.z);
  const Index m = merge.node.order(), begin = merge.node.begin, left = merge.node.left;
  const Index i = Index(blockIdx.x) * 128 + threadIdx.x;
  if (i >= m) return;
  for (Index slot = blockIdx.y; slot < m; slot += gridDim.y) {
    const Index column = merge.record.slot_column()[slot];
    const bool inside = (column < left) == (i < left);
    turned.at(merge.node.tree, begin + i, begin + slot) =
        inside ? q.at(merge.node.tree, begin + i, begin + column) : 0.0;
  }
}

/// The rotations in order, one thread a row.
__global__ void __launch_bounds__(128) rotate_kernel(const MergeBatch batch, TreeMatrix turned) {
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Index m = merge.node.order(), begin = merge.node.begin;
  const Index i = Index(blockIdx.x) * 128 + threadIdx.x;
  if (i >= m) return;
  const Record& record = merge.record;
  const int rotations = static_cast<int>(record.header->rotations);
  double carried = 0;
  Index carried_slot = -1;
  for (int r = 0; r < rotations; ++r) {
    const Index sx = record.rotation_x()[r], sy = record.rotation_y()[r];
    double& x = turned.at(merge.node.tree, begin + i, begin + sx);
    double& y = turned.at(merge.node.tree, begin + i, begin + sy);
    const double c = record.cosine()[r], s = record.sine()[r];
    const double low = sx == carried_slot ? carried : x, high = y;
    x = c * low + s * high;
    y = carried = c * high - s * low;
    carried_slot = sy;
  }
}

/// Secular vectors by root, rows by slot, one thread block for each column.
__global__ void __launch_bounds__(128) vectors_kernel(const MergeBatch batch, TreeMatrix secular) {
  __shared__ double sums[4];
  const Merge merge = Merge::of(batch, blockIdx.y);
  const Record& record = merge.record;
  const int poles = record.poles(), k = static_cast<int>(blockIdx.x);
  if (k >= poles) return;
  const double* __restrict__ d = record.value();
  const double* __restrict__ w = record.weight();
  const double base = record.base()[k], offset = record.offset()[k];
  double factor = fabs(offset), norm2 = 0;
  double* column = &secular.at(merge.node.tree, merge.node.begin, merge.node.begin + k);
  for (int p = threadIdx.x; p < poles; p += 128) {
    const double v = w[p] * factor * fast_reciprocal((d[p] - base) - offset);
    norm2 += v * v;
    column[p] = v;
  }
  norm2 = warp_sum(norm2);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = norm2;
  __syncthreads();
  const double scale = 1.0 / sqrt(sums[0] + sums[1] + sums[2] + sums[3]);
  for (int p = threadIdx.x; p < poles; p += 128) column[p] *= scale;
}

constexpr int tile = 64, depth = 16, threads = 256;

/// q(rows, columns) of one 64 x 64 part: a product for the columns of roots, copies for deflated columns. A
/// thread owns 4 x 4 elements, 16 apart.
__global__ void __launch_bounds__(threads)
    update_kernel(const MergeBatch batch, TreeMatrix q, TreeMatrix turned, TreeMatrix secular) {
  __shared__ double a[depth][tile + 1], b[depth][tile + 1];
  __shared__ int source[tile];
  const Merge merge = Merge::of(batch, blockIdx.z);
  const MergeHeader& header = *merge.record.header;
  const Index tree = merge.node.tree, begin = merge.node.begin;
  const int m = static_cast<int>(merge.node.order()), left = static_cast<int>(merge.node.left);
  const int row0 = static_cast<int>(blockIdx.x) * tile, column0 = static_cast<int>(blockIdx.y) * tile;
  if (row0 >= m || column0 >= m) return;
  const int poles = static_cast<int>(header.poles);
  if (threadIdx.x < tile)
    source[threadIdx.x] =
        column0 + static_cast<int>(threadIdx.x) < m
            ? static_cast<int>(merge.record.output()[column0 + static_cast<int>(threadIdx.x)])
            : poles;
  // The slots whose columns can be nonzero in these rows.
  const int first = row0 < left ? 0 : static_cast<int>(header.pole_group[0]);
  const int stop =
      min(row0 + tile, m) > left ? poles : static_cast<int>(header.pole_group[0] + header.pole_group[1]);
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  double sum[4][4] = {};
  __syncthreads();
  for (int p0 = first; p0 < stop; p0 += depth) {
#pragma unroll
    for (int l = threadIdx.x; l < tile * depth; l += threads) {
      const int i = l % tile, p = l / tile;
      a[p][i] = row0 + i < m && p0 + p < stop ? turned.at(tree, begin + row0 + i, begin + p0 + p) : 0.0;
    }
#pragma unroll
    for (int l = threadIdx.x; l < tile * depth; l += threads) {
      const int p = l % depth, j = l / depth;
      b[p][j] =
          source[j] < poles && p0 + p < stop ? secular.at(tree, begin + p0 + p, begin + source[j]) : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < depth; ++p) {
      double x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = a[p][tx + 16 * i];
#pragma unroll
      for (int j = 0; j < 4; ++j) y[j] = b[p][ty + 16 * j];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = row0 + tx + 16 * i, c = ty + 16 * j, column = column0 + c;
      if (row >= m || column >= m) continue;
      q.at(tree, begin + row, begin + column) =
          source[c] < poles ? sum[i][j] : turned.at(tree, begin + row, begin + source[c]);
    }
}

}  // namespace

void launch_tree_update(cudaStream_t stream, const MergeBatch& batch, TreeMatrix q, TreeMatrix turned,
                        TreeMatrix secular) {
  const Index m = batch.largest_order();
  const unsigned merges = static_cast<unsigned>(batch.merges());
  gather_kernel<<<dim3(blocks_for(m, 128), blocks_for(m, 1, 256), merges), 128, 0, stream>>>(batch, q,
                                                                                             turned);
  rotate_kernel<<<dim3(blocks_for(m, 128), merges), 128, 0, stream>>>(batch, turned);
  vectors_kernel<<<dim3(static_cast<unsigned>(m), merges), 128, 0, stream>>>(batch, secular);
  update_kernel<<<dim3(blocks_for(m, tile), blocks_for(m, tile), merges), threads, 0, stream>>>(
      batch, q, turned, secular);
}

}  // namespace tessera::detail::kernels
