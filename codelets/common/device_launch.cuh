// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>

#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/data.hpp>

/// Helpers for launches of kernels.
namespace tessera::detail::device {

/// The number of thread blocks that fills a GPU, for kernels that loop in steps of the grid.
inline constexpr Index full_grid = 132 * 16;

/// The number of thread blocks for `items` items, `each` items a block: at least 1 and at most `limit`.
inline unsigned blocks_for(Index items, Index each, Index limit = Index(1) << 30) noexcept {
  return static_cast<unsigned>(std::clamp<Index>(ceil_div(items, each), 1, limit));
}

/// Lets a kernel have so much dynamic shared memory: more than 48 KB must be asked for.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  if (bytes > 48 * 1024)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

/// Launches a kernel whose blocks form clusters of `cluster` neighbours along the grid's x; grid.x is a
/// multiple of it. More than 8 need cudaFuncAttributeNonPortableClusterSizeAllowed.
template <class... Parameters, class... Arguments>
void launch_in_clusters(cudaStream_t stream, unsigned cluster, dim3 grid, unsigned threads,
                        std::size_t shared_bytes, void (*kernel)(Parameters...), Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

/// The view with the device's scalar type.
template <class T>
MatrixView<DeviceScalar<T>> device_view(const MatrixView<T>& a) noexcept {
  return {device_cast(a.data), a.rows, a.cols, a.ld};
}
template <class T>
MatrixView<const DeviceScalar<T>> device_view(const MatrixView<const T>& a) noexcept {
  return {device_cast(a.data), a.rows, a.cols, a.ld};
}

}  // namespace tessera::detail::device
