// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_tasks.hpp>
#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const BandGather<T>& task) {
  const auto& [n, bandwidth, first, columns] = task.band;
  T* const segment = task.segment.view().data();
  DeviceFailure failure(on, StatusCode::not_finite);
  kernels::launch_begin_gather<T>(on.stream, segment);
  for (int i = 0; i < task.pieces.size(); ++i) {
    const auto piece = task.pieces[i];
    const Index at = i * task.piece_columns, count = std::min(task.piece_columns, columns - at);
    kernels::launch_gather_piece<T>(on.stream, n, bandwidth, first + at, count, piece.data, piece.ld, segment,
                                    at);
  }
  kernels::launch_end_gather<T>(on.stream, segment, failure.index());
  failure.report();
}

template <class T>
void run(const DeviceContext& on, const ChaseSweeps<T>& task) {
  kernels::launch_chase_sweeps<T>(on.stream, task.sweeps, task.segment.view().data(), task.kept.view().data(),
                                  task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const TridiagonalPiece<T>& task) {
  const auto& [n, bandwidth, first, columns] = task.band;
  RealOf<T>* const piece = task.piece.view().data();
  kernels::launch_segment_to_tridiagonal<T>(on.stream, n, bandwidth, first, columns,
                                            task.segment.view().data(), piece, piece + columns);
}

#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_ON_GPU(BandGather<T>)  \
  TESSERA_DEFINE_ON_GPU(ChaseSweeps<T>) \
  TESSERA_DEFINE_ON_GPU(TridiagonalPiece<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
