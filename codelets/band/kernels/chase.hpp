// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/band/band_view.hpp>

/// Bulge chasing: Hermitian band to real symmetric tridiagonal, A = Q T Q^H, by Householder reflectors of
/// length b.
///
/// Sweep s = 0, 1, .. brings column s to tridiagonal form. Its hop h = 0, 1, .. is one reflector
/// H(s, h) = I - tau v v^H on the b rows from r = s + 1 + h b (fewer at the end), which maps A(r.., c) to a
/// real multiple of its first unit vector, where the source column c is s for h = 0 and r - b after; then A
/// := H^H A H: the rest of the block of the source column from the left, the diagonal block from both sides,
/// and the block below from the right, whose filled upper triangle is the bulge that hop h + 1 chases. Q is
/// the product of all H(s, h), sweep by sweep. A hop touches the columns c .. c + 2b - 1, so hop (s + 1, c')
/// may run as soon as the hops of sweep s with c <= c' + 2b - 1 are done. For complex types the reflectors of
/// length one make the last off-diagonals real.
///
/// Source: Bischof, Lang, Sun, A framework for symmetric band reduction, ACM TOMS 26 (2000); Haidar, Ltaief,
/// Dongarra, Parallel reduction to condensed forms for symmetric eigenvalue problems, SC 2011.
namespace tessera::kernels {

/// Hops of sweep s: the reflectors with first row s + 1 + h b < n.
constexpr Index hop_count(Index n, Index bandwidth, Index sweep) noexcept {
  return sweep + 1 < n ? ceil_div(n - 1 - sweep, bandwidth) : 0;
}

/// The first hop of a sweep whose source column is at least `column`.
constexpr Index first_hop_from(Index bandwidth, Index sweep, Index column) noexcept {
  return column <= sweep ? 0 : 1 + ceil_div(column - sweep - 1, bandwidth);
}

/// Where the reflectors of chase_tile's sweeps are kept, all of them or those of some tiles: reflector
/// (first_sweep + j, h) is the column `(h - first_hop) * sweeps + j` of b + 1 elements: v (v(0) = 1 stored,
/// zeros behind its end), then tau. Columns of hops that do not exist or belong to other tiles hold nothing.
template <class T>
struct Reflectors {
  T* data = nullptr;  ///< null: the reflectors are not kept
  Index bandwidth = 1;
  Index first_sweep = 0;
  Index sweeps = 0;
  Index first_hop = 0;
  Index hops = 0;
  Index column_begin = 0;  ///< the tiles' bounds: see chase_tile
  Index column_end = 0;

  /// Those of the sweeps first_sweep + j in the tiles that cover [column_begin, column_end); data is still
  /// null.
  static constexpr Reflectors of_tiles(Index n, Index bandwidth, Index first_sweep, Index sweeps,
                                       Index column_begin, Index column_end) noexcept {
    const Index last = sweeps - 1;
    const Index first = first_hop_from(bandwidth, first_sweep + last, column_begin - 2 * bandwidth * last);
    const Index end =
        std::min(first_hop_from(bandwidth, first_sweep, column_end), hop_count(n, bandwidth, first_sweep));
    return {nullptr,      bandwidth, first_sweep, sweeps, first, std::max<Index>(end - first, 0),
            column_begin, column_end};
  }
  /// Elements of data.
  constexpr Index size() const noexcept { return hops * sweeps * (bandwidth + 1); }
  constexpr bool holds(Index sweep, Index hop) const noexcept {
    const Index column =
        (hop == 0 ? sweep : sweep + 1 + (hop - 1) * bandwidth) + 2 * bandwidth * (sweep - first_sweep);
    return sweep >= first_sweep && sweep < first_sweep + sweeps && column >= column_begin &&
           column < column_end;
  }
  __attribute__((always_inline)) T* vector(Index sweep, Index hop) const noexcept {
    return data + ((hop - first_hop) * sweeps + (sweep - first_sweep)) * (bandwidth + 1);
  }
};

/// Elements of real type that chase_tile needs as scratch for bandwidth b.
template <class T>
Index chase_workspace(Index bandwidth) noexcept;

/// The hops of the sweeps first_sweep + j, 0 <= j < sweeps, whose source column lies in
/// [column_begin - 2 b j, column_end - 2 b j): a parallelogram of the (sweep, column) plane.
///
/// With segments of L = 2 b * sweeps columns and column_begin = t L - 2 b, column_end = (t + 1) L - 2 b (tile
/// t; tile 0 begins at -infinity), it touches the segments t - 1 and t only, and the order "tile t after tile
/// t - 1 of its group, and after tile t + 1 of the group before" is sufficient. The result does not depend on
/// how the tiles are cut.
///
/// Arguments
///   band         columns column_begin - 2 b (sweeps - 1) .. column_end + 2 b - 1 as far as they exist; read
///   and written reflectors   written (each hop its own column) unless data is null workspace
///   chase_workspace<T>(b) reals
/// Flops: 12 b^2 a hop (times 4 for complex types), 6 n^2 b altogether.
template <class T>
void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,
                Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept;

/// The same by the kernels of one instruction set level (2, 3 or 4; see dispatch.hpp); chase_tile takes the
/// highest.
template <class T>
void chase_tile_at_level(int level, const BandView<T>& band, Index first_sweep, Index sweeps,
                         Index column_begin, Index column_end, const Reflectors<T>& reflectors,
                         RealOf<T>* workspace) noexcept;

}  // namespace tessera::kernels
