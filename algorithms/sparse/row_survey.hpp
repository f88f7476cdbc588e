// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/runtime.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

/// Where a matrix has its entries, about: rows are cut into cells, and some rows of each are counted. Equal
/// on all ranks.
class RowSurvey {
 public:
  /// Collective. @throws InvalidArgument for bad entries
  RowSurvey(const Runtime& runtime, const SymmetricRows& rows);
  /// An earlier one: its counts(), for this order. @throws InvalidArgument for counts that no survey has
  RowSurvey(Index order, std::vector<double> counts);

  /// Stored entries of each cell, row-major; those above the diagonal are 0. With the order all that it knows.
  const std::vector<double>& counts() const noexcept { return counts_; }
  /// How many there are for a matrix of this order.
  static Index count_of(Index order) noexcept;
  /// Stored entries.
  double entries() const noexcept { return entries_; }
  /// Entries of rows [begin, end) and columns [first, last), spread evenly in the cells.
  double entries(Index begin, Index end, Index first, Index last) const;
  /// Of rows [begin, end): an entry counts both for its row and for its column, a row 1 + more_of_row.
  double work(Index begin, Index end, double more_of_row = 0) const;
  /// Cuts [begin, end) into at most `parts` of about equal work. Cuts are among `places` (ascending; begin
  /// and end are among them, and stand first and last in the result).
  std::vector<Index> cut(Index begin, Index end, Index parts, const std::vector<Index>& places,
                         double more_of_row = 0) const;

 private:
  Index cell_begin(Index cell) const noexcept { return order_ * cell / cells_; }
  Index cell_of(Index row) const noexcept;
  double work_before(Index row) const;
  void add_up();
  Index order_, cells_;
  std::vector<double> counts_;  ///< cells x cells
  std::vector<double> work_;    ///< of the cells before each one
  double entries_ = 0;
};

}  // namespace tessera::detail
