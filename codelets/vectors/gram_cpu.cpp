// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/vectors/gram.hpp>
#include <tessera/codelets/vectors/pack_rows.hpp>

namespace tessera::kernels {

template <class T>
void gram(std::int64_t rows, std::span<const VectorBlock<const T>> left,
          std::span<const VectorBlock<const T>> right, double* g) noexcept {
  const std::int64_t l = columns_of(left), r = columns_of(right);
  std::fill_n(g, l * r, 0.0);
  if (l == 0 || r == 0) return;
  alignas(64) double left_rows[packed_rows * 3 * most_block_columns];
  alignas(64) double right_rows[packed_rows * 2 * most_block_columns];
  for (std::int64_t first = 0; first < rows; first += packed_rows) {
    const std::int64_t count = std::min(packed_rows, rows - first);
    pack_rows(left, first, count, left_rows, l);
    pack_rows(right, first, count, right_rows, r);
    blas::gemm(Op::none, Op::transpose, l, r, count, 1.0, left_rows, l, right_rows, r, 1.0, g, l);
  }
}

#define TESSERA_INSTANTIATE(T)                                               \
  template void gram<T>(std::int64_t, std::span<const VectorBlock<const T>>, \
                        std::span<const VectorBlock<const T>>, double*) noexcept;
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
