// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/divide_and_conquer/merge_batch.hpp>

/// The kernels of leaf.hpp on the device. T comes as `scaled`: d, e and exponent as in ScaledTridiagonal.
namespace tessera::kernels {

/// kernels::scale_and_cut. d, e: R of the device; scaled_exponent as a double. `failure` becomes 1 + the
/// first row that is not finite.
template <class R>
void launch_scale_and_cut(cudaStream_t stream, Index n, const R* d, const R* e, Index leaf, double* scaled_d,
                          double* scaled_e, double* exponent, long long* failure);

/// kernels::unscale_values of n values.
template <class R>
void launch_unscale(cudaStream_t stream, Index n, const double* values, const double* exponent, R* w);

/// A forest of leaves: leaf t starts at element t stride of d and e.
struct LeafForest {
  divide_and_conquer::Forest forest;
  const double* d;
  const double* e;
  double epsilon;
  long long* failure;  ///< becomes 1 + t stride if a piece of leaf t does not converge or meets
                       ///< numbers that are not finite
};

/// Eigenvalues and, if `rows`, boundary rows of every leaf: a divide and conquer of its own, all leaves at
/// once and level by level, from pieces of at most 32 rows (implicit QL, one warp each).
/// scratch: forest_scratch_bytes(forest, false).
/// spectra: 3 doubles a row of the forest (W): leaf t is a NodeSpectrum at 3 t leaf.
void launch_leaf_values(cudaStream_t stream, const LeafForest& leaves, bool rows, double* spectra,
                        void* scratch);

/// The same with eigenvectors: leaf t gets q[t], tree_rows(t) squared, leading dimension ldq[t].
/// At most max_leaves leaves; scratch: forest_scratch_bytes(forest, true). Flops: 4/3 sum of leaf^3.
inline constexpr Index max_leaves = 64;
template <class R>
void launch_leaf_vectors(cudaStream_t stream, const LeafForest& leaves, double* const* spectra, R* const* q,
                         const Index* ldq, void* scratch);

}  // namespace tessera::kernels
