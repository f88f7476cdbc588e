// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// The orthogonal factor of tridiagonalize: A = Q T Q^H, Q = H_0 H_1 ..., in blocks of consecutive
/// reflectors.
template <class T>
struct OneStageReflectors {
  struct Block {
    Index first_row = 0, rows = 0, k = 0;  ///< V has rows [first_row, n) and k columns
    std::vector<Data> v;                   ///< V in pieces of rows, with explicit ones and zeros
    std::vector<Data> scalars;             ///< tau, by panel (codelets/one_stage/panel_tasks.hpp)
    std::vector<Index> scalar_counts;      ///< columns of each panel
  };
  std::vector<Block> blocks;
  /// Instead of the blocks where the matrix was one piece (codelets/one_stage/whole_tasks.hpp): V below
  /// the first subdiagonal, and tau.
  TiledMatrix<T> whole;
  Data tau;
};

/// Sizes of tridiagonalize; the defaults suit CPUs.
struct OneStageOptions {
  bool in_one_piece = false;    ///< one process: the whole matrix by LAPACK, on a GPU always by cuSOLVER
  Index work_tile = 128;        ///< the tiles of A are cut into pieces of about this size
  Index panel = 64;             ///< reflectors between two updates of the trailing matrix
  Index rest = 320;             ///< order that LAPACK finishes in one task
  Index tasks_per_worker = 1;   ///< product tasks of a column while the matrix is large
  Index least_bytes = 1 << 20;  ///< matrix that a product task should at least read
};

/// One stage: T = Q^H A Q tridiagonal (LAPACK hetrd, ELPA1's tridiag), by panels with a delayed rank-2k
/// update.
///
/// A column takes two rounds of tasks (codelets/one_stage/panel_tasks.hpp): products of the trailing
/// matrix with the reflector, by groups of tiles, and the column's updates, by chunks of rows. Half of the
/// flops are the products, which run at the speed at which the trailing matrix can be read, each tile once a
/// column; the other half are GEMMs. Over MPI the tiles stay where they are, vectors and partial products
/// travel: no rank holds the whole matrix.
///
/// In one process with GPUs the matrix is gathered in one piece, unless it is one tile already, for
/// cuSOLVER's sytrd or hetrd as one task, and back_one_stage is its ormtr or unmtr for each slab.
///
/// Flops: 4/3 n^3 (complex: x 4). Priorities: columns 2, products and panel starts 1, packing and updates 0:
/// the rounds follow one another, so they hardly matter.
/// @pre a: n x n, lower layout, square tiles, finite, scaled away from overflow; contents consumed.
/// @param d, e n and max(n - 1, 1) reals, every_rank bytes, written on all ranks. e is real for complex types
/// too.
/// @param reflectors for back_one_stage; null: values only.
template <class T>
void tridiagonalize(Sequence& sequence, TiledMatrix<T>&& a, const Data& d, const Data& e,
                    OneStageReflectors<T>* reflectors, const OneStageOptions& options = {});

/// Z := Q Z with the orthogonal factor of tridiagonalize, block by block from the last to the first, slab by
/// slab.
///
/// Flops: 2 n^2 k for k columns (complex: x 4). Priorities: factors T 1, applying 0. The reflectors are
/// consumed: they are released as they have been used.
template <class T>
void back_one_stage(Sequence& sequence, OneStageReflectors<T>&& reflectors, const ColumnSlabs<T>& z);

}  // namespace tessera::detail
