// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Eigenvalues, and afterwards eigenvectors of any index range, of a real symmetric tridiagonal matrix T by
/// Cuppen's divide and conquer.
///
/// VALUES. T is cut into leaves (dstedc where vectors are wanted, else a sequential recursion of its own),
/// and neighbours are merged pairwise up to the root. A node hands up its eigenvalues and the first and last
/// row of its eigenvector matrix, which is all that a merge needs; so this part is O(n^2) in work and O(n) a
/// level in memory, and with MPI every rank runs it for itself on its own copy, with bitwise equal results
/// (given equal instruction sets, and GPUs on all ranks or on none). A merge leaves a record
/// (divide_and_conquer::MergeRecord): deflation, rotations, roots, weights. Large merges are cut into parts
/// for all workers.
///
/// VECTORS. The rows of a leaf are a row block, dealt to the ranks in turn. A merge multiplies each row block
/// from the right, so row blocks never meet: pack its columns that matter, one GEMM a tile with the secular
/// vectors, which each rank computes for itself, and copies for deflated columns. Only the wanted columns are
/// formed at the root; they are then gathered in the slabs. Flops without deflation: n^2 count in the last
/// merge for count vectors and n^3/3 in all those below it. Memory: 3/2 n^2 elements and a few panels of
/// secular vectors (n x tile each) at the last merge.
///
/// ON GPUS. The same tree with other sizes: a merge is one task (its kernels fill a GPU), the leaves are
/// solved many at a time by a divide and conquer inside the codelet (all rows at once where no vectors are
/// wanted), row blocks have up to 1024 rows and tiles up to 4096 columns. Records stay on the GPU; what
/// decides the size of a product comes to the host in a small piece of its own (PanelOutline), so that no
/// task waits for it and no deflated column is multiplied. Memory at the last merge: n^2 packed columns, two
/// panels of n x tile and a few tiles, beside the slabs.
///
/// Priorities: values 64 + depth of the node; vectors 4 depth + (3: pack, update; 2: secular vectors), slabs
/// 4: tasks deep in the tree come first, and tasks that free memory before tasks that take it.
///
/// Failures: not_finite, index: row of T from 1; no_convergence, index: first row of the piece, from 1.
/// Sources: Cuppen, Numer. Math. 36 (1981); Gu & Eisenstat, SIAM J. Matrix Anal. Appl. 16 (1995); Tisseur &
/// Dongarra, SIAM J. Sci. Comput. 20 (1999).
///
/// T: type of the eigenvectors wanted (real vectors are widened to complex in the slabs).
template <class T>
class TridiagonalEigen {
 public:
  /// Submits the eigenvalue recursion; nothing waits.
  /// @param n             order, >= 1
  /// @param d             n reals, every_rank bytes, read
  /// @param e             n - 1 reals (at least one allocated), every_rank bytes, read
  /// @param want_vectors  keep what submit_vectors needs: n x leaf eigenvectors and O(n log n) of records
  TridiagonalEigen(Sequence& sequence, Index n, const Data& d, const Data& e, bool want_vectors);
  TridiagonalEigen(TridiagonalEigen&&) noexcept = default;
  TridiagonalEigen& operator=(TridiagonalEigen&&) noexcept = default;

  /// n reals ascending, every_rank bytes.
  const Data& values() const noexcept { return values_; }

  /// Submits the eigenvectors of the eigenvalues [lo, hi), ascending from 0, into z: n x (hi - lo), any slab
  /// width, written completely. In the same sequence, or in another one after the values were waited for; as
  /// often as wanted. split_products: products of float on GPUs by split operands
  /// (codelets/linalg/split_products.hpp).
  void submit_vectors(Sequence& sequence, Index lo, Index hi, const ColumnSlabs<T>& z,
                      bool split_products = true);

  /// Rows of a leaf and columns of a tile.
  Index leaf() const noexcept { return leaf_; }

 private:
  using Real = RealOf<T>;

  struct Node {
    Index first_leaf, leaves;  ///< leaves == 1: a leaf
    Index start, order;        ///< rows of T
    int depth;
    int left = -1, right = -1;
    Data record;  ///< of a merge
    Data spectrum;
    Data vectors;  ///< of a leaf, on the rank of its row block
  };
  struct VectorPass;

  void submit_values(Sequence& sequence, const Data& d, const Data& e);
  int plan(Index first_leaf, Index leaves, int depth);
  int block_owner(Index leaf) const;
  int block_gpu(Index leaf) const;
  Index block_rows(Index leaf) const { return std::min(leaf_, n_ - leaf * leaf_); }
  Data spectrum_piece(Index order, int owner) const;
  void submit_leaves(Sequence& sequence, int priority, const Data& scaled);
  void submit_leaf_values(Sequence& sequence, int priority, const Data& scaled,
                          const std::vector<Node*>& leaves);
  void submit_leaf_vectors(Sequence& sequence, int priority, const Data& scaled,
                           const std::vector<Node*>& leaves);
  void submit_forest(Sequence& sequence, int priority, const Data& scaled, const Data& scratch,
                     const std::vector<Node*>& leaves, int rank);
  void submit_merge(Sequence& sequence, Node& node, const Data& scaled, const Data& scratch, bool root);

  Runtime* runtime_;
  Index n_, leaf_ = 0;
  bool want_vectors_;
  std::vector<Node> nodes_;  ///< children before parents; the root is last
  Data values_;
};

}  // namespace tessera::detail
