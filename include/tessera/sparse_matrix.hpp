// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/operators.hpp>
#include <tessera/types.hpp>

/// @file
/// Real symmetric and complex Hermitian sparse matrices: where their entries come from, and how they are stored.
namespace tessera {

class Data;
namespace detail {
struct CsbDiagonalTiles;
}

/// An entry of a sparse matrix: row and column count from the beginnings of the ranges that were asked for.
struct SparseEntry {
  std::uint32_t row;     ///< from the beginning of the range
  std::uint32_t column;  ///< from the beginning of the range
  double value;          ///< the entry itself
};

/// An entry of a complex Hermitian matrix: as SparseEntry.
struct ComplexSparseEntry {
  std::uint32_t row;           ///< from the beginning of the range
  std::uint32_t column;        ///< from the beginning of the range
  std::complex<double> value;  ///< the entry itself
};

/// Numbers of the families that a row belongs to (SymmetricRows::families).
struct RowFamilies {
  std::uint32_t first;   ///< number of the first family
  std::uint32_t second;  ///< number of the second family
};

/// A real symmetric or complex Hermitian sparse matrix that is given by its rows, on demand: what generators are,
/// and what a CsbMatrix is built from.
class SymmetricRows {
 public:
  virtual ~SymmetricRows() = default;
  /// Rows of the matrix.
  virtual Index order() const = 0;

  /// Rows that belong together (a shell model's configurations): first row of each tile and, last, the order;
  /// strictly ascending from 0. Tiles become the matrix's cells, and diagonal tiles the block-diagonal
  /// preconditioner. Empty: the rows have no such structure.
  virtual std::span<const Index> tiles() const { return {}; }

  /// Numbers by which rows stand together that have entries in many of the same columns, where these are not
  /// neighbours anyway: GPUs multiply such rows at the same time. Entries between rows of one second family
  /// are multiplied by second families, all others by first ones. Where states are products of two parts and
  /// most elements change both a little (a shell model's proton and neutron determinants), these are the
  /// parts. None: neighbouring rows stand together. Thread-safe, and a function of the row alone; all rows
  /// have families, or none.
  virtual std::optional<RowFamilies> families(Index /*row*/) const { return std::nullopt; }

  /// Appends the stored entries of the lower triangle (column <= row) with row in [first_row, end_row) and
  /// column in [first_column, end_column), in any order, none twice. Thread-safe, and a function of its
  /// arguments alone. The row range lies within one tile where there are tiles, and the column range has at
  /// most 2^32 columns.
  virtual void entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<SparseEntry>& out) const = 0;

  /// The matrix is complex Hermitian: complex_entries() lists its entries, and entries() is not for it.
  virtual bool hermitian() const { return false; }
  /// As entries(), of a Hermitian matrix, whose diagonal is real. Of a symmetric one, if not overridden, what
  /// entries() gives.
  virtual void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                               std::vector<ComplexSparseEntry>& out) const;
};

/// A complex Hermitian sparse matrix that is given by its rows: derived classes have complex_entries().
class HermitianRows : public SymmetricRows {
 public:
  bool hermitian() const final { return true; }
  void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<ComplexSparseEntry>& out) const override = 0;
  /// @throws InvalidArgument always
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const final;
};

