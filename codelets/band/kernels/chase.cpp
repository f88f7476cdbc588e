// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/common/dispatch.hpp>

namespace tessera::detail::kernels {

template <class T>
void chase_tile_at_level(int level, const BandView<T>& band, Index first_sweep, Index sweeps,
                         Index column_begin, Index column_end, const Reflectors<T>& reflectors,
                         RealOf<T>* workspace) noexcept {
  TESSERA_DISPATCH(level,
                   chase_tile<T>(band, first_sweep, sweeps, column_begin, column_end, reflectors, workspace));
}

template <class T>
void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,
                Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept {
  chase_tile_at_level<T>(cpu_level(), band, first_sweep, sweeps, column_begin, column_end, reflectors,
                         workspace);
}

template <class T>
Index chase_workspace(Index bandwidth) noexcept {
  // Five vectors of b elements and, for complex types, their multiples by i (see chase.simd.cpp). Each is
  // padded to whole registers of any instruction set, and one more.
  constexpr Index reals = is_complex<T> ? 2 : 1;
  constexpr Index widest = 64 / static_cast<Index>(sizeof(RealOf<T>));
  return 5 * reals * (ceil_div(reals * bandwidth, widest) + 1) * widest;
}

namespace {

constexpr std::size_t align(std::size_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}
template <class T>
std::size_t chase_bytes(Index bandwidth) noexcept {
  return align(static_cast<std::size_t>(chase_workspace<T>(bandwidth)) * sizeof(RealOf<T>));
}

/// Copies the reflectors of sweep j from chase_tile's storage to their places in `kept`.
template <class T>
void place_sweep(const DeviceReflectors& shape, Index j, Index first_block, const Reflectors<T>& sweep,
                 T* kept) noexcept {
  const Index b = shape.bandwidth, lane = j % shape.group;
  for (Index hop = 0; hop < sweep.hops; ++hop) {
    const T* const from = sweep.vector(sweep.first_sweep, hop);
    std::copy_n(from, b, kept + shape.vector_offset(first_block + hop, lane));
    kept[shape.tau_offset(first_block + hop, lane)] = from[b];
  }
}

}  // namespace

template <class T>
std::size_t chase_sweeps_workspace(Index n, Index bandwidth, Index sweeps) noexcept {
  const auto hops = static_cast<std::size_t>(ceil_div(n, bandwidth) + 1);
  const std::size_t column = hops * static_cast<std::size_t>(bandwidth + 1) * sizeof(T);
  // A CPU keeps the reflectors of a sweep here; a GPU a counter of sweeps, a counter of steps for each sweep,
  // and the numbers that a sweep sends to the next one, which take twice the space with their tags; or those that
  // the steps of a sweep send to each other, a reflector and a column each.
  return std::max({chase_bytes<T>(bandwidth) + column,
                   64 + align(static_cast<std::size_t>(sweeps) * sizeof(std::int32_t)) + 2 * column,
                   4 * column});
}

template <class T>
void chase_sweeps(const DeviceReflectors& shape, T* segment, T* kept, void* workspace) noexcept {
  const Index n = shape.n, b = shape.bandwidth;
  const BandView<T> view{n, b, 0, std::max<Index>(n, 1), &segment};
  auto* const reals = static_cast<RealOf<T>*>(workspace);
  T* const column = reinterpret_cast<T*>(static_cast<char*>(workspace) + chase_bytes<T>(b));
  // Zeros where a reflector does not exist.
  if (kept != nullptr) std::fill_n(kept, shape.size(), T(0));
  for (Index j = 0; j < shape.sweeps; ++j) {
    const Index s = shape.first_sweep + j;
    auto sweep = Reflectors<T>::of_tiles(n, b, s, 1, -n, 2 * n);
    sweep.data = kept != nullptr ? column : nullptr;
    chase_tile<T>(view, s, 1, -n, 2 * n, sweep, reals);
    if (kept != nullptr) place_sweep(shape, j, shape.first_block(j / shape.group), sweep, kept);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template void chase_tile<T>(const BandView<T>&, Index, Index, Index, Index, const Reflectors<T>&, \
                              RealOf<T>*) noexcept;                                                 \
  template void chase_tile_at_level<T>(int, const BandView<T>&, Index, Index, Index, Index,         \
                                       const Reflectors<T>&, RealOf<T>*) noexcept;                  \
  template Index chase_workspace<T>(Index) noexcept;                                                \
  template std::size_t chase_sweeps_workspace<T>(Index, Index, Index) noexcept;                     \
  template void chase_sweeps<T>(const DeviceReflectors&, T*, T*, void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
