// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/device_scalar.cuh>
#include <tessera/runtime/data.hpp>

/// What launches of kernels share.
namespace tessera::device {

/// Blocks of a grid whose kernel goes through the rest in steps of the grid: enough to fill a GPU.
inline constexpr Index full_grid = 132 * 16;

/// Blocks that take `each` of `items` items: at least one and at most `most`.
inline unsigned blocks_for(Index items, Index each, Index most = Index(1) << 30) noexcept {
  return static_cast<unsigned>(std::clamp<Index>(ceil_div(items, each), 1, most));
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

}  // namespace tessera::device
