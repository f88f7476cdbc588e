// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>
#include <tessera/codelets/divide_and_conquer/vector_tasks.hpp>

namespace tessera::divide_and_conquer {

void run(const HostContext&, const OutlinePanel& task) {
  const auto& [m, begin, end] = task.panel;
  const MergeRecord record = record_of(*task.record, m);
  *reinterpret_cast<PanelOutline*>(task.outline.view().data()) = {*record.header,
                                                                  record.roots_of(begin, end)};
}

template <class R>
void run(const HostContext&, const SecularVectors<R>& task) {
  const MatrixView<R> s = *task.s;
  const auto [first, count] = outline_of(*task.outline).roots;
  kernels::secular_vectors(record_of(*task.record, task.panel.m), first, first + count, s.data, s.ld);
}

template <class R>
void run(const HostContext&, const PackRows<R>& task) {
  const MatrixView<R> packed = *task.packed;
  const TileList<R> tiles(task.tiles);
  kernels::pack_rows(record_of(*task.record, task.m), task.child, task.rows, tiles.data.data(),
                     task.tile_columns, tiles.ld, packed.data, packed.ld);
}

template <class R>
void run(const HostContext&, const UpdateRows<R>& task) {
  const auto& [m, begin, end] = task.panel;
  const MatrixView<const R> packed = *task.packed, s = *task.s;
  const MatrixView<R> out = *task.out;
  kernels::update_rows(record_of(*task.record, m), task.block.child, task.block.rows, packed.data, packed.ld,
                       begin, end, s.data, s.ld, out.data, out.ld);
}

template <class T>
void run(const HostContext&, const FillSlab<T>& task) {
  const MatrixView<T> slab = *task.slab;
  const auto& [from, to, count] = task.columns;
  for (Index row = 0, b = 0; row < slab.rows; row += task.block_rows, ++b) {
    const auto tile = task.tiles[static_cast<int>(b)];
    for (Index c = 0; c < count; ++c)
      std::copy_n(tile.data + (from + c) * tile.ld, tile.rows, slab.data + row + (to + c) * slab.ld);
  }
}

}  // namespace tessera::divide_and_conquer

namespace tessera {

#define TESSERA_DEFINE_REAL(R)                               \
  TESSERA_DEFINE_TASK(divide_and_conquer::SecularVectors<R>) \
  TESSERA_DEFINE_TASK(divide_and_conquer::PackRows<R>)       \
  TESSERA_DEFINE_TASK(divide_and_conquer::UpdateRows<R>)
#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(divide_and_conquer::FillSlab<T>)
TESSERA_DEFINE_TASK(divide_and_conquer::OutlinePanel)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
