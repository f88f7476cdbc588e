// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <cuda_runtime.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/runtime/matrix/packed_pattern.hpp>
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
/// Thread blocks that a GPU runs at once.
inline constexpr Index panel_blocks = full_grid / 2;

/// What lane k of the warp has.
template <class X>
__device__ X of_lane(X x, int k) {
  static_assert(sizeof(X) % sizeof(int) == 0);
  int words[sizeof(X) / sizeof(int)];
  memcpy(words, &x, sizeof x);
  for (int& word : words) word = __shfl_sync(0xffffffffu, word, k);
  memcpy(&x, words, sizeof x);
  return x;
}

/// This warp's share of the blocks of a panel.
struct BlockRange {
  std::int32_t begin, end;
};
__device__ inline BlockRange share_of_warp(std::int32_t blocks) {
  const std::int64_t warps = std::int64_t(gridDim.x) * (panel_threads / 32),
                     warp = std::int64_t(blockIdx.x) * (panel_threads / 32) + threadIdx.x / 32;
  return {static_cast<std::int32_t>(blocks * warp / warps),
          static_cast<std::int32_t>(blocks * (warp + 1) / warps)};
}

/// Small blocks are read by so many lanes each: a whole warp would mostly wait for the next block.
inline constexpr int lanes_of_small_blocks = 8;
__device__ inline bool small_blocks(std::int32_t blocks, Index elements) {
  return elements <= Index(128) * blocks;
}

/// Each lane looks up one of the blocks of this warp's share, found = look(b): the searches of many blocks wait for
/// memory together. Then groups of `lanes` lanes take a block each and go through its values,
/// visit(found, lane, lanes). Without a block `found` is Found().
template <int lanes, class Look, class Visit>
__device__ void visit_blocks(std::int32_t blocks, const Look& look, const Visit& visit) {
  using Found = decltype(look(0));
  const auto [begin, end] = share_of_warp(blocks);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (std::int32_t first = begin; first < end; first += 32) {
    const Found found = first + lane < end ? look(first + lane) : Found();
    for (int k = 0; k < 32 && first + k < end; k += 32 / lanes)
      visit(of_lane(found, k + lane / lanes), lane % lanes, lanes);
  }
}
template <class Look, class Visit>
__device__ void visit_blocks(std::int32_t blocks, Index elements, const Look& look, const Visit& visit) {
  if (small_blocks(blocks, elements))
    visit_blocks<lanes_of_small_blocks>(blocks, look, visit);
  else
    visit_blocks<32>(blocks, look, visit);
}

/// Elements that are read or written at once.
template <class S>
struct alignas(16) Chunk {
  static constexpr int count = 16 / static_cast<int>(sizeof(S));
  S x[count];
};
/// Whether a block of so many elements is a number of chunks.
template <class S>
__device__ bool in_chunks(const S* block, std::int32_t count) {
  return reinterpret_cast<unsigned long long>(block) % sizeof(Chunk<S>) == 0 && count % Chunk<S>::count == 0;
}
template <class S>
__device__ auto chunks(S* block) {
  using Chunks = std::conditional_t<std::is_const_v<S>, const Chunk<std::remove_const_t<S>>, Chunk<S>>;
  return reinterpret_cast<Chunks*>(block);
}

template <class S>
__device__ double square(S x) {
  const double re = real(x), im = imag(x);
  return re * re + im * im;
}
/// The sum of |x|^2 over the elements of a block, which `lanes` lanes read; all have it. Called by whole warps.
template <class S>
__device__ double sum_of_squares(const S* block, std::int32_t count, int lane, int lanes) {
  double sum = 0;
  if (in_chunks(block, count)) {
#pragma unroll 2
    for (std::int32_t i = lane; i < count / Chunk<S>::count; i += lanes) {
      const Chunk<S> chunk = chunks(block)[i];
#pragma unroll
      for (int e = 0; e < Chunk<S>::count; ++e) sum += square(chunk.x[e]);
    }
  } else {
#pragma unroll 4
    for (std::int32_t i = lane; i < count; i += lanes) sum += square(block[i]);
  }
  __syncwarp();
  for (int mask = lanes / 2; mask > 0; mask /= 2) sum += exchange(sum, mask);
  return sum;
}
/// The elements of a block of a panel that has so many in all.
__device__ inline std::int32_t elements_of(const PackedPanel& panel, std::int32_t block, Index elements) {
  return static_cast<std::int32_t>((block + 1 < panel.blocks ? Index(panel.offset[block + 1]) : elements) -
                                   panel.offset[block]);
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
