// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/block_elementwise.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace {

/// Calls change(element (i, i), i) for the elements of the diagonal that the panel stores, in order.
template <class T, class Change>
void for_diagonal(std::span<const PanelBlock> blocks, T* values, const Change& change) {
  for (const PanelBlock& block : blocks) {
    const auto [first, end] = diagonal_part(block);
    for (Index i = first; i < end; ++i) change(values[diagonal_place(block, i)], i);
  }
}

}  // namespace

template <class T>
void run(const HostContext&, const ImposeSymmetry<T>& task) {
  const PackedPattern pattern(task.pattern.view().data());
  const PackedPanel panel = pattern.panel(task.row_panel, task.col_panel);
  if (panel.blocks == 0) return;
  const PackedSide rows = pattern.rows(), cols = pattern.cols();
  for (std::int32_t row = 0; row < rows.blocks(task.row_panel); ++row)
    for (std::int32_t b = panel.row_begin[row]; b < panel.row_begin[row + 1]; ++b) {
      const std::int32_t at = rows.first[task.row_panel] + row;
      if (rows.number[at] != cols.number[cols.first[task.col_panel] + panel.column[b]]) continue;
      const Index n = rows.size[at];
      const MatrixView<T> a{task.values.view().data() + panel.offset[b], n, n, n};
      for (Index j = 0; j < n; ++j) {
        if (task.symmetry == Symmetry::antisymmetric) a(j, j) = T(0);
        if (task.symmetry == Symmetry::hermitian) a(j, j) = T(real_part(a(j, j)));
        for (Index i = j + 1; i < n; ++i) a(j, i) = mirrored(task.symmetry, a(i, j));
      }
    }
}

template <class T>
void run(const HostContext&, const CutBelowDiagonal<T>& task) {
  const auto values = *task.values;
  for (const PanelBlock& block : *task.blocks)
    for (Index j = 0; j < block.cols; ++j) {
      const Index first = std::max<Index>(block.first_col + j + 1 - block.first_row, 0);
      for (Index i = first; i < block.rows; ++i)
        values[static_cast<std::size_t>(block.offset + i + j * block.rows)] = T(0);
    }
}

template <class T>
void run(const HostContext&, const ScaleByVector<T>& task) {
  const T* const v = task.v.view().data();
  T* const values = task.values.view().data();
  for (const PanelBlock& block : *task.blocks)
    for (Index j = 0; j < block.cols; ++j) {
      T* const column = values + block.offset + j * block.rows;
      const T by_column = task.side == Side::right ? v[block.first_col + j] : T(1);
      if (task.side == Side::left)
        for (Index i = 0; i < block.rows; ++i) column[i] *= v[block.first_row + i];
      else
        for (Index i = 0; i < block.rows; ++i) column[i] *= by_column;
    }
}

template <class T>
void run(const HostContext&, const AddOnDiagonal<T>& task) {
  for_diagonal(*task.blocks, task.values.view().data(), [&](T& element, Index) { element += task.alpha; });
}

template <class T>
void run(const HostContext&, const SetDiagonal<T>& task) {
  const T* const v = task.v.view().data();
  for_diagonal(*task.blocks, task.values.view().data(), [&](T& element, Index i) { element = v[i]; });
}

template <class T>
void run(const HostContext&, const GetDiagonal<T>& task) {
  T* next = task.diagonal.view().data();
  for_diagonal(*task.blocks, task.values.view().data(), [&](const T& element, Index) { *next++ = element; });
}

template <class T>
void run(const HostContext&, const ScaleWindow<T>& task) {
  const ScaledWindow& w = task.window;
  T* const values = task.values.view().data();
  for (const PanelBlock& block : *task.blocks) {
    const Index first_row = std::max<Index>(w.first_row - block.first_row, 0),
                end_row = std::min<Index>(w.end_row - block.first_row, block.rows);
    const Index first_col = std::max<Index>(w.first_col - block.first_col, 0),
                end_col = std::min<Index>(w.end_col - block.first_col, block.cols);
    for (Index j = first_col; j < end_col; ++j) {
      T* const column = values + block.offset + j * block.rows;
      for (Index i = first_row; i < end_row; ++i)
        column[i] = task.factor == T(0) ? T(0) : task.factor * column[i];
    }
  }
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_TASK(ImposeSymmetry<T>)   \
  TESSERA_DEFINE_TASK(CutBelowDiagonal<T>) \
  TESSERA_DEFINE_TASK(ScaleByVector<T>)    \
  TESSERA_DEFINE_TASK(AddOnDiagonal<T>)    \
  TESSERA_DEFINE_TASK(SetDiagonal<T>)      \
  TESSERA_DEFINE_TASK(GetDiagonal<T>)      \
  TESSERA_DEFINE_TASK(ScaleWindow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
