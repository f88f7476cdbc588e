// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/block_sparse/values/whole_panels.hpp>

namespace tessera::detail {

namespace {

/// Calls visit(element of the panel's data, row, column, the block is on the diagonal) for the elements of a panel.
template <class Visit>
void for_each_element(const PackedPattern& pattern, std::int32_t row_panel, std::int32_t col_panel,
                      const Visit& visit) {
  const PackedPanel panel = pattern.panel(row_panel, col_panel);
  if (panel.blocks == 0) return;
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  for (std::int32_t row = 0; row < rows.blocks(row_panel); ++row)
    for (std::int32_t b = panel.row_begin[row]; b < panel.row_begin[row + 1]; ++b) {
      const std::int32_t i = rows.first[row_panel] + row, j = cols.first[col_panel] + panel.column[b];
      const bool diagonal = rows.number[i] == cols.number[j];
      Index element = panel.offset[b];
      for (Index c = 0; c < cols.size[j]; ++c)
        for (Index r = 0; r < rows.size[i]; ++r)
          visit(element++, rows.element[i] + r, cols.element[j] + c, diagonal);
    }
}

}  // namespace

template <class T>
void run(const HostContext&, const PanelToDense<T>& task) {
  const MatrixView<T> matrix = *task.matrix;
  const T* const values = task.values.view().data();
  for_each_element(PackedPattern(task.pattern.view().data()), task.row_panel, task.col_panel,
                   [&](Index element, Index i, Index j, bool diagonal) {
                     matrix(i, j) = values[element];
                     if (task.symmetry != Symmetry::none && !diagonal)
                       matrix(j, i) = mirrored(task.symmetry, values[element]);
                   });
}

template <class T>
void run(const HostContext&, const PanelFromDense<T>& task) {
  const MatrixView<const T> matrix = *task.matrix;
  T* const values = task.values.view().data();
  for_each_element(PackedPattern(task.pattern.view().data()), task.row_panel, task.col_panel,
                   [&](Index element, Index i, Index j, bool diagonal) {
                     const bool halved = diagonal && task.symmetry != Symmetry::none;
                     const DensePlace place = dense_place(task.counted, halved, i, j);
                     T x = matrix(place.row, place.col);
                     if (place.conjugated) x = conjugate(x);
                     if (place.image) x = mirrored(task.symmetry, x);
                     if (halved && i == j && task.symmetry == Symmetry::antisymmetric) x = T(0);
                     if (halved && i == j && task.symmetry == Symmetry::hermitian) x = T(real_part(x));
                     values[element] = x;
                   });
}

template <class T>
void run(const HostContext&, const FlagBlocks<T>& task) {
  const MatrixView<const T> matrix = *task.matrix;
  const PackedPattern pattern(task.pattern.view().data());
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  const auto above = [&](Index i, Index j) {
    for (Index c = cols.element[j]; c < cols.element[j] + cols.size[j]; ++c)
      for (Index r = rows.element[i]; r < rows.element[i] + rows.size[i]; ++r) {
        const DensePlace place = dense_place(task.counted, false, r, c);
        if (!(static_cast<double>(std::abs(matrix(place.row, place.col))) <= task.threshold)) return true;
      }
    return task.threshold < 0;
  };
  for (Index j = 0; j < task.col_blocks; ++j)
    for (Index i = 0; i < task.row_blocks; ++i) {
      const bool placed = !task.half_stored || rows.number[i] >= cols.number[j];
      task.flags.view()[static_cast<std::size_t>(j + i * task.col_blocks)] = placed && above(i, j) ? 1 : 0;
    }
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_TASK(PanelToDense<T>)   \
  TESSERA_DEFINE_TASK(PanelFromDense<T>) \
  TESSERA_DEFINE_TASK(FlagBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
