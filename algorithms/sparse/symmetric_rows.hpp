// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tessera/runtime/types.hpp>

namespace tessera {

/// An entry of a sparse matrix: row and column count from the beginnings of the ranges that were asked for.
struct SparseEntry {
  std::uint32_t row, column;
  double value;
};

struct RowFamilies {
  std::uint32_t first, second;
};

/// A real symmetric sparse matrix that is given by its rows, on demand: what generators are, and what a
/// CsbMatrix is built from.
class SymmetricRows {
 public:
  virtual ~SymmetricRows() = default;
  virtual Index order() const = 0;

  /// Rows that belong together (a shell model's configurations): first row of each tile and, last, the order;
  /// strictly ascending from 0. Tiles become the matrix's blocks, and diagonal tiles the block-diagonal
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
};

}  // namespace tessera
