// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/linalg/block_kernel.hpp>
#include <tessera/codelets/vectors/chunk_rows.hpp>
#include <tessera/codelets/vectors/gram.hpp>

namespace tessera::detail::kernels {

template <class T>
void gram(std::int64_t rows, std::span<const VectorBlock<const T>> left,
          std::span<const VectorBlock<const T>> right, double* g) noexcept {
  const std::int64_t l = columns_of(left), r = columns_of(right);
  std::fill_n(g, l * r, 0.0);
  if (l == 0 || r == 0) return;
  alignas(64) double left_rows[chunk_rows * 3 * max_real_columns];
  alignas(64) double right_rows[chunk_rows * max_real_columns];
  alignas(64) double sums[3 * max_real_columns * 2 * max_real_columns];
  for (std::int64_t first = 0; first < rows; first += chunk_rows) {
    const std::int64_t count = std::min(chunk_rows, rows - first);
    WideRows of_left[3];
    double* space = left_rows;
    for (std::size_t k = 0; k < left.size(); ++k, space += chunk_rows * max_real_columns) {
      fetch_rows(left[k], first + count, rows);
      of_left[k] = wide_rows(left[k], first, count, space);
    }
    // Sums of few rows are added to those of all before: less rounding than row by row.
    double* column = sums;
    for (const VectorBlock<const T>& block : right) {
      fetch_rows(block, first + count, rows);
      const WideRows of_right = wide_rows(block, first, count, right_rows);
      double* to = column;
      for (std::size_t k = 0; k < left.size(); to += left[k++].columns)
        if (left[k].columns > 0 && block.columns > 0)
          multiply_small<double>(left[k].columns, block.columns, count, of_left[k].data, of_left[k].ld,
                                 Op::adjoint, of_right.data, of_right.ld, false, to, l);
      column += l * block.columns;
    }
    for (std::int64_t k = 0; k < l * r; ++k) g[k] += sums[k];
  }
}

#define TESSERA_INSTANTIATE(T)                                               \
  template void gram<T>(std::int64_t, std::span<const VectorBlock<const T>>, \
                        std::span<const VectorBlock<const T>>, double*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels

namespace tessera::detail {

template <class T>
void run(const HostContext&, const Gram<T>& task) {
  using R = RealOf<T>;
  kernels::gram<R>(task.rows, blocks_of<const R>(task.left), blocks_of<const R>(task.right),
                   task.g.view().data());
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(Gram<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