/// A symmetric or Hermitian matrix in memory, given by arrays or a file. The lower triangle is kept, with zeros that
/// are given.
class CoordinateRows final : public SymmetricRows {
 public:
  /// Entries (rows[k], columns[k], values[k]), from 0, in any order: of the lower triangle, of the upper one,
  /// or of both (`general`; |a_ij - conj(a_ji)| <= 1e-13 max|a|, the lower triangle is taken). Complex values make the
  /// matrix Hermitian.
  /// `tiles`: as SymmetricRows::tiles()
  /// @throws InvalidArgument for arrays of different lengths, entries outside the matrix, in the other
  /// triangle, given
  ///         twice or not finite, for a matrix that is not symmetric or Hermitian (a diagonal that is not real),
  ///         and for tiles that do not ascend from 0
  ///         to order
  static CoordinateRows from_coordinates(Index order, std::span<const Index> rows,
                                         std::span<const Index> columns, std::span<const double> values,
                                         Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// The same of a Hermitian matrix.
  static CoordinateRows from_coordinates(Index order, std::span<const Index> rows,
                                         std::span<const Index> columns,
                                         std::span<const std::complex<double>> values,
                                         Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// Compressed rows: those of row i stand at row_begins[i] to row_begins[i + 1] - 1, from 0, in any order.
  static CoordinateRows from_compressed_rows(Index order, std::span<const Index> row_begins,
                                             std::span<const Index> columns, std::span<const double> values,
                                             Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// The same of a Hermitian matrix.
  static CoordinateRows from_compressed_rows(Index order, std::span<const Index> row_begins,
                                             std::span<const Index> columns,
                                             std::span<const std::complex<double>> values,
                                             Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// A Matrix Market file, symmetric, Hermitian or general; of an array's elements those that are not zero. A file of
  /// complex numbers makes the matrix Hermitian.
  /// @throws InputError for files that cannot be read, and matrices that are neither symmetric nor Hermitian
  static CoordinateRows from_matrix_market(const std::string& path);

  /// Rows of the matrix.
  Index order() const override { return static_cast<Index>(begins_.size()) - 1; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override;
  bool hermitian() const override { return hermitian_; }
  void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<ComplexSparseEntry>& out) const override;
  /// Entries of the lower triangle, with zeros that were given.
  Index stored_entries() const noexcept { return static_cast<Index>(columns_.size()); }

 private:
  struct Entry {
    Index row, column;
    std::complex<double> value;  ///< of the lower triangle
    bool mirrored;               ///< given in the upper triangle
  };
  class Collector;
  CoordinateRows() = default;
  template <class Value>
  static CoordinateRows of_coordinates(Index order, std::span<const Index> rows,
                                       std::span<const Index> columns, std::span<const Value> values,
                                       Uplo triangle, std::vector<Index> tiles);
  template <class Value>
  static CoordinateRows of_compressed_rows(Index order, std::span<const Index> row_begins,
                                           std::span<const Index> columns, std::span<const Value> values,
                                           Uplo triangle, std::vector<Index> tiles);
  template <class Visit>
  void for_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                   const Visit& visit) const;
  std::vector<Index> begins_, columns_;  ///< of the lower triangle, each row's columns ascending
  std::vector<double> values_;
  std::vector<double> imaginary_;  ///< parts, of a Hermitian matrix
  std::vector<Index> tiles_;
  bool hermitian_ = false;
};

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
  /// Called while the matrix is built or read, by the thread that builds it, with the share of this rank's work
  /// that is done: never less than before, and 1 at the end. Ranks may have different ones, or none. What it
  /// throws ends the build on all ranks.
  std::function<void(double)> progress{};
};

/// What CsbMatrix::save writes beside the matrix.
struct CsbSaveOptions {
  std::string description{};               ///< any text: SavedRows::description. Rank 0's counts
  std::function<void(double)> progress{};  ///< CsbOptions::progress, of the bytes that are written
};

/// A real symmetric or complex Hermitian matrix of which one triangle is stored, in compressed sparse blocks with
/// 16-bit coordinates, in pieces that are dealt to the ranks and their GPUs. V: the values' type, T: the vectors', both
/// real or both complex, V as exact as T or less: <double, double>, <float, double>, <float, float>, and these of
/// complex numbers, which rows of symmetric matrices build, too.
///
/// GPUs multiply both triangles, from an index of their own in which the rows of one family
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
  /// @throws InvalidArgument for entries above the diagonal, outside, given twice or not finite, a diagonal that is
  /// not real, Hermitian rows where V is real, and bad options; RuntimeError where a rank's part does not fit into
  /// its host's memory
  ///
  /// Of SavedRows (saved_rows.hpp) that are cut as they were saved, in pieces of this size, the pieces are read
  /// where they belong, by each rank its own; else the rows are read twice, in bands.
  static CsbMatrix build(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options = {});
  /// Builds the matrix that `save` has written, with any number of ranks, workers and GPUs, other options and
  /// another V. Every rank reads the file, and must be able to.
  /// @throws InputError for a file that cannot be read, is none of save's, or is damaged, and for values that V
  /// does not hold; InvalidArgument for bad options, and where the ranks see different files
  static CsbMatrix load(Runtime& runtime, const std::string& path, const CsbOptions& options = {});
  /// Writes the stored half, its cut, its rows' tiles and families into an HDF5 file (docs/guide/input_output.md):
  /// V and 4 bytes an entry. Rank 0 writes; the others send it their pieces in parts. Until all is written the
  /// path has the old file, or none. Collective.
  /// @returns the bytes of the entries
  /// @throws InputError on all ranks, for a path that cannot be written, and a full disk
  double save(const std::string& path, const CsbSaveOptions& options = {}) const;

  /// Rows of the matrix.
  Index order() const override;
  const std::shared_ptr<const RowSegments>& segments() const override;
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override;     ///< the largest sum of magnitudes of a row; known from the start
  Index stored_entries() const override;  ///< of all ranks
  double stored_bytes() const;            ///< values, coordinates and cells, of all ranks
  double index_bytes() const;             ///< beside them on GPUs, of all ranks
  /// CsbOptions::groups, as chosen.
  Index groups() const;

  /// The matrix's diagonal, on every rank (collective).
  std::vector<double> diagonal() const;
  /// How many of its elements are stored, of all ranks (collective); zeros that the rows have count.
  Index stored_diagonal_entries() const;

  /// For preconditioners: the diagonal tiles of one segment of rows.
  const detail::CsbDiagonalTiles& diagonal_tiles(Index segment) const;

 private:
  struct Detail;
  static CsbMatrix made_of(Runtime& runtime, const SymmetricRows& rows, const CsbOptions& options);
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  explicit CsbMatrix(std::shared_ptr<Detail> detail) : detail_(std::move(detail)) {}
  std::shared_ptr<Detail> detail_;
};

/// Both triangles of a real symmetric or complex Hermitian matrix by rows, counted from 0: row i's entries are number
/// begins[i], ..., begins[i + 1] - 1, in any order. The memory is the caller's, and only used while a matrix is built.
struct CsrArrays {
  std::span<const Index> begins;  ///< as many as rows, and one
  /// Of each entry.
  std::span<const Index> columns;
  /// Of each entry.
  std::span<const double> values;
  /// Instead of values, of a complex Hermitian matrix.
  std::span<const std::complex<double>> complex_values{};
};

/// A real symmetric or complex Hermitian matrix all of whose entries are stored, by rows, in pieces of a segment of
/// rows and a segment of columns each. It reads twice what a CsbMatrix does, and needs no preparation. V: the values'
/// type, T: the vectors'. The pieces of a segment of rows belong to its rank, and add to it one after the
/// other: the sums' order is fixed.
template <class V, class T>
class CsrMatrix final : public SymmetricOperator<T> {
 public:
  /// Builds the matrix from arrays that every rank has; a rank keeps its segments' rows. `segments`: of the
  /// rows, 0: chosen. That the matrix is symmetric or Hermitian is not checked, but that
  /// its diagonal is real.
  /// @throws InvalidArgument for arrays that do not fit, columns outside, values that are not finite, complex values
  /// where V is real, and begins or columns that differ from another rank's
  static CsrMatrix build(Runtime& runtime, const CsrArrays& arrays, Index segments = 0);

  /// Rows of the matrix.
  Index order() const override { return segments_->rows(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override { return norm_; }  ///< the largest sum of magnitudes of a row
  Index stored_entries() const override { return entries_; }

 private:
  struct Piece;
  CsrMatrix() = default;
  static CsrMatrix made_of(Runtime& runtime, const CsrArrays& arrays, Index segments);
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  std::shared_ptr<const RowSegments> segments_;
  std::shared_ptr<std::vector<Piece>> pieces_;  ///< in the order of their tasks
  Index entries_ = 0;
  double norm_ = 0;
};

}  // namespace tessera
