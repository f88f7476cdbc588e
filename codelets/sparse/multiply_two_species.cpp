// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/sparse/multiply_two_species.hpp>

namespace tessera::detail {

template <class T>
void kernels::multiply_two_species(const TwoSpeciesView<T>& tables, std::int64_t first_line,
                                   std::int64_t end_line, const TwoSpeciesSources<T>& x, T* y,
                                   std::int64_t ldy, std::int64_t first_row, int columns) noexcept {
  TESSERA_DISPATCH(cpu_level(),
                   multiply_two_species<T>(tables, first_line, end_line, x, y, ldy, first_row, columns));
}

namespace {

/// y(:, n, p) += sum_q A(p, q) x(:, n, q), or y(:, n, p) += sum_m B(n, m) x(:, m, p).
template <class T>
void add_dense_part(const TwoSpeciesDensePart<T>& part, bool of_first, int columns, std::int64_t ldx,
                    std::int64_t ldy) {
  if (of_first) {
    // Lines so long that BLAS cannot count their elements.
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (part.source_rows * ldx > most || part.target_rows * ldy > most) {
      for (std::int64_t p = 0; p < part.target_lines; ++p)
        for (std::int64_t q = 0; q < part.source_lines; ++q)
          for (std::int64_t n = 0; n < part.target_rows; ++n)
            for (int j = 0; j < columns; ++j)
              part.y[(p * part.target_rows + n) * ldy + j] +=
                  part.values[p * part.ld_values + q] * part.x[(q * part.source_rows + n) * ldx + j];
      return;
    }
    // All rows of a line at once where the vectors lie alike; columns that are not asked for take part.
    const bool whole = ldx == ldy && 2 * columns > ldx;
    const std::int64_t times = whole ? 1 : part.target_rows, m = whole ? part.target_rows * ldx : columns;
    for (std::int64_t n = 0; n < times; ++n)
      blas::gemm<T>(Op::none, Op::none, m, part.target_lines, part.source_lines, T(1), part.x + n * ldx,
                    part.source_rows * ldx, part.values, part.ld_values, T(1), part.y + n * ldy,
                    part.target_rows * ldy);
    return;
  }
  for (std::int64_t p = 0; p < part.target_lines; ++p)
    blas::gemm<T>(Op::none, Op::none, columns, part.target_rows, part.source_rows, T(1),
                  part.x + p * part.source_rows * ldx, ldx, part.values, part.ld_values, T(1),
                  part.y + p * part.target_rows * ldy, ldy);
}

}  // namespace

template <class T>
void run(const HostContext&, const MultiplyTwoSpecies<T>& task) {
  const TwoSpeciesSources<T> x = sources_of(task);
  const auto y = *task.y;
  const auto tables = two_species_view<T>(task.tables.view().data(), task.shape);
  blas::set_zero(y);
  for_dense_parts(task, x, y.data, y.ld, tables.values,
                  [&](const TwoSpeciesDensePart<T>& part, bool of_first) {
                    add_dense_part(part, of_first, task.columns, x.ld, y.ld);
                  });
  kernels::multiply_two_species<T>(tables, task.first_line, task.end_line, x, y.data, y.ld, task.first_row,
                                   task.columns);
  for (Index i = 0; i < y.cols; ++i) std::fill(&y(task.columns, i), &y(0, i) + y.rows, T(0));
}

#define TESSERA_DEFINE(T)                                                                              \
  TESSERA_DEFINE_TASK(MultiplyTwoSpecies<T>)                                                           \
  template void kernels::multiply_two_species<T>(const TwoSpeciesView<T>&, std::int64_t, std::int64_t, \
                                                 const TwoSpeciesSources<T>&, T*, std::int64_t,        \
                                                 std::int64_t, int) noexcept;
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
