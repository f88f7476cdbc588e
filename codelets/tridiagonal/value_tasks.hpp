// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/tridiagonal/merge_batch.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets of the eigenvalue recursion of the tridiagonal divide and conquer: what the kernels of leaf.hpp,
/// deflate.hpp and secular.hpp do, as tasks. All data is double and of owner `every_rank`, except where a
/// parameter says otherwise.
///
/// Buffers by content, all untyped bytes:
///   scaled     ScaledTridiagonal of the whole problem (order n)
///   spectrum   NodeSpectrum of a node (3 m doubles)
///   record     MergeRecord of a merge (MergeRecord::bytes(m))
///   part       work of one part of a merge: 2 merge_part_capacity(m, parts) doubles
///   scratch    Data::scratch of merge_, leaf_ or kernels::subtree_scratch_bytes of the largest order
/// Flops: not counted unless given, the work depends on the deflation and is O(m^2) divisions. Footprint:
/// buffer sizes; of scale, subtree and unscale also the order of the piece and whether rows are wanted, of
/// the leaves the rows of the forest and of a leaf. All but the steps of a merge in parts run on CPUs and
/// GPUs; the leaves, subtrees and merges on CPUs only where there are no GPUs (not with
/// RuntimeOptions::hybrid either): where there are, a task is all leaves or a merge as a whole, which one
/// core would delay for long.
namespace tessera {

/// T in double, scaled and cut, as one buffer.
struct ScaledTridiagonal {
  double* d;
  double* e;
  double* exponent;  ///< T = 2^exponent * scaled T

  static constexpr std::size_t bytes(Index n) noexcept {
    return static_cast<std::size_t>(2 * n + 1) * sizeof(double);
  }
  ScaledTridiagonal(void* buffer, Index n) noexcept
      : d(static_cast<double*>(buffer)), e(d + n), exponent(e + n) {}
};

/// Scratch for a whole merge of order m, or its deflation.
std::size_t merge_scratch_bytes(Index m) noexcept;
/// Scratch for insert_tridiagonal_leaves, and for insert_tridiagonal_subtree of order m.
std::size_t leaf_scratch_bytes(const tridiagonal::Forest& forest, bool on_gpu) noexcept;
std::size_t subtree_scratch_bytes(Index m, bool on_gpu) noexcept;

/// Codelet tridiagonal_scale_R: kernels::scale_and_cut.
/// Buffers: d (read, n reals), e (read, n - 1 reals), scaled (write). Fails with not_finite, index: the row
/// from 1.
template <class R>
void insert_tridiagonal_scale(Sequence& sequence, int priority, Index n, Index leaf, const Data& d,
                              const Data& e, const Data& scaled);

/// What a leaf leaves behind.
struct LeafData {
  const Data *q, *spectrum;
};

/// Codelet tridiagonal_leaf_R: kernels::leaf_eigenvectors of all leaves of a forest whose first row is row
/// `start`: one task for many leaves is meant for GPUs, which solve them together (most_leaves at most).
/// Buffers: scaled (read), scratch, then for each leaf its q (write, m x m matrix of R; the first decides the
/// rank) and its spectrum (write). Flops: 4 m^3 (typical). Fails with no_convergence, index: first row of a
/// leaf, from 1.
template <class R>
void insert_tridiagonal_leaves(Sequence& sequence, int priority, Index n, Index start,
                               const tridiagonal::Forest& forest, double epsilon, const Data& scaled,
                               std::span<const LeafData> leaves, const Data& scratch);

/// Codelet tridiagonal_subtree: kernels::subtree_values of rows [start, start + m).
/// Buffers: scaled (read), spectrum (write), scratch. Fails with no_convergence, index: start + 1.
void insert_tridiagonal_subtree(Sequence& sequence, int priority, Index n, Index start, Index m,
                                double epsilon, bool rows, const Data& scaled, const Data& spectrum,
                                const Data& scratch);

/// Codelet tridiagonal_unscale_R: kernels::unscale_values of the whole spectrum.
/// Buffers: scaled (read), spectrum (read), values (write, n reals).
template <class R>
void insert_tridiagonal_unscale(Sequence& sequence, int priority, Index n, const Data& scaled,
                                const Data& spectrum, const Data& values);

/// One merge: which rows, and what its result is needed for.
struct MergeShape {
  Index n = 0;    ///< order of the whole problem
  Index cut = 0;  ///< first row of the right child
  Index left = 0, right = 0;
  double epsilon = 0;   ///< as in kernels::deflate
  bool weights = true;  ///< the vectors, of this node or of its parent, need the weights
  bool rows = true;     ///< there is a parent
  Index order() const noexcept { return left + right; }
};

/// The data of a merge.
struct MergeData {
  const Data &scaled, &left, &right, &record, &merged, &scratch;
};

/// Codelet tridiagonal_merge: a whole merge as one task: a small one, or any on a GPU.
/// Buffers: scaled, left, right (read), record, merged (write), scratch. Fails with no_convergence, index:
/// cut + 1.
void insert_tridiagonal_merge(Sequence& sequence, int priority, const MergeShape& shape,
                              const MergeData& data);

/// Doubles in one half of a part's buffer.
constexpr Index merge_part_capacity(Index m, Index parts) noexcept {
  return m / parts + 2;
}

/// The same merge in steps, on CPUs only, each step in `parts.size()` parts that share the poles evenly (how
/// many there are is known only when the tasks run):
///   deflate       scaled, left, right (read), record (write), scratch
///   secular_roots record (read), part (write)              | gather: record (read-write), parts (read)
///   secular_weights record (read), part (write)            | gather: record (read-write), parts (read)
///   secular_rows  record (read), part (write)              | order: record (read-write), merged (write),
///   parts (read)
void insert_tridiagonal_merge_in_parts(Sequence& sequence, int priority, const MergeShape& shape,
                                       const MergeData& data, std::span<const Data> parts);

}  // namespace tessera
