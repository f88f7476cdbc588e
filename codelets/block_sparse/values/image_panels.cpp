// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace {

/// to := factor from on a part of a block; `row_step`, `col_step`: from one row or column to the next in `from`.
template <bool conjugated, class T>
void move_part(const BlockMove& move, T factor, const T* from, Index row_step, Index col_step, T* to) {
  for (Index j = 0; j < move.cols; ++j, from += col_step, to += move.destination_ld)
    for (Index i = 0; i < move.rows; ++i) {
      const T& element = from[i * row_step];
      to[i] = factor * (conjugated ? conjugate(element) : element);
    }
}

}  // namespace

template <class T>
void run(const HostContext&, const MakeImagePanel<T>& task) {
  const std::span<T> destination = task.destination.view();
  if (task.destination.first() && !task.complete) std::fill(destination.begin(), destination.end(), T(0));
  for (const auto& [move, source, way] : *task.moves) {
    const T* const from = task.sources[source].data() + move.source;
    T* const to = destination.data() + move.destination;
    const Index row_step = way.transposed ? move.source_ld : 1,
                col_step = way.transposed ? 1 : move.source_ld;
    const T factor = way.negated ? -task.factor : task.factor;
    if (is_complex<T> && way.conjugated)
      move_part<true>(move, factor, from, row_step, col_step, to);
    else
      move_part<false>(move, factor, from, row_step, col_step, to);
  }
}

template <class T>
void run(const HostContext&, const MirrorPanel<T>& task) {
  const PackedPattern half(task.half.view().data()), whole(task.whole.view().data());
  const PackedPanel to = whole.panel(task.row_panel, task.col_panel),
                    stored = half.panel(task.row_panel, task.col_panel),
                    mirror = half.panel(task.col_panel, task.row_panel);
  if (to.blocks == 0) return;
  T* const destination = task.destination.view().data();
  const PackedSide rows = whole.rows(), cols = whole.cols();
  const auto copy = [&](const ImageWay& way, const BlockMove& move, const T* from, Index row_step,
                        Index col_step, T* block) {
    const T factor = way.negated ? -task.factor : task.factor;
    if (is_complex<T> && way.conjugated)
      move_part<true>(move, factor, from, row_step, col_step, block);
    else
      move_part<false>(move, factor, from, row_step, col_step, block);
  };
  for (std::int32_t i = 0; i < rows.blocks(task.row_panel); ++i) {
    const std::int32_t m = rows.size[rows.first[task.row_panel] + i];
    for (std::int32_t b = to.row_begin[i]; b < to.row_begin[i + 1]; ++b) {
      const std::int32_t j = to.column[b], n = cols.size[cols.first[task.col_panel] + j];
      const BlockMove move{0, 0, m, n, 0, m};
      T* const block = destination + to.offset[b];
      if (const std::int32_t same = task.stored ? find_block(stored, i, j) : -1; same >= 0)
        copy(task.way, move, task.stored.view().data() + stored.offset[same], 1, m, block);
      else if (const std::int32_t across = find_block(mirror, j, i); across >= 0)
        copy(task.mirror_way, move, task.mirror.view().data() + mirror.offset[across], n, 1, block);
    }
  }
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_TASK(MakeImagePanel<T>) \
  TESSERA_DEFINE_TASK(MirrorPanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
