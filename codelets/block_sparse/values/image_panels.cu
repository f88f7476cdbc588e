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
  Index elements;  ///< of the destination
  std::int32_t row_panel, col_panel;
  S stored_factor, mirror_factor;
  bool stored_conjugated, mirror_conjugated;
};

/// A block of the destination, and where its values are.
struct MirroredBlock {
  std::int32_t at = 0, rows = 0, cols = 0, stored = -1, mirror = -1;
};

/// Warps share the blocks of the destination.
template <class S>
__global__ void __launch_bounds__(threads) mirror_kernel(const __grid_constant__ Mirror<S> of) {
  const PackedPattern half(of.half), whole(of.whole);
  const PackedPanel to = whole.panel(of.row_panel, of.col_panel),
                    stored = half.panel(of.row_panel, of.col_panel),
                    mirror = half.panel(of.col_panel, of.row_panel);
  const PackedSide rows = whole.rows(), cols = whole.cols();
  const std::int32_t row_count = rows.blocks(of.row_panel), first_row = rows.first[of.row_panel],
                     first_col = cols.first[of.col_panel];
  const auto look = [&](std::int32_t b) {
    const std::int32_t i = row_of_block(to, row_count, b), j = to.column[b];
    const std::int32_t same = of.stored ? find_block(stored, i, j) : -1,
                       across = same < 0 ? find_block(mirror, j, i) : -1;
    MirroredBlock block{to.offset[b], rows.size[first_row + i], cols.size[first_col + j]};
    if (same >= 0) block.stored = stored.offset[same];
    if (across >= 0) block.mirror = mirror.offset[across];
    return block;
  };
  const auto copy = [&](const MirroredBlock& block, int lane, int lanes) {
    if (block.stored < 0 && block.mirror < 0) return;
    const bool is_stored = block.stored >= 0;
    const S* const from = is_stored ? of.stored + block.stored : of.mirror + block.mirror;
    const S factor = is_stored ? of.stored_factor : of.mirror_factor;
    const bool conjugated = is_stored ? of.stored_conjugated : of.mirror_conjugated;
    S* const here = of.destination + block.at;
    for (std::int32_t e = lane; e < block.rows * block.cols; e += lanes) {
      const S element = from[is_stored ? e : e / block.rows + e % block.rows * block.cols];
      here[e] = times(factor, conjugated ? device::conj(element) : element);
    }
  };
  visit_blocks(to.blocks, of.elements, look, copy);
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
                                   static_cast<Index>(task.destination.view().size()),
                                   task.row_panel,
                                   task.col_panel,
                                   factor(task.way),
                                   factor(task.mirror_way),
                                   task.way.conjugated,
                                   task.mirror_way.conjugated};
  mirror_kernel<<<panel_blocks, threads, 0, on.stream>>>(of);
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_ON_GPU(MakeImagePanel<T>) \
  TESSERA_DEFINE_ON_GPU(MirrorPanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
