// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tessera/algorithms/sparse/symmetric_rows.hpp>
#include <tessera/runtime/types.hpp>

namespace tessera {

/// A symmetric matrix in memory, given by arrays or a file. The lower triangle is kept, with zeros that are
/// given.
class CoordinateRows final : public SymmetricRows {
 public:
  /// Entries (rows[k], columns[k], values[k]), from 0, in any order: of the lower triangle, of the upper one,
  /// or of both (`general`; |a_ij - a_ji| <= 1e-13 max|a|, the lower triangle is taken).
  /// @param tiles  as SymmetricRows::tiles()
  /// @throws InvalidArgument for arrays of different lengths, entries outside the matrix, in the other
  /// triangle, given
  ///         twice or not finite, for a matrix that is not symmetric, and for tiles that do not ascend from 0
  ///         to order
  static CoordinateRows from_coordinates(Index order, std::span<const Index> rows,
                                         std::span<const Index> columns, std::span<const double> values,
                                         Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// Compressed rows: those of row i stand at row_begins[i] to row_begins[i + 1] - 1, from 0, in any order.
  static CoordinateRows from_compressed_rows(Index order, std::span<const Index> row_begins,
                                             std::span<const Index> columns, std::span<const double> values,
                                             Uplo triangle = Uplo::lower, std::vector<Index> tiles = {});
  /// A Matrix Market file, symmetric or general; of an array's elements those that are not zero.
  /// @throws InputError for files that cannot be read, complex and unsymmetric matrices
  static CoordinateRows from_matrix_market(const std::string& path);

  Index order() const override { return static_cast<Index>(begins_.size()) - 1; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override;
  Index stored_entries() const noexcept { return static_cast<Index>(columns_.size()); }

 private:
  struct Entry {
    Index row, column;
    double value;
    bool mirrored;  ///< given in the upper triangle
  };
  class Collector;
  CoordinateRows() = default;
  std::vector<Index> begins_, columns_;  ///< of the lower triangle, each row's columns ascending
  std::vector<double> values_;
  std::vector<Index> tiles_;
};

}  // namespace tessera
