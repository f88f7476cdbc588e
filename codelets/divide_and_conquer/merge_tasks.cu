// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/merge_tasks.hpp>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/split_products.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail::divide_and_conquer {

void run(const DeviceContext& on, const Merge& task) {
  const MergeShape& shape = task.shape;
  const Index m = shape.order();
  DeviceFailure failure(on, StatusCode::no_convergence);
  const MergeBatch batch{.forest = {m, m, m},
                         .cut = shape.left,
                         .e = scaled_of(*task.scaled, shape.n).e + shape.cut - shape.left,
                         .left = task.left.view().data(),
                         .right = task.right.view().data() - 3 * shape.left,
                         .merged = task.merged.view().data(),
                         .records = task.record.view().data(),
                         .scratch = task.work.view().data(),
                         .epsilon = shape.epsilon,
                         .failure = failure.index()};
  kernels::launch_merge(on.stream, batch, shape.weights, shape.rows);
  failure.report(shape.cut);
}

void run(const DeviceContext& on, const OutlinePanel& task) {
  const auto& [m, begin, end] = task.panel;
  kernels::launch_outline(on.stream, m, task.record.view().data(), begin, end,
                          reinterpret_cast<PanelOutline*>(task.outline.view().data()));
}

template <class R>
void run(const DeviceContext& on, const SecularVectors<R>& task) {
  const auto& [header, roots] = outline_of(*task.outline);
  const MatrixView<R> s = *task.s;
  kernels::launch_secular_vectors(on.stream, task.panel.m, task.record.view().data(), header.poles,
                                  roots.first, roots.count, s.data, s.ld);
}

template <class R>
void run(const DeviceContext& on, const PackRows<R>& task) {
  const MatrixView<R> packed = *task.packed;
  const TileList<R> tiles(task.tiles);
  kernels::launch_pack_rows(on.stream, task.m, task.record.view().data(), task.child, task.rows,
                            tiles.data.data(), tiles.count, task.tile_columns, tiles.ld, packed.data,
                            packed.ld);
}

template <class R>
void run(const DeviceContext& on, const UpdateRows<R>& task) {
  const auto& [header, roots] = outline_of(*task.outline);
  const auto& [m, begin, end] = task.panel;
  const Child child = task.block.child;
  const Index rows = task.block.rows, inner = header.pole_slots(child);
  const MatrixView<const R> packed = *task.packed, s = *task.s;
  const MatrixView<R> out = *task.out;
  if (roots.count > 0 && inner > 0)
    gemm_or_split<R>(on, Op::none, Op::none, 1, packed.block(0, 0, rows, inner),
                     s.block(header.first_pole_slot(child), 0, inner, roots.count), 0,
                     out.block(0, 0, rows, roots.count), task.split.view());
  if (roots.count < end - begin || inner == 0)
    kernels::launch_spread_columns(on.stream, m, task.record.view().data(), child, rows, packed.data,
                                   packed.ld, begin, end, roots.first, inner > 0 ? roots.count : 0, out.data,
                                   out.ld);
}

template <class T>
void run(const DeviceContext& on, const FillSlab<T>& task) {
  const MatrixView<T> slab = *task.slab;
  const auto& [from, to, count] = task.columns;
  for (Index row = 0, b = 0; row < slab.rows; row += task.block_rows, ++b) {
    const auto tile = task.tiles[static_cast<int>(b)];
    kernels::launch_widen(on.stream, tile.rows, count, tile.data + from * tile.ld, tile.ld,
                          slab.data + row + to * slab.ld, slab.ld);
  }
}

}  // namespace tessera::detail::divide_and_conquer

namespace tessera::detail {

TESSERA_DEFINE_ON_GPU(divide_and_conquer::Merge)

#define TESSERA_DEFINE_REAL(R)                                 \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::SecularVectors<R>) \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::PackRows<R>)       \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::UpdateRows<R>)
#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(divide_and_conquer::FillSlab<T>)
TESSERA_DEFINE_ON_GPU(divide_and_conquer::OutlinePanel)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
