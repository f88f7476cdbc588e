// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/scale_window.hpp>

namespace tessera {
namespace {

template <class T>
void scale_task(const TaskContext&, TaskBuffers buffers, const ScaleWindowArguments<T>& w) {
  T* const values = buffers.array<T>(1).data();
  for (const PanelBlock& block : buffers.array<const PanelBlock>(0)) {
    const Index first_row = std::max<Index>(w.first_row - block.first_row, 0),
                end_row = std::min<Index>(w.end_row - block.first_row, block.rows);
    const Index first_col = std::max<Index>(w.first_col - block.first_col, 0),
                end_col = std::min<Index>(w.end_col - block.first_col, block.cols);
    for (Index j = first_col; j < end_col; ++j) {
      T* const column = values + block.offset + j * block.rows;
      for (Index i = first_row; i < end_row; ++i) column[i] = w.factor == T(0) ? T(0) : w.factor * column[i];
    }
  }
}

template <class T>
Codelet scale_codelet = make_codelet<ScaleWindowArguments<T>, scale_task<T>>("scale_window", type_letter<T>);

}  // namespace

template <class T>
void insert_scale_window(Sequence& sequence, int priority, const ScaleWindowArguments<T>& arguments,
                         const Data& blocks, const Data& values) {
  sequence.insert(scale_codelet<T>, arguments, {.priority = priority}, {read(blocks), read_write(values)});
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template void insert_scale_window<T>(Sequence&, int, const ScaleWindowArguments<T>&, const Data&, \
                                       const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
