// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/divide_and_conquer/kernels/merge_record.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Merges on a GPU: all merges of one level of a forest of equal trees, or a single merge, which is one tree
/// of two pieces. The kernels of deflate.hpp and secular.hpp work on such a batch. Records and spectra are
/// those of the host (roots, rotations and slots up to rounding).
namespace tessera::detail::divide_and_conquer {

/// A forest. Tree t has the rows [t leaf, min((t + 1) leaf, rows)) of the forest, and its T starts at element
/// t stride of d and e. A tree of r rows is cut into `pieces` (a power of two) pieces: piece j has the rows
/// [r j / pieces, r (j + 1) / pieces); pieces may be empty.
struct Forest {
  Index rows = 0, leaf = 1, stride = 1;

  TESSERA_HOST_DEVICE Index trees() const noexcept { return (rows + leaf - 1) / leaf; }
  TESSERA_HOST_DEVICE Index tree_rows(Index tree) const noexcept {
    const Index rest = rows - tree * leaf;
    return rest < leaf ? rest : leaf;
  }
};

/// One merge of a batch.
struct MergeNode {
  Index tree;
  Index begin;        ///< first row, in the tree
  Index left, right;  ///< orders of the children
  TESSERA_HOST_DEVICE Index order() const noexcept { return left + right; }
};

/// Merge j of tree t joins its pieces 2 j and 2 j + 1 of `pieces`. Arrays with entries by row hold all rows
/// of the forest. Pointers are device memory.
struct MergeBatch {
  Forest forest;
  Index pieces = 2;
  Index cut = -1;       ///< of a single merge: the order of its left child
  const double* e;      ///< e[t stride + i]: row i of tree t
  const double* left;   ///< spectra of left children, 3 doubles a row: that of a child at row i at left + 3 i
  const double* right;  ///< the same for right children; may be the same array
  double* merged;       ///< the same for the merged nodes
  char* records;        ///< MergeRecord of each merge, see `record`
  double* scratch;      ///< merge_scratch_doubles(rows)
  double epsilon;       ///< as in kernels::deflate
  long long* failure = nullptr;  ///< set to 1 + t stride by a merge that meets numbers that are not finite
  Index failure_stride = 0;      ///< from the failure of one tree to that of the next; 0: one for all

  TESSERA_HOST_DEVICE Index merges() const noexcept { return forest.trees() * (pieces / 2); }
  /// No merge has a larger order.
  TESSERA_HOST_DEVICE Index largest_order() const noexcept {
    const Index r = forest.rows < forest.leaf ? forest.rows : forest.leaf;
    return (2 * r + pieces - 1) / pieces + 1 < r ? (2 * r + pieces - 1) / pieces + 1 : r;
  }
  TESSERA_HOST_DEVICE MergeNode node(Index merge) const noexcept {
    const Index half = pieces / 2, tree = merge / half, j = merge % half, r = forest.tree_rows(tree);
    const Index begin = r * (2 * j) / pieces, end = r * (2 * j + 2) / pieces;
    const Index middle = cut >= 0 ? cut : r * (2 * j + 1) / pieces;
    return {tree, begin, middle - begin, end - middle};
  }
  /// Row in the forest.
  TESSERA_HOST_DEVICE Index row(const MergeNode& node) const noexcept {
    return node.tree * forest.leaf + node.begin;
  }
  TESSERA_HOST_DEVICE char* record(Index merge, const MergeNode& node) const noexcept {
    return records + static_cast<Index>(sizeof(MergeHeader)) * merge +
           row(node) * static_cast<Index>(MergeRecord::bytes(1) - sizeof(MergeHeader));
  }
  /// Bytes of all records of a forest at any level with at most `merges` merges.
  static Index record_bytes(Index rows, Index merges) noexcept {
    return static_cast<Index>(MergeRecord::bytes(rows)) + merges * static_cast<Index>(sizeof(MergeHeader));
  }
};

/// Doubles of scratch for the deflation of all merges of a level.
TESSERA_HOST_DEVICE constexpr Index merge_scratch_doubles(Index rows) noexcept {
  return 8 * rows;
}

/// The most rows of a piece.
inline constexpr Index largest_piece = 32;

/// Pieces of each tree.
inline Index forest_pieces(const Forest& forest) noexcept {
  Index pieces = 1;
  while (ceil_div(std::min(forest.leaf, forest.rows), pieces) > largest_piece) pieces *= 2;
  return pieces;
}

/// The scratch for solving all trees of a forest, in the order of the buffer.
struct ForestScratch {
  double* spectra[2];  ///< of the nodes of two levels
  double* merge;
  char* records;
  double* matrices;  ///< three of a tree's order for each tree, if vectors are wanted

  ForestScratch(void* buffer, const Forest& forest) noexcept {
    spectra[0] = static_cast<double*>(buffer);
    spectra[1] = spectra[0] + 3 * forest.rows;
    merge = spectra[1] + 3 * forest.rows;
    records = reinterpret_cast<char*>(merge + merge_scratch_doubles(forest.rows));
    matrices = reinterpret_cast<double*>(
        records + MergeBatch::record_bytes(forest.rows, forest.trees() * forest_pieces(forest)));
  }
};

inline std::size_t forest_scratch_bytes(const Forest& forest, bool vectors) noexcept {
  const Index order = std::min(forest.leaf, forest.rows);
  return reinterpret_cast<std::size_t>(ForestScratch(nullptr, forest).matrices) +
         (vectors ? static_cast<std::size_t>(3 * forest.trees() * order * order) * sizeof(double) : 0);
}

}  // namespace tessera::detail::divide_and_conquer

/// The kernels of deflate.hpp and secular.hpp for all merges of a batch, on the device. They enqueue and
/// return; records and spectra are as on the host (roots, rotations and slots up to rounding).
namespace tessera::detail::kernels {

/// kernels::deflate, one thread block for each merge. Sorting by rank, z, the tolerance, slots and gathering
/// are parallel; in the pass over the ascending columns one warp visits only the columns that a rotation may
/// touch. Scratch: merge_scratch_doubles(rows) doubles.
void launch_deflate(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_roots of all poles: one warp for four roots, with the same iteration and stopping test.
void launch_secular_roots(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_weights of all poles, into their slots (place_weights is part of it).
void launch_secular_weights(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_rows of all roots.
void launch_secular_rows(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::order_spectrum.
void launch_order_spectrum(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch, bool rows);

/// A whole merge without its vectors: the steps above.
/// @param weights  the vectors, of these nodes or of their parents, need the weights
/// @param rows     there are parents
void launch_merge(CUstream_st* stream, const divide_and_conquer::MergeBatch& batch, bool weights, bool rows);

/// kernels::secular_vectors for the roots [first, first + count) of one merge of order m with K poles: column
/// first + j goes to s + j lds, K rows.
template <class R>
void launch_secular_vectors(CUstream_st* stream, Index m, const void* record, Index poles, Index first,
                            Index count, R* s, Index lds);

}  // namespace tessera::detail::kernels
