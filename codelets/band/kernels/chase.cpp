// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/band/kernels/chase_levels.hpp>
#include <tessera/codelets/common/dispatch.hpp>

namespace tessera::kernels {

template <class T>
void chase_tile_at_level(int level, const BandView<T>& band, Index first_sweep, Index sweeps,
                         Index column_begin, Index column_end, const Reflectors<T>& reflectors,
                         RealOf<T>* workspace) noexcept {
#if defined(__x86_64__)
  if (level >= 4)
    return level4::chase_tile<T>(band, first_sweep, sweeps, column_begin, column_end, reflectors, workspace);
  if (level == 3)
    return level3::chase_tile<T>(band, first_sweep, sweeps, column_begin, column_end, reflectors, workspace);
#endif
  level2::chase_tile<T>(band, first_sweep, sweeps, column_begin, column_end, reflectors, workspace);
}

template <class T>
void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,
                Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept {
  chase_tile_at_level<T>(cpu_level(), band, first_sweep, sweeps, column_begin, column_end, reflectors,
                         workspace);
}

template <class T>
Index chase_workspace(Index bandwidth) noexcept {
  // Five vectors of b elements and, for complex types, their multiples by i (see chase.simd.cpp), each padded to
  // whole vectors of any instruction set and one more.
  constexpr Index reals = is_complex<T> ? 2 : 1;
  constexpr Index widest = 64 / static_cast<Index>(sizeof(RealOf<T>));
  return 5 * reals * (ceil_div(reals * bandwidth, widest) + 1) * widest;
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template void chase_tile<T>(const BandView<T>&, Index, Index, Index, Index, const Reflectors<T>&, \
                              RealOf<T>*) noexcept;                                                 \
  template void chase_tile_at_level<T>(int, const BandView<T>&, Index, Index, Index, Index,         \
                                       const Reflectors<T>&, RealOf<T>*) noexcept;                  \
  template Index chase_workspace<T>(Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
