// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/merge_batch.hpp>

namespace tessera::kernels {

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
/// columns (`turned`, W) and the secular vectors (`secular`, W). Flops: 1.3 order^3 a merge without
/// deflation.
void launch_tree_update(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch, TreeMatrix q,
                        TreeMatrix turned, TreeMatrix secular);

}  // namespace tessera::kernels
