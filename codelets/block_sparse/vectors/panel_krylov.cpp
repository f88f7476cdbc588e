// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/block_sparse/vectors/krylov.hpp>
#include <tessera/codelets/block_sparse/vectors/panel_krylov.hpp>
#include <tessera/codelets/linalg/krylov_basis.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace {

/// visit(row, column, element) for the elements of all blocks, panel by panel.
template <class T, class Visit>
void for_each_element(const PackedPattern& pattern, const ReadAll<Array<T>>& panels, const Visit& visit) {
  const PackedHeader& header = pattern.header();
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  int with_blocks = 0;
  for (std::int32_t q = 0; q < header.col_panels; ++q)
    for (std::int32_t p = 0; p < header.row_panels; ++p) {
      const PackedPanel panel = pattern.panel(p, q);
      if (panel.blocks == 0) continue;
      const T* const values = panels[with_blocks++].data();
      for (std::int32_t i = 0; i < rows.blocks(p); ++i)
        for (std::int32_t b = panel.row_begin[i]; b < panel.row_begin[i + 1]; ++b) {
          const std::int32_t row = rows.first[p] + i, col = cols.first[q] + panel.column[b];
          const T* const block = values + panel.offset[b];
          for (std::int32_t c = 0; c < cols.size[col]; ++c)
            for (std::int32_t r = 0; r < rows.size[row]; ++r)
              visit(rows.element[row] + r, cols.element[col] + c, block[r + c * rows.size[row]]);
        }
    }
}

template <class T>
void start(std::uint64_t seed, MatrixView<T> v) {
  double square = 0;
  for (Index i = 0; i < v.rows; ++i) {
    const auto number = 2 * static_cast<std::uint64_t>(i);
    const auto re = static_cast<RealOf<T>>(normal_number(seed, number));
    if constexpr (is_complex<T>)
      v(i, 0) = {re, static_cast<RealOf<T>>(normal_number(seed, number + 1))};
    else
      v(i, 0) = re;
    square += static_cast<double>(std::norm(v(i, 0)));
  }
  const auto factor = static_cast<RealOf<T>>(square > 0 ? 1 / std::sqrt(square) : 0);
  for (Index i = 0; i < v.rows; ++i) v(i, 0) *= factor;
}

}  // namespace

template <class T>
void run(const HostContext& on, const ExtendKrylov<T>& task) {
  const PackedPattern pattern(task.pattern.view().data());
  const MatrixView<T> basis = *task.basis;
  if (task.first == 0) start<T>(task.seed, basis.block(0, 0, task.n, 1));
  for (Index k = task.first; k < task.first + task.steps; ++k) {
    const MatrixView<T> next = basis.block(0, k + 1, task.n, 1);
    std::fill_n(next.data, task.n, T(0));
    for_each_element<T>(pattern, task.panels, [&](Index row, Index col, T element) {
      next(row, 0) += task.factor * element * basis(col, k);
    });
    T* const passes = task.work.view().data();
    for (int pass = 0; pass < 2; ++pass)
      orthogonalise<T>(on, basis.block(0, 0, task.n, k + 1), next, passes + pass * (k + 1));
    end_lanczos_step<T>(on, passes + k, passes + 2 * k + 1, next,
                        task.coefficients.view().data() + 2 * (k - task.first));
  }
}

template <class T>
void run(const HostContext&, const RowModuli<T>& task) {
  const std::span<double> sums = *task.sums;
  std::fill(sums.begin(), sums.end(), 0.0);
  double* const diagonal = sums.data() + sums.size() / 2;
  for_each_element<T>(PackedPattern(task.pattern.view().data()), task.panels,
                      [&](Index row, Index col, T element) {
                        const double re = real_part(element), im = imag_part(element);
                        sums[static_cast<std::size_t>(row)] += std::hypot(re, im);
                        if (row == col) diagonal[row] = static_cast<double>(real_part(element));
                      });
}

#define TESSERA_DEFINE(T)              \
  TESSERA_DEFINE_TASK(ExtendKrylov<T>) \
  TESSERA_DEFINE_TASK(RowModuli<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
