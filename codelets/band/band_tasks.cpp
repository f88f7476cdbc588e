// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/band/kernels/band_storage.hpp>

namespace tessera::detail {

Index ChaseTilePlace::hops() const noexcept {
  Index sum = 0;
  for (Index j = 0; j < sweeps; ++j) {
    const Index sweep = first_sweep + j, shift = 2 * bandwidth * j;
    const Index end = std::min(kernels::first_hop_from(bandwidth, sweep, column_end - shift),
                               kernels::hop_count(n, bandwidth, sweep));
    sum += std::max<Index>(end - kernels::first_hop_from(bandwidth, sweep, column_begin - shift), 0);
  }
  return sum;
}

template <class T>
void run(const HostContext& on, const BandGather<T>& task) {
  const auto& [n, bandwidth, first, columns] = task.band;
  T* const segment = task.segment.view().data();
  for (int i = 0; i < task.pieces.size(); ++i) {
    const auto piece = task.pieces[i];
    const Index at = i * task.piece_columns, count = std::min(task.piece_columns, columns - at);
    const Index bad =
        kernels::band_to_segment<T>(n, bandwidth, first + at, count, piece.data, piece.ld, segment, at);
    if (bad >= 0) return on.fail(StatusCode::not_finite, bad + 1);
  }
}

template <class T>
void run(const HostContext&, const ChaseTile<T>& task) {
  const ChaseTilePlace& place = task.place;
  T* const segments[2] = {task.segments[0].view().data(), task.segments[1].view().data()};
  kernels::Reflectors<T> reflectors = task.reflectors;
  if (task.kept) reflectors.data = task.kept.view().data();
  const kernels::BandView<T> view{place.n, place.bandwidth, place.first_column, place.segment_width,
                                  segments};
  kernels::chase_tile<T>(view, place.first_sweep, place.sweeps, place.column_begin, place.column_end,
                         reflectors, task.workspace.view().data());
}

template <class T>
void run(const HostContext&, const ChaseSweeps<T>& task) {
  kernels::chase_sweeps<T>(task.sweeps, task.segment.view().data(), task.kept.view().data(),
                           task.workspace.view().data());
}

template <class T>
void run(const HostContext&, const TridiagonalPiece<T>& task) {
  const auto& [n, bandwidth, first, columns] = task.band;
  RealOf<T>* const piece = task.piece.view().data();
  kernels::segment_to_tridiagonal<T>(n, bandwidth, first, columns, task.segment.view().data(), piece,
                                     piece + columns);
}

template <class R>
void run(const HostContext&, const TridiagonalAssemble<R>& task) {
  R* const d = task.d.view().data();
  R* const e = task.e.view().data();
  for (int i = 0; i < task.pieces.size(); ++i) {
    const Index first = i * task.piece_columns, count = std::min(task.piece_columns, task.n - first);
    const R* const piece = task.pieces[i].data();
    std::copy_n(piece, count, d + first);
    std::copy_n(piece + count, std::min(count, std::max<Index>(task.n - 1, 1) - first), e + first);
  }
}

#define TESSERA_DEFINE(T)             \
  TESSERA_DEFINE_TASK(BandGather<T>)  \
  TESSERA_DEFINE_TASK(ChaseTile<T>)   \
  TESSERA_DEFINE_TASK(ChaseSweeps<T>) \
  TESSERA_DEFINE_TASK(TridiagonalPiece<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
TESSERA_DEFINE_TASK(TridiagonalAssemble<float>)
TESSERA_DEFINE_TASK(TridiagonalAssemble<double>)

}  // namespace tessera::detail
