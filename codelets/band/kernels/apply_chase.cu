// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/apply_chase.cuh>
#include <tessera/codelets/band/kernels/chase_blocks.hpp>

namespace tessera::detail::kernels {
namespace {

using namespace apply_chase_detail;

/// Chunks of columns that advance together: 132 multiprocessors then work on four bundles at the same time.
constexpr Index panel_chunks = 33;

template <class S, int Tiles, int M, bool Slide>
void launch(cudaStream_t stream, ApplyShape<S> a, Index chunks) noexcept {
  using K = Kernel<S, Tiles, M, Slide>;
  int device = 0, processors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(apply_kernel<S, Tiles, M, Slide>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                       K::shared_bytes);
  const Index panels = ceil_div(chunks, panel_chunks);
  a.panel_chunks = ceil_div(chunks, panels);
  a.items = ceil_div(chunks, a.panel_chunks) * a.panel_chunks * a.blocks.bundles();
  a.strips = chunks * warps;
  const Index grid = std::min({Index(processors), a.items, chase_flag_ring});
  apply_kernel<S, Tiles, M, Slide><<<static_cast<unsigned>(grid), 32 * warps, K::shared_bytes, stream>>>(a);
}

}  // namespace

template <class T>
void launch_apply_chase(cudaStream_t stream, const DeviceReflectors& piece, const double* blocks, T* c,
                        Index columns, Index ldc, void* workspace) noexcept {
  using S = RealOf<T>;
  const ChaseBlocks shape = chase_blocks<T>(piece);
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
  const Index chunks = ceil_div(columns, shape.tiles == 32 ? 64 : 128);
  const bool slide = shape.reals * piece.bandwidth == 8 * shape.tiles;
  if (shape.tiles == 2)
    launch<S, 2, 16, false>(stream, a, chunks);
  else if (shape.tiles == 4)
    slide ? launch<S, 4, 16, true>(stream, a, chunks) : launch<S, 4, 16, false>(stream, a, chunks);
  else if (shape.tiles == 8)
    slide ? launch<S, 8, 16, true>(stream, a, chunks) : launch<S, 8, 16, false>(stream, a, chunks);
  else if (shape.tiles == 16)
    slide ? launch<S, 16, 16, true>(stream, a, chunks) : launch<S, 16, 16, false>(stream, a, chunks);
  else
    launch<S, 32, 8, false>(stream, a, chunks);
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template void launch_apply_chase<T>(cudaStream_t, const DeviceReflectors&, const double*, T*, Index, \
                                      Index, void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
