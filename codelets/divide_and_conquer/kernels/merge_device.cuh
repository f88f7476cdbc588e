// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>

/// Views and collective operations in the kernels of the tridiagonal divide and conquer.
namespace tessera::detail::device {

/// MergeRecord on the device. It computes pointers where they are used, so that they take no registers.
struct Record {
  divide_and_conquer::MergeHeader* header;
  Index m;

  __host__ __device__ Record(char* buffer, Index order)
      : header(reinterpret_cast<divide_and_conquer::MergeHeader*>(buffer)), m(order) {}
  __device__ double* real(int i) const { return reinterpret_cast<double*>(header + 1) + i * m; }
  __device__ Index* integer(int i) const {
    return reinterpret_cast<Index*>(real(divide_and_conquer::MergeRecord::double_arrays)) + i * m;
  }
  // In the order of MergeRecord's constructor.
  __device__ double* pole() const { return real(0); }
  __device__ double* z() const { return real(1); }
  __device__ double* base() const { return real(2); }
  __device__ double* offset() const { return real(3); }
  __device__ double* value() const { return real(4); }
  __device__ double* weight() const { return real(5); }
  __device__ double* first_row() const { return real(6); }
  __device__ double* last_row() const { return real(7); }
  __device__ double* root_first() const { return real(8); }
  __device__ double* root_last() const { return real(9); }
  __device__ double* cosine() const { return real(10); }
  __device__ double* sine() const { return real(11); }
  __device__ Index* rotation_x() const { return integer(0); }
  __device__ Index* rotation_y() const { return integer(1); }
  __device__ Index* slot_column() const { return integer(2); }
  __device__ Index* pole_slot() const { return integer(3); }
  __device__ Index* deflated() const { return integer(4); }
  __device__ Index* output() const { return integer(5); }
  __device__ int poles() const { return static_cast<int>(header->poles); }
};

/// A NodeSpectrum of a child or of the merged node.
struct Spectrum {
  double* value;
  double* first_row;
  double* last_row;
  __device__ Spectrum(const double* buffer, Index m)
      : value(const_cast<double*>(buffer)), first_row(value + m), last_row(value + 2 * m) {}
};

/// The children and the record of a merge of a batch.
struct Merge {
  divide_and_conquer::MergeNode node;
  Record record;
  Spectrum left, right, merged;

  __device__ static Merge of(const divide_and_conquer::MergeBatch& batch, Index merge) {
    const divide_and_conquer::MergeNode node = batch.node(merge);
    const Index row = batch.row(node);
    return {node, Record(batch.record(merge, node), node.order()), Spectrum(batch.left + 3 * row, node.left),
            Spectrum(batch.right + 3 * (row + node.left), node.right),
            Spectrum(batch.merged + 3 * row, node.order())};
  }
};

/// Running sums over a thread block: `next` returns the sum of the x of all threads before this one and of
/// all earlier calls; `total` is the sum so far. All threads call it.
class BlockScan {
 public:
  using Count = unsigned long long;
  /// `shared` has room for 33 counts.
  __device__ explicit BlockScan(Count* shared) : shared_(shared) {}
  __device__ Count next(Count x) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
    Count sum = x;
    for (int distance = 1; distance < 32; distance *= 2) {
      const Count other = __shfl_up_sync(~0u, sum, distance);
      if (lane >= distance) sum += other;
    }
    if (lane == 31) shared_[warp] = sum;
    __syncthreads();
    if (warp == 0) {
      Count all = lane < warps ? shared_[lane] : 0;
      for (int distance = 1; distance < 32; distance *= 2) {
        const Count other = __shfl_up_sync(~0u, all, distance);
        if (lane >= distance) all += other;
      }
      shared_[lane] = all;
    }
    __syncthreads();
    const Count before = total + (warp > 0 ? shared_[warp - 1] : 0) + sum - x;
    total += shared_[warps - 1];
    __syncthreads();
    return before;
  }
  Count total = 0;

 private:
  Count* shared_;
};

}  // namespace tessera::detail::device

namespace tessera::detail::kernels {

/// One square matrix for each tree of a forest; a node owns the diagonal block of its rows.
struct TreeMatrix {
  double* data;
  Index ld, tree_stride;
#ifdef __CUDACC__
  __device__ double& at(Index tree, Index i, Index j) const {
    return data[tree * tree_stride + j * ld + i];
  }
#endif
};

/// The eigenvectors of all merges of a batch of trees: q (read-write) becomes the product of its turned
/// columns (`turned`, W) and the secular vectors (`secular`, W). Flops: 1.3 order^3 for a merge without
/// deflation.
void launch_tree_update(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch, TreeMatrix q,
                        TreeMatrix turned, TreeMatrix secular);

}  // namespace tessera::detail::kernels
