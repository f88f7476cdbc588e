// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// The first and the last steps of the tridiagonal divide and conquer: scaling and cutting T, the leaves,
/// scaling the eigenvalues back.
namespace tessera::detail::kernels {

/// Copies T to double, scaled by a power of two so that its largest element lies in [1/2, 1), and cuts it:
/// the elements of the diagonal on both sides of a cut lose |e| (Cuppen's rank-one tearing).
///
/// n, d, e             (R) order, diagonal (n), off-diagonal (n - 1)
/// leaf                cuts lie at every multiple of leaf below n
/// scaled_d, scaled_e  (W) n and n - 1 doubles; e keeps the cut elements
/// exponent            (W) T = 2^exponent * scaled T
/// Returns 0, or 1 + the index of the first row whose d or e is not finite (the outputs are zeros then).
template <class R>
Index scale_and_cut(Index n, const R* d, const R* e, Index leaf, double* scaled_d, double* scaled_e,
                    int* exponent) noexcept;

/// w_i := 2^exponent values_i for i in [begin, end), stored from w[0].
template <class R>
void unscale_values(const double* values, Index begin, Index end, int exponent, R* w) noexcept;

/// Doubles and ints of scratch for leaf_eigenvectors.
constexpr Index leaf_real_scratch(Index m) noexcept {
  return 2 * m * m + 7 * m + 1;
}
constexpr Index leaf_integer_scratch(Index m) noexcept {
  return 5 * m + 3;
}

/// Eigenvectors of a leaf by LAPACK's dstedc (in double, rounded to R at the end).
///
/// m, d, e   (R) order, diagonal, off-diagonal
/// spectrum  (W) eigenvalues and boundary rows
/// q, ldq    (W) eigenvectors, m x m
/// Returns LAPACK's info; if it is not 0 the outputs are zeros.
/// Flops: about 4/3 to 8 m^3.
template <class R>
int leaf_eigenvectors(Index m, const double* d, const double* e, divide_and_conquer::NodeSpectrum spectrum,
                      R* q, Index ldq, double* real_scratch, int* integer_scratch) noexcept;

/// Bytes of scratch for subtree_values, aligned to 8 bytes.
std::size_t subtree_scratch_bytes(Index m) noexcept;

/// Eigenvalues and, if `rows`, boundary rows of a piece of T by an inner divide and conquer, down to pieces
/// of 32 rows (LAPACK's dsteqr), in O(m^2).
///
/// m, d, e   (R) order, diagonal, off-diagonal
/// epsilon   as in deflate
/// spectrum  (W) eigenvalues, boundary rows (scratch if not asked for)
/// Returns 0, or a number that is not 0 if a piece did not converge or met numbers that are not finite.
int subtree_values(Index m, const double* d, const double* e, double epsilon, bool rows,
                   divide_and_conquer::NodeSpectrum spectrum, void* scratch) noexcept;

// On a GPU: all pointers are device memory unless stated otherwise, and the functions enqueue.

/// kernels::scale_and_cut. d, e: R of the device; scaled_exponent as a double. `failure` becomes 1 + the
/// first row that is not finite.
template <class R>
void launch_scale_and_cut(CUstream_st* stream, Index n, const R* d, const R* e, Index leaf, double* scaled_d,
                          double* scaled_e, double* exponent, long long* failure);

/// kernels::unscale_values of n values.
template <class R>
void launch_unscale(CUstream_st* stream, Index n, const double* values, const double* exponent, R* w);

/// A forest of leaves: leaf t starts at element t stride of d and e.
struct LeafForest {
  divide_and_conquer::Forest forest;
  const double* d;
  const double* e;
  double epsilon;
  long long* failure;        ///< becomes 1 + t stride if a piece of leaf t does not converge or meets
                             ///< numbers that are not finite
  Index failure_stride = 0;  ///< from the failure of one leaf to that of the next; 0: one for all
};

/// Eigenvalues and, if `rows`, boundary rows of every leaf by an inner divide and conquer, all leaves at once
/// and level by level, from pieces of at most 32 rows (implicit QL, one warp each). scratch:
/// forest_scratch_bytes(forest, false).
/// spectra: 3 doubles a row of the forest (W): leaf t is a NodeSpectrum at 3 t leaf.
void launch_leaf_values(CUstream_st* stream, const LeafForest& leaves, bool rows, double* spectra,
                        void* scratch);

/// The same with eigenvectors: leaf t gets q[t], tree_rows(t) squared, leading dimension ldq[t].
/// At most max_leaves leaves; scratch: forest_scratch_bytes(forest, true). Flops: 4/3 sum of leaf^3.
inline constexpr Index max_leaves = 64;
template <class R>
void launch_leaf_vectors(CUstream_st* stream, const LeafForest& leaves, double* const* spectra, R* const* q,
                         const Index* ldq, void* scratch);

/// The same of any number of leaves; the results stay in the scratch: spectra as of launch_leaf_values, and
/// the eigenvectors of leaf t at vectors + t order^2, order = min(forest.leaf, forest.rows), which is their
/// leading dimension, too.
struct LeafResults {
  const double* spectra;
  const double* vectors;
};
LeafResults launch_leaf_vectors(CUstream_st* stream, const LeafForest& leaves, void* scratch);

}  // namespace tessera::detail::kernels
