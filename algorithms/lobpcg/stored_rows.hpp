// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/algorithms/lobpcg/symmetric_rows.hpp>

namespace tessera {

/// A symmetric matrix whose lower triangle is in memory, by rows: what a user has who holds a matrix already,
/// or a file.
class StoredRows final : public SymmetricRows {
 public:
  struct Entry {
    Index row, column;
    double value;
  };

  /// @param entries of the lower triangle (column <= row), in any order, none twice
  /// @param tiles as SymmetricRows::tiles() has them
  /// @throws InvalidArgument
  StoredRows(Index order, const std::vector<Entry>& entries, std::vector<Index> tiles = {});

  /// Reads a Matrix Market file, gzipped or not: real, integer or pattern, symmetric, or general with a
  /// symmetric matrix (to 1e-13 of its largest element); coordinates, or an array, whose zeros are left out.
  /// @throws InputError
  static StoredRows read(const std::string& path, std::vector<Index> tiles = {});

  Index order() const override { return static_cast<Index>(begins_.size()) - 1; }
  std::span<const Index> tiles() const override { return tiles_; }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override;
  /// Stored ones.
  Index count() const noexcept { return begins_.back(); }

 private:
  std::vector<Index> begins_;  ///< of each row, and last the entries' number
  std::vector<Index> columns_;
  std::vector<double> values_;
  std::vector<Index> tiles_;
};

}  // namespace tessera
