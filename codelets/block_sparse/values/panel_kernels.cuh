// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <cuda_runtime.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/runtime/matrix/panel_block.hpp>

/// What the kernels on the values of panels share: arithmetic, and the loops over the blocks of a panel.
namespace tessera::detail::device {

/// `times` and `plus` are products and sums that the compiler does not contract to one operation: they have
/// the bits that a CPU without fused multiply-add gives them.
__device__ inline float times(float a, float b) {
  return __fmul_rn(a, b);
}
__device__ inline double times(double a, double b) {
  return __dmul_rn(a, b);
}
__device__ inline float plus(float a, float b) {
  return __fadd_rn(a, b);
}
__device__ inline double plus(double a, double b) {
  return __dadd_rn(a, b);
}
template <class R>
__device__ Complex<R> times(Complex<R> a, Complex<R> b) {
  return {plus(times(a.re, b.re), -times(a.im, b.im)), plus(times(a.re, b.im), times(a.im, b.re))};
}
template <class R>
__device__ Complex<R> plus(Complex<R> a, Complex<R> b) {
  return {plus(a.re, b.re), plus(a.im, b.im)};
}

inline constexpr int panel_threads = 256;

/// Of so many blocks those whose places the lanes of a warp look up at a time, each one of them: the searches wait for
/// memory together. One where there are warps enough.
__device__ inline std::int32_t looked_up(std::int32_t blocks) {
  const std::int32_t warps = static_cast<std::int32_t>(gridDim.x) * (panel_threads / 32);
  return min(max(blocks / warps, 1), 8);
}
/// What lane k of the warp has.
template <class X>
__device__ X of_lane(X x, int k) {
  return __shfl_sync(0xffffffffu, x, k);
}

struct Position {
  Index row, col;
};
/// Row and column of element number `item` of a block; in 32 bits where they do: division in 64 is slow.
__device__ inline Position position(Index item, Index rows) {
  if (item < (Index(1) << 32) && rows < (Index(1) << 32)) {
    const auto i = static_cast<std::uint32_t>(item), m = static_cast<std::uint32_t>(rows);
    const std::uint32_t col = i / m;
    return {static_cast<Index>(i - col * m), static_cast<Index>(col)};
  }
  return {item % rows, item / rows};
}

/// A grid for `count` blocks: blockIdx.x takes a block, blockIdx.y a part of it; all together they fill the
/// device.
inline dim3 panel_grid(std::size_t count) noexcept {
  const unsigned x = blocks_for(static_cast<Index>(count), 1, full_grid);
  return {x, blocks_for(full_grid, static_cast<Index>(x), 65535)};
}

/// The result of `mirrored` on a CPU.
template <class S>
__device__ S mirror_image(Symmetry symmetry, S x) {
  return symmetry == Symmetry::antisymmetric ? -x : symmetry == Symmetry::hermitian ? conj(x) : x;
}

template <class Change>
__global__ void __launch_bounds__(panel_threads)
    elements_kernel(Index block_count, const PanelBlock* __restrict__ blocks, Change change) {
  for (Index b = blockIdx.x; b < block_count; b += gridDim.x) {
    const PanelBlock block = blocks[b];
    const Index count = Index(block.rows) * block.cols;
    for (Index e = Index(blockIdx.y) * panel_threads + threadIdx.x; e < count;
         e += Index(gridDim.y) * panel_threads) {
      const auto [i, j] = position(e, block.rows);
      change(block, i, j);
    }
  }
}

/// change(block, i, j) for element (i, j) of every block of a panel, in any order.
template <class Change>
void for_elements(cudaStream_t stream, std::span<const PanelBlock> blocks, const Change& change) {
  if (!blocks.empty())
    elements_kernel<<<panel_grid(blocks.size()), panel_threads, 0, stream>>>(
        static_cast<Index>(blocks.size()), blocks.data(), change);
}

}  // namespace tessera::detail::device
