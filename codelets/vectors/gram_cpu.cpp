// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/block_kernel.hpp>
#include <tessera/codelets/vectors/gram.hpp>
#include <tessera/codelets/vectors/pack_rows.hpp>

namespace tessera::kernels {

template <class T>
void gram(std::int64_t rows, std::span<const VectorBlock<const T>> left,
          std::span<const VectorBlock<const T>> right, double* g) noexcept {
  const std::int64_t l = columns_of(left), r = columns_of(right);
  std::fill_n(g, l * r, 0.0);
  if (l == 0 || r == 0) return;
  alignas(64) double left_rows[packed_rows * most_block_columns];
  alignas(64) double right_columns[packed_rows * 2 * most_block_columns];
  alignas(64) double sums[3 * most_block_columns * 2 * most_block_columns];
  for (std::int64_t first = 0; first < rows; first += packed_rows) {
    const std::int64_t count = std::min(packed_rows, rows - first);
    pack_columns(right, first, count, right_columns);
    // Sums of few rows are added to those of all before: less rounding than row by row.
    std::fill_n(sums, l * r, 0.0);
    double* to = sums;
    for (const VectorBlock<const T>& block : left) {
      if (block.columns == 0) continue;
      const WideRows rows_of_block = wide_rows(block, first, count, left_rows);
      multiply_small<double>(block.columns, r, count, rows_of_block.data, rows_of_block.ld, right_columns,
                             count, to, l);
      to += block.columns;
    }
    for (std::int64_t k = 0; k < l * r; ++k) g[k] += sums[k];
  }
}

#define TESSERA_INSTANTIATE(T)                                               \
  template void gram<T>(std::int64_t, std::span<const VectorBlock<const T>>, \
                        std::span<const VectorBlock<const T>>, double*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
