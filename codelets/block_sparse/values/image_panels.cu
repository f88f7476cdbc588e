// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = panel_threads;

/// The panels that moves start from.
template <class S>
struct ImageSources {
  const S* values[MakeImagePanel<float>::most_sources];
};

/// blockIdx.x takes a move, blockIdx.y a part of it.
template <class S>
__global__ void __launch_bounds__(threads)
    image_kernel(S factor, S negated_factor, Index move_count, const ImageMove* __restrict__ moves,
                 ImageSources<S> sources, S* destination) {
  for (Index m = blockIdx.x; m < move_count; m += gridDim.x) {
    const auto [move, number, way] = moves[m];
    const S* const source = sources.values[number] + move.source;
    const S by = way.negated ? negated_factor : factor;
    const Index count = Index(move.rows) * move.cols;
    const Index row_step = way.transposed ? move.source_ld : 1,
                col_step = way.transposed ? 1 : move.source_ld;
    for (Index e = Index(blockIdx.y) * threads + threadIdx.x; e < count; e += Index(gridDim.y) * threads) {
      const auto [i, j] = position(e, move.rows);
      const S element = source[i * row_step + j * col_step];
      destination[move.destination + i + j * move.destination_ld] =
          times(by, way.conjugated ? device::conj(element) : element);
    }
  }
}

/// What mirror_kernel reads and writes.
template <class S>
struct Mirror {
  const std::int32_t *half, *whole;
  const S *stored, *mirror;
  S* destination;
  std::int32_t row_panel, col_panel;
  S stored_factor, mirror_factor;
  bool stored_conjugated, mirror_conjugated;
};

/// A warp takes some blocks of the destination.
template <class S>
__global__ void __launch_bounds__(threads) mirror_kernel(const __grid_constant__ Mirror<S> of) {
  const PackedPattern half(of.half), whole(of.whole);
  const PackedPanel to = whole.panel(of.row_panel, of.col_panel),
                    stored = half.panel(of.row_panel, of.col_panel),
                    mirror = half.panel(of.col_panel, of.row_panel);
  const PackedSide rows = whole.rows(), cols = whole.cols();
  const std::int32_t row_count = rows.blocks(of.row_panel), first_row = rows.first[of.row_panel],
                     first_col = cols.first[of.col_panel], together = looked_up(to.blocks),
                     stride = static_cast<std::int32_t>(gridDim.x) * (threads / 32) * together;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (auto first = static_cast<std::int32_t>(blockIdx.x * (threads / 32) + threadIdx.x / 32) * together;
       first < to.blocks; first += stride) {
    const std::int32_t b = first + lane;
    std::int32_t at = 0, m = 0, n = 0, same = -1, across = -1;  // the block, and where its values are
    if (lane < together && b < to.blocks) {
      const std::int32_t i = row_of_block(to, row_count, b), j = to.column[b];
      at = to.offset[b];
      m = rows.size[first_row + i];
      n = cols.size[first_col + j];
      if (of.stored) same = find_block(stored, i, j);
      if (same < 0) across = find_block(mirror, j, i);
      if (same >= 0) same = stored.offset[same];
      if (across >= 0) across = mirror.offset[across];
    }
    for (int k = 0; k < together; ++k) {
      const std::int32_t rows_here = of_lane(m, k), cols_here = of_lane(n, k), stored_at = of_lane(same, k),
                         mirror_at = of_lane(across, k);
      if (stored_at < 0 && mirror_at < 0) continue;
      const bool is_stored = stored_at >= 0;
      const S* const from = is_stored ? of.stored + stored_at : of.mirror + mirror_at;
      const S factor = is_stored ? of.stored_factor : of.mirror_factor;
      const bool conjugated = is_stored ? of.stored_conjugated : of.mirror_conjugated;
      S* const block = of.destination + of_lane(at, k);
      for (std::int32_t e = lane; e < rows_here * cols_here; e += 32) {
        const S element = from[is_stored ? e : e / rows_here + e % rows_here * cols_here];
        block[e] = times(factor, conjugated ? device::conj(element) : element);
      }
    }
  }
}

}  // namespace
}  // namespace device

using device::device_cast, device::device_scalar, device::DeviceScalar;

template <class T>
void run(const DeviceContext& on, const MakeImagePanel<T>& task) {
  using namespace device;
  const auto moves = *task.moves;
  const std::span<T> destination = task.destination.view();
  if (task.destination.first() && !task.complete)
    cudaMemsetAsync(destination.data(), 0, destination.size_bytes(), on.stream);
  if (moves.empty()) return;
  ImageSources<DeviceScalar<T>> sources{};
  for (int s = 0; s < task.sources.size(); ++s) sources.values[s] = device_cast(task.sources[s].data());
  image_kernel<<<panel_grid(moves.size()), threads, 0, on.stream>>>(
      device_scalar(task.factor), device_scalar(-task.factor), static_cast<Index>(moves.size()), moves.data(),
      sources, device_cast(destination.data()));
}

template <class T>
void run(const DeviceContext& on, const MirrorPanel<T>& task) {
  using namespace device;
  const auto values = [](const Read<Array<T>>& operand) {
    return operand ? device_cast(operand.view().data()) : nullptr;
  };
  const auto factor = [&](const ImageWay& way) {
    return device_scalar(way.negated ? -task.factor : task.factor);
  };
  const Mirror<DeviceScalar<T>> of{task.half.view().data(),
                                   task.whole.view().data(),
                                   values(task.stored),
                                   values(task.mirror),
                                   device_cast(task.destination.view().data()),
                                   task.row_panel,
                                   task.col_panel,
                                   factor(task.way),
                                   factor(task.mirror_way),
                                   task.way.conjugated,
                                   task.mirror_way.conjugated};
  mirror_kernel<<<full_grid, threads, 0, on.stream>>>(of);
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_ON_GPU(MakeImagePanel<T>) \
  TESSERA_DEFINE_ON_GPU(MirrorPanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
