// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include <tessera/codelets/band/kernels/band_storage.hpp>
#include <tessera/codelets/common/host_device.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Bulge chasing: Hermitian band to real symmetric tridiagonal, A = Q T Q^H, by Householder reflectors of
/// length b.
///
/// Sweep s = 0, 1, .. brings column s to tridiagonal form. Its hop h = 0, 1, .. is one reflector
/// H(s, h) = I - tau v v^H on the b rows from r = s + 1 + h b (fewer at the end), which maps A(r.., c) to a
/// real multiple of its first unit vector, where the source column c is s for h = 0 and r - b after; then
/// A := H^H A H changes the rest of the source column's block from the left, the diagonal block from both
/// sides, and the block below from the right. The filled upper triangle of the latter is the bulge that hop h
/// + 1 chases. Q is the product of all H(s, h), sweep by sweep. A hop touches the columns c .. c + 2b - 1, so
/// hop (s + 1, c') may run as soon as the hops of sweep s with c <= c' + 2b - 1 are done. For complex types
/// the reflectors of length one make the last off-diagonals real.
///
/// Source: Bischof, Lang, Sun, A framework for symmetric band reduction, ACM TOMS 26 (2000); Haidar, Ltaief,
/// Dongarra, Parallel reduction to condensed forms for symmetric eigenvalue problems, SC 2011.
namespace tessera::detail::kernels {

/// sum over 0 <= k < count of floor((a k + c) / m) for a, c >= 0, m > 0, by Euclid's algorithm.
TESSERA_HOST_DEVICE inline Index floor_sum(Index count, Index m, Index a, Index c) noexcept {
  Index sum = 0;
  while (count > 0) {
    sum += (a / m) * (count * (count - 1) / 2) + (c / m) * count;
    a %= m, c %= m;
    const Index last = a * count + c;
    if (last < m) break;
    // Columns and rows change places.
    count = last / m, c = last % m;
    const Index other = m;
    m = a, a = other;
  }
  return sum;
}

/// Hops of sweep s: the reflectors with first row s + 1 + h b < n.
constexpr Index hop_count(Index n, Index bandwidth, Index sweep) noexcept {
  return sweep + 1 < n ? ceil_div(n - 1 - sweep, bandwidth) : 0;
}

/// The first hop of a sweep whose source column is at least `column`.
constexpr Index first_hop_from(Index bandwidth, Index sweep, Index column) noexcept {
  return column <= sweep ? 0 : 1 + ceil_div(column - sweep - 1, bandwidth);
}

/// The storage of the reflectors of chase_tile's sweeps, of all tiles or of some: reflector (first_sweep + j,
/// h) is the column `(h - first_hop) * sweeps + j` of b + 1 elements: v (v(0) = 1 stored, zeros behind its
/// end), then tau. Columns of hops that do not exist or belong to other tiles are undefined.
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

  /// The reflectors of the sweeps first_sweep + j in the tiles that cover [column_begin, column_end). The
  /// caller sets data.
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
/// Segments have L = 2 b * sweeps columns. Tile t has column_begin = t L - 2 b and column_end = (t + 1) L - 2
/// b; tile 0 begins at -infinity. It touches the segments t - 1 and t only, and it must run after tile t - 1
/// of its sweeps and after tile t + 1 of the sweeps before. The result does not depend on the cut into tiles.
///
/// Arguments
///   band         columns column_begin - 2 b (sweeps - 1) .. column_end + 2 b - 1 that exist; read and
///                written
///   reflectors   written (each hop its own column) unless data is null
///   workspace    chase_workspace<T>(b) reals
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

/// The storage of the reflectors of chase_sweeps, for the sweeps first_sweep .. first_sweep + sweeps - 1, in
/// groups of g consecutive sweeps (the last group may have fewer; its blocks have g columns nevertheless, and
/// those without a sweep hold v = 0, tau = 0). Block (group, hop) is b x g, column-major with ld = b: column
/// j is v of reflector (first_sweep + group g + j, hop) with v(0) = 1 stored and zeros behind its end; a
/// reflector that does not exist (its first row is n or more) has v = 0 and tau = 0. Blocks follow one
/// another by hop within a group, the groups by ascending sweep. Behind all blocks come the tau, g a block,
/// in the same order. Every element is written.
struct DeviceReflectors {
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, group = 1;

