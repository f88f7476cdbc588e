// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/sparse/fom_tiles.hpp>
#include <tessera/error.hpp>

namespace tessera {

template <class V, class T>
void run(const HostContext&, const FomTiles<V, T>& task) {
  CsbPieceView<V> piece{0, 0, true, nullptr, nullptr, nullptr, nullptr};
  if (task.stored())
    piece = csb_view<V>(task.piece.view().data(), task.shape.block_count, task.shape.entry_count, true);
  const auto r = *task.r;
  const auto w = *task.w;
  kernels::fom_tiles<V, T>(piece, task.tiles, task.begins.view().data(), task.columns, task.steps, task.shift,
                           r.data, r.ld, w.data, w.ld, reinterpret_cast<T*>(task.scratch.view().data()));
  if (w.rows > task.columns)
    for (Index i = 0; i < w.cols; ++i) std::fill_n(&w(task.columns, i), w.rows - task.columns, T(0));
}

template <class V, class T>
void insert_fom_tiles(Sequence& sequence, FomTiles<V, T> task, const TaskOptions& options) {
  if (task.stored() && !task.index && sequence.runtime().any_gpus())
    throw InvalidArgument("index", "none", "that of the piece, where GPUs take part");
  if (!task.stored() || sequence.runtime().gpus() > 0) task.piece = {};
  if (!task.stored()) task.index = {};
  sequence.insert(task, options);
}

#define TESSERA_DEFINE(V, T)          \
  TESSERA_DEFINE_TASK(FomTiles<V, T>) \
  template void insert_fom_tiles<V, T>(Sequence&, FomTiles<V, T>, const TaskOptions&);
TESSERA_DEFINE(float, float)
TESSERA_DEFINE(float, double)
TESSERA_DEFINE(double, double)

}  // namespace tessera
