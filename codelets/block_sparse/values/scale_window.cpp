// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/values/scale_window.hpp>

namespace tessera {

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

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(ScaleWindow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
