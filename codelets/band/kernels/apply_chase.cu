// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/apply_chase.cuh>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>

namespace tessera::detail::kernels {
namespace {

using namespace apply_chase_detail;

/// Chunks of columns that advance together: 132 multiprocessors then work on four bundles at the same time.
constexpr Index panel_chunks = 33;

template <class S, int Tiles, int M, bool Slide, bool Split>
void launch(cudaStream_t stream, ApplyShape<S> a) noexcept {
  using K = Kernel<S, Tiles, M, Slide, Split>;
  const Index chunks = ceil_div(a.columns, M * warps);
  int device = 0, processors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(apply_kernel<S, Tiles, M, Slide, Split>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       K::shared_bytes);
  const Index panels = ceil_div(chunks, panel_chunks);
  a.panel_chunks = ceil_div(chunks, panels);
  a.items = ceil_div(chunks, a.panel_chunks) * a.panel_chunks * a.blocks.bundles();
  a.strips = chunks * warps;
  const Index grid = std::min({Index(processors), a.items, chase_flag_ring});
  apply_kernel<S, Tiles, M, Slide, Split>
      <<<static_cast<unsigned>(grid), 32 * warps, K::shared_bytes, stream>>>(a);
}

/// The kernel for the number of tiles. A strip has M columns, or half as many where the window does not fit into
/// the registers.
template <bool Split, class S>
void launch(cudaStream_t stream, const ApplyShape<S>& a, bool slide) noexcept {
  constexpr int M = 16;
  if (a.blocks.tiles == 2)
    launch<S, 2, M, false, Split>(stream, a);
  else if (a.blocks.tiles == 4)
    slide ? launch<S, 4, M, true, Split>(stream, a) : launch<S, 4, M, false, Split>(stream, a);
  else if (a.blocks.tiles == 8)
    slide ? launch<S, 8, M, true, Split>(stream, a) : launch<S, 8, M, false, Split>(stream, a);
  else if (a.blocks.tiles == 16)
    slide ? launch<S, 16, M, true, Split>(stream, a) : launch<S, 16, M, false, Split>(stream, a);
  else
    launch<S, 32, Split ? M : M / 2, false, Split>(stream, a);
}

}  // namespace

template <class T>
void launch_apply_chase(cudaStream_t stream, const DeviceReflectors& piece, const double* blocks, T* c,
                        Index columns, Index ldc, void* workspace, bool split) noexcept {
  using S = RealOf<T>;
  const ChaseBlocks shape = chase_blocks<T>(piece, split);
  if (piece.sweeps < 1 || columns < 1) return;
  ApplyShape<S> a;
  a.blocks = shape;
  a.data = blocks;
  a.c = reinterpret_cast<S*>(c);
  a.ld = shape.reals * ldc;
  a.rows = shape.reals * piece.n;
  a.columns = columns;
  a.counter = static_cast<unsigned*>(workspace);
  a.flags = a.counter + 1;
  const bool even = shape.reals * piece.bandwidth % 2 == 0 && shape.reals * piece.first_sweep % 2 == 0;
  a.zero = 0;
  a.pairs = even && a.ld % 2 == 0 && reinterpret_cast<std::uintptr_t>(c) % (2 * sizeof(S)) == 0;
  cudaMemsetAsync(workspace, 0, apply_chase_workspace(columns), stream);
  const bool slide = shape.reals * piece.bandwidth == 8 * shape.tiles;
  if constexpr (std::is_same_v<S, float>) {
    if (split) return launch<true>(stream, a, slide);
  }
  launch<false>(stream, a, slide);
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template void launch_apply_chase<T>(cudaStream_t, const DeviceReflectors&, const double*, T*, Index, \
                                      Index, void*, bool) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
