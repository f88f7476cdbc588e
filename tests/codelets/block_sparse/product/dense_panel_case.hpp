// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/codelets/block_sparse/product/dense_panels.hpp>

namespace tessera::test {
using namespace detail;

/// A panel of mixed and empty blocks without every `absent`-th block (0: all blocks are stored),
/// the equivalent dense array, and other values of the same blocks. The array has `gap` additional
/// rows below those of the panel, which contain 7.
template <class T>
struct DensePanelCase {
  DensePanelCase(int absent, Index gap) {
    const std::int32_t row_sizes[] = {3, 1, 0, 13, 70, 5}, col_sizes[] = {5, 0, 64, 1, 2};
    for (const std::int32_t size : row_sizes) rows += size;
    for (const std::int32_t size : col_sizes) cols += size;
    ld = rows + gap;
    dense.assign(static_cast<std::size_t>(ld * cols), T(7));
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) dense[static_cast<std::size_t>(i + j * ld)] = T(0);
    std::int32_t row = 0, number = 0;
    for (const std::int32_t m : row_sizes) {
      std::int32_t col = 0;
      for (const std::int32_t n : col_sizes) {
        if (absent == 0 || ++number % absent != 0) add(row, col, m, n);
        col += n;
      }
      row += m;
    }
    for (std::size_t e = 0; e < values.size(); ++e) before.push_back(random_scalar<T>(9, Index(e), 1));
  }
  MatrixView<T> view(std::vector<T>& of) const { return {of.data(), rows, cols, ld}; }
  MatrixView<const T> view(const std::vector<T>& of) const { return {of.data(), rows, cols, ld}; }

  Index rows = 0, cols = 0, ld = 0;
  std::vector<DenseBlock> blocks;
  std::vector<T> values, before, dense;

 private:
  void add(std::int32_t row, std::int32_t col, std::int32_t m, std::int32_t n) {
    blocks.push_back({static_cast<std::int32_t>(values.size()), row, col, m, n});
    for (std::int32_t j = 0; j < n; ++j)
      for (std::int32_t i = 0; i < m; ++i) {
        values.push_back(random_scalar<T>(8, row + i, col + j));
        dense[static_cast<std::size_t>(row + i + (col + j) * ld)] = values.back();
      }
  }
};

}  // namespace tessera::test
