// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/algorithms/sparse/symmetric_operator.hpp>
#include <tessera/algorithms/sparse/symmetric_rows.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>

namespace tessera {

/// Sizes of 0 are chosen from the order, the workers, the GPUs and the ranks.
struct CsbOptions {
  Index groups = 0;  ///< n_d: the rows are cut into so many groups, and the n_d (n_d + 1) / 2 sub-matrices of
                     ///< the half are dealt to ranks and their GPUs (Maris et al. 2022, Fig. 1); the GPUs of
                     ///< a single rank get runs of groups; workers without GPUs add those of a
                     ///< group to a few sums of its rows
  Index segments = 0;     ///< pieces of rows, a handle each, in every group
  Index tile_rows = 0;    ///< rows of a tile where the rows come without tiles
  Index piece_bytes = 0;  ///< about the largest piece; if not set 768 MiB, on GPUs an eighth of their memory
  /// The matrix is cut and dealt as that of these rows is with the same options: for B of A x = lambda B x,
  /// whose vectors are A's. Its own tiles do not count, nor do V and T.
  const SymmetricRows* like = nullptr;
};

/// A real symmetric matrix of which one triangle is stored, in compressed sparse blocks with 16-bit
/// coordinates, in pieces that are dealt to the ranks and their GPUs. V: the values' type, T: the vectors'.
///
/// GPUs multiply both triangles, from an index of their own (csb_index.hpp) in which the rows of one family
/// (SymmetricRows::families) stand together. It has places that shorter rows leave empty, and takes 2 x 11.2
/// (float: 7.1) bytes an entry in the shell model. Where only GPUs multiply, a segment's diagonal tiles are
/// part of the index of another piece, too. The stored half stays on the host.
///
/// y := A x walks the pieces so that those in flight together touch different segments of y: all sums have a
/// fixed order, and CPUs read a piece once. What other ranks (and other GPUs) contribute to a segment is
/// added at its owner in a fixed order; StarPU-MPI moves x and the contributions while local products run.
/// The GPUs of a single rank need all of x, and each one multiplies its own rows of y, by both triangles.
template <class V, class T>
class CsbMatrix final : public SymmetricOperator<T> {
 public:
  /// Builds the matrix, in parallel, from rows that every rank can make: each rank makes what it holds.
  /// @throws InvalidArgument for entries above the diagonal, outside, given twice or not finite, and bad
  /// options; RuntimeError where a rank's part does not fit into its host's memory
  static CsbMatrix build(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options = {});

  Index order() const override;
  const std::shared_ptr<const RowSegments>& segments() const override;
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override;     ///< the largest sum of magnitudes of a row; known from the start
  Index stored_entries() const override;  ///< of all ranks
  double stored_bytes() const;            ///< values, coordinates and blocks, of all ranks
  double index_bytes() const;             ///< beside them on GPUs (csb_index.hpp), of all ranks
  Index groups() const;

  /// The matrix's diagonal, on every rank (collective).
  std::vector<double> diagonal() const;
  /// How many of its elements are stored, of all ranks (collective); zeros that the rows have count.
  Index stored_diagonal_entries() const;

  /// Diagonal tiles of one segment of rows: a piece of their own (segment x segment, blocks on its diagonal),
  /// which the segment's owner has. They are part of A and take part in apply.
  struct DiagonalTiles {
    const Data* piece = nullptr;  ///< null where a segment has no entries there
    const Data* index = nullptr;  ///< for GPUs; null where none takes part
    CsbPieceShape shape;
    std::vector<Index> begins;  ///< first row of each tile, from the segment's, and last the segment's rows
  };
  const DiagonalTiles& diagonal_tiles(Index segment) const;

 private:
  struct Detail;
  static CsbMatrix made_of(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options);
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  explicit CsbMatrix(std::shared_ptr<Detail> detail) : detail_(std::move(detail)) {}
  std::shared_ptr<Detail> detail_;
};

}  // namespace tessera
