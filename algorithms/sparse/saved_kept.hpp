// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <list>

#include <tessera/algorithms/sparse/saved_matrix.hpp>

namespace tessera::detail {

/// Cells of a band of rows and of bands of columns, read and checked.
struct SavedMatrix::Band {
  struct Cell {
    Index first_row, first_column;
    std::size_t begin, end;  ///< entries
  };
  Index number = 0, first_column = 0, end_column = 0;
  std::vector<Cell> cells;
  std::vector<double> values;
  std::vector<std::complex<double>> complex_values;  ///< instead, of a Hermitian matrix
  std::vector<std::uint16_t> rows, columns;
};

/// The last ones first.
struct SavedMatrix::Kept {
  std::list<std::shared_ptr<const Band>> bands;
};

}  // namespace tessera::detail
