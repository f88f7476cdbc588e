// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>
#include <tessera/codelets/divide_and_conquer/merge_tasks.hpp>

namespace tessera::detail::divide_and_conquer {

std::size_t merge_scratch_bytes(Index m) noexcept {
  const std::size_t on_host = static_cast<std::size_t>(kernels::deflate_real_scratch(m)) * sizeof(double) +
                              static_cast<std::size_t>(kernels::deflate_index_scratch(m)) * sizeof(Index);
  return std::max(on_host, static_cast<std::size_t>(merge_scratch_doubles(m)) * sizeof(double));
}

namespace {

/// For Merge and Deflate.
template <class Task>
void deflate(const HostContext& on, const Task& task, MergeRecord& record) {
  const MergeShape& shape = task.shape;
  double* reals = task.work.view().data();
  Index* integers = reinterpret_cast<Index*>(reals + kernels::deflate_real_scratch(shape.order()));
  kernels::deflate(spectrum_of(*task.left, shape.left), shape.left, spectrum_of(*task.right, shape.right),
                   shape.right, scaled_of(*task.scaled, shape.n).e[shape.cut - 1], shape.epsilon, record,
                   reals, integers);
  if (record.header->status != 0) on.fail(StatusCode::no_convergence, shape.cut + 1);
}

/// Copies the halves of all parts into two arrays of the record.
void collect(const ReadAll<Array<double>>& parts, Index m, Index poles, double* first,
             double* second) noexcept {
  for (int p = 0; p < parts.size(); ++p) {
    const MergePart which{m, p, parts.size()};
    const double* part = parts[p].data();
    const Index begin = which.begin(poles), count = which.end(poles) - begin;
    std::copy_n(part, count, first + begin);
    if (second) std::copy_n(part + which.capacity(), count, second + begin);
  }
}

}  // namespace

void run(const HostContext& on, const Merge& task) {
  const MergeShape& shape = task.shape;
  MergeRecord record = record_of(*task.record, shape.order());
  deflate(on, task, record);
  const Index poles = record.poles();
  kernels::secular_roots(record, 0, poles, record.base, record.offset);
  if (shape.weights) {
    double* ascending = task.work.view().data();
    kernels::secular_weights(record, 0, poles, ascending);
    kernels::place_weights(ascending, record);
  }
  if (shape.rows) kernels::secular_rows(record, 0, poles, record.root_first, record.root_last);
  kernels::order_spectrum(record, shape.rows, spectrum_of(*task.merged, shape.order()));
}

void run(const HostContext& on, const Deflate& task) {
  MergeRecord record = record_of(*task.record, task.shape.order());
  deflate(on, task, record);
}

template <SecularStep step>
void run(const HostContext&, const SecularPart<step>& task) {
  const MergeRecord record = record_of(*task.record, task.which.m);
  double* first = task.part.view().data();
  double* second = first + task.which.capacity();
  const Index begin = task.which.begin(record.poles()), end = task.which.end(record.poles());
  if constexpr (step == SecularStep::roots)
    kernels::secular_roots(record, begin, end, first, second);
  else if constexpr (step == SecularStep::weights)
    kernels::secular_weights(record, begin, end, first);
  else
    kernels::secular_rows(record, begin, end, first, second);
}

template <SecularStep step>
void run(const HostContext&, const GatherParts<step>& task) {
  MergeRecord record = record_of(*task.record, task.m);
  if constexpr (step == SecularStep::roots) {
    collect(task.parts, task.m, record.poles(), record.base, record.offset);
  } else {
    // root_first is free until the rows are computed: the weights pass through it to their slots.
    collect(task.parts, task.m, record.poles(), record.root_first, nullptr);
    kernels::place_weights(record.root_first, record);
  }
}

void run(const HostContext&, const OrderSpectrum& task) {
  MergeRecord record = record_of(*task.record, task.m);
  if (task.rows) collect(task.parts, task.m, record.poles(), record.root_first, record.root_last);
  kernels::order_spectrum(record, task.rows, spectrum_of(*task.merged, task.m));
}

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

}  // namespace tessera::detail::divide_and_conquer

namespace tessera::detail {

TESSERA_DEFINE_TASK(divide_and_conquer::Merge)
TESSERA_DEFINE_TASK(divide_and_conquer::Deflate)
TESSERA_DEFINE_TASK(divide_and_conquer::SecularPart<divide_and_conquer::SecularStep::roots>)
TESSERA_DEFINE_TASK(divide_and_conquer::SecularPart<divide_and_conquer::SecularStep::weights>)
TESSERA_DEFINE_TASK(divide_and_conquer::SecularPart<divide_and_conquer::SecularStep::rows>)
TESSERA_DEFINE_TASK(divide_and_conquer::GatherParts<divide_and_conquer::SecularStep::roots>)
TESSERA_DEFINE_TASK(divide_and_conquer::GatherParts<divide_and_conquer::SecularStep::weights>)
TESSERA_DEFINE_TASK(divide_and_conquer::OrderSpectrum)

#define TESSERA_DEFINE_REAL(R)                               \
  TESSERA_DEFINE_TASK(divide_and_conquer::SecularVectors<R>) \
  TESSERA_DEFINE_TASK(divide_and_conquer::PackRows<R>)       \
  TESSERA_DEFINE_TASK(divide_and_conquer::UpdateRows<R>)
#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(divide_and_conquer::FillSlab<T>)
TESSERA_DEFINE_TASK(divide_and_conquer::OutlinePanel)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail

namespace tessera::detail::divide_and_conquer {
namespace {

template <SecularStep step>
void insert_parts(Sequence& sequence, const Data& record, Index m, std::span<const Data> parts,
                  const TaskOptions& options) {
  MergePart which{.m = m, .part = 0, .parts = static_cast<Index>(parts.size())};
  for (const Data& part : parts) {
    sequence.insert(SecularPart<step>{.record = record, .part = part, .which = which}, options);
    ++which.part;
  }
}

}  // namespace

void insert_merge_in_parts(Sequence& sequence, const Merge& merge, std::span<const Data> parts,
                           const TaskOptions& options) {
  using enum SecularStep;
  const MergeShape& shape = merge.shape;
  const Index m = shape.order();
  const Data& record = *merge.record.data();
  const std::vector<const Data*> pieces = pointers_to(parts);
  sequence.insert(Deflate{.scaled = merge.scaled,
                          .left = merge.left,
                          .right = merge.right,
                          .record = record,
                          .work = merge.work,
                          .shape = shape},
                  options);
  insert_parts<roots>(sequence, record, m, parts, options);
  sequence.insert(GatherParts<roots>{.record = record, .parts = pieces, .m = m}, options);
  if (shape.weights) {
    insert_parts<weights>(sequence, record, m, parts, options);
    sequence.insert(GatherParts<weights>{.record = record, .parts = pieces, .m = m}, options);
  }
  OrderSpectrum order{.record = record, .merged = merge.merged, .m = m, .rows = shape.rows};
  if (shape.rows) {
    insert_parts<rows>(sequence, record, m, parts, options);
    order.parts = pieces;
  }
  sequence.insert(order, options);
}

}  // namespace tessera::detail::divide_and_conquer
