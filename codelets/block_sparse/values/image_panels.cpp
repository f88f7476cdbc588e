// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/values/image_panels.hpp>

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

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(MakeImagePanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