  constexpr Index groups() const noexcept { return ceil_div(sweeps, group); }
  /// Hops of a group's first sweep: no later sweep of the group has more.
  constexpr Index hops(Index g) const noexcept { return hop_count(n, bandwidth, first_sweep + g * group); }
  /// Blocks in the groups before group g.
  constexpr Index first_block(Index g) const noexcept {
    // A plain sum: g is small on the host, and kernels use floor_sum.
    Index sum = 0;
    for (Index k = 0; k < g; ++k) sum += hops(k);
    return sum;
  }
  constexpr Index blocks() const noexcept { return first_block(groups()); }
  /// Elements of T: vectors, then tau.
  constexpr Index size() const noexcept { return blocks() * group * (bandwidth + 1); }
  constexpr Index vector_offset(Index block, Index j) const noexcept {
    return (block * group + j) * bandwidth;
  }
  constexpr Index tau_offset(Index block, Index j) const noexcept {
    return blocks() * group * bandwidth + block * group + j;
  }
};

/// Sweeps of a group.
constexpr Index device_group(Index bandwidth) noexcept {
  return std::min<Index>(bandwidth, 32);
}

// The chase by sweeps over the whole matrix, for a GPU, and the same on a CPU core.

/// The largest bandwidth that launch_chase_sweeps takes.
inline constexpr Index max_device_bandwidth = 128;

/// Bytes of workspace for chase_sweeps and launch_chase_sweeps of up to `sweeps` sweeps, aligned to 64.
template <class T>
std::size_t chase_sweeps_workspace(Index n, Index bandwidth, Index sweeps) noexcept;

/// The sweeps shape.first_sweep + j, 0 <= j < shape.sweeps, over all columns (see chase.hpp for the
/// mathematics) of a band matrix in one segment of n columns (BandLayout). All sweeps of a matrix
/// must run here, or all by launch_chase_sweeps, which does not keep the room for the bulge zero.
///
/// Arguments
///   shape      n, b, the sweeps, and how their reflectors are kept
///   segment    the band: read and written
///   kept       shape.size() elements, written; null: the reflectors are not kept
///   workspace  chase_sweeps_workspace<T>(n, b, sweeps) bytes
/// Flops: 12 b^2 a hop (times 4 for complex types).
template <class T>
void chase_sweeps(const DeviceReflectors& shape, T* segment, T* kept, void* workspace) noexcept;

/// The kernels of launch_chase_sweeps. By steps (b <= 64) a thread block keeps its part of the band in registers
/// for all sweeps, with all steps of a sweep on the GPU together; with half of it in shared memory a step takes longer
/// and twice as many fit. By sweeps a thread block goes through the band with one sweep, a few times slower. Chosen: by
/// sweeps until the rest of the matrix fits with shared memory, then by steps so, then in registers.
enum class ChaseKernel { chosen, by_steps_in_shared_memory, by_sweeps };

/// chase_sweeps on a GPU, on device pointers, b <= max_device_bandwidth. For complex<double> with b > 64 the
/// kernel keeps nothing on the chip and is much slower. The workspace needs no initial value.
template <class T>
void launch_chase_sweeps(CUstream_st* stream, const DeviceReflectors& shape, T* segment, T* kept,
                         void* workspace, ChaseKernel kernel = ChaseKernel::chosen) noexcept;

// The chase for each instruction set level; chase.cpp chooses.

#define TESSERA_DECLARE_CHASE(LEVEL)                                                                 \
  namespace LEVEL {                                                                                  \
  template <class T>                                                                                 \
  void chase_tile(const BandView<T>& band, Index first_sweep, Index sweeps, Index column_begin,      \
                  Index column_end, const Reflectors<T>& reflectors, RealOf<T>* workspace) noexcept; \
  }
TESSERA_DECLARE_CHASE(level2)
TESSERA_DECLARE_CHASE(level3)
TESSERA_DECLARE_CHASE(level4)
#undef TESSERA_DECLARE_CHASE

}  // namespace tessera::detail::kernels
