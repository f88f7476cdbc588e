// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_kernels.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

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

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(MakeImagePanel<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
