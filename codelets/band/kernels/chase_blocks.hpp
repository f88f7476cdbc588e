// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/common/host_device.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// The reflectors of one DeviceReflectors piece as WY blocks in the order in which the tridiagonal
/// back-transform reads them, and their application.
///
/// A block is the product of the reflectors (s, h) .. (s + g - 1, h) of g = 16 sweeps (8 for complex types)
/// and one hop, I - V T V^H (wy_blocks.hpp). The blocks hold V and W = -V T in double precision. For complex
/// types these are the real matrices of twice the size that act on interleaved real and imaginary parts (2 x
/// 2 blocks [re, -im; im, re]). So V and W have 16 real columns for all types, and C += W (V^T C) is real
/// arithmetic with as many operations as the complex one. Rows are counted from the group's first sweep s
/// (row 0 of V and W is zero), so that windows begin at multiples of 16 reals.
///
/// With bandwidth B (in reals) padded to 8 tiles() V is a parallelogram of 8 x 8 tiles: its column tile c has
/// the row tiles c .. c + tiles(). W has the row tiles 0 .. c + tiles(). V is stored first, with its two
/// column tiles in turn (tile k of the one, then tile k of the other), every tile column-major; then W,
/// column tile by column tile, every tile row-major. A tensor-core instruction of a warp then takes 512
/// contiguous bytes. Zeros are stored.
///
/// For products of split operands (split_products.hpp; float and complex<float> alone) V and W are stored in
/// halves, as the sum of a high and a low part, times v_scale and w_scale. A tile then has 16 x 8 elements: the
/// rows 16 p .. 16 p + 15 of a column tile of V, or the rows 8 r .. 8 r + 7 of W with all its columns. Lane
/// 4 g + t of a warp finds in 16 bytes the elements (2 t, g), (2 t + 1, g), (2 t + 8, g), (2 t + 9, g), high
/// parts first; the first index is that of the sum.
///
/// Several groups make a bundle: they advance together hop by hop, within a hop from the last group to the
/// first, which is a valid order for any number of consecutive sweeps; the window of C that they touch
/// (B + 16 groups rows) moves by B rows a hop. Bundles are counted from the piece's first sweep. The blocks
/// are sorted by ascending bundle, then hop, then descending group; bundles are applied from the last to the
/// first.
namespace tessera::detail::kernels {

/// sum over 0 <= k < count of the hops of sweep `first + k step`, all of which have at least one.
TESSERA_HOST_DEVICE inline Index hop_sum(Index n, Index bandwidth, Index first, Index step,
                                         Index count) noexcept {
  return count < 1 ? 0
                   : floor_sum(count, bandwidth, step, n - 1 - first - (count - 1) * step + bandwidth - 1);
}

struct ChaseBlocks {
  static constexpr Index columns = 16;  ///< real columns of V and W
  static constexpr Index tile_size = 64;
  static constexpr Index largest_bandwidth = 128;

  /// Powers of two, so that neither parts nor products leave the range of halves: those of V, W and C, and that
  /// between V^T C and its place in W (V^T C).
  static constexpr double v_scale = 1024, w_scale = 16, c_scale = 4096, x_scale = 1 / (v_scale * w_scale);

  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, reals = 1;
  bool split = false;
  Index tiles = 2;   ///< the smallest of 2, 4, 8, 16, 32 with 8 tiles >= reals bandwidth
  Index groups = 4;  ///< of a bundle

  ChaseBlocks() = default;
  ChaseBlocks(const DeviceReflectors& piece, Index reals_, bool split_)
      : n(piece.n),
        bandwidth(piece.bandwidth),
        first_sweep(piece.first_sweep),
        sweeps(piece.sweeps),
        reals(reals_),
        split(split_) {
    while (8 * tiles < reals * bandwidth) tiles *= 2;
    groups = bundle_groups(tiles);
  }
  /// The window of C must fit into registers.
  TESSERA_HOST_DEVICE static constexpr Index bundle_groups(Index tiles) noexcept {
    return tiles <= 8 ? 4 : 2;
  }
  TESSERA_HOST_DEVICE Index group_sweeps() const noexcept { return columns / reals; }
  TESSERA_HOST_DEVICE Index bundle_sweeps() const noexcept { return groups * group_sweeps(); }
  TESSERA_HOST_DEVICE Index bundles() const noexcept {
    return (sweeps + bundle_sweeps() - 1) / bundle_sweeps();
  }
  TESSERA_HOST_DEVICE Index bundle_sweep(Index bundle) const noexcept {
    return first_sweep + bundle * bundle_sweeps();
  }
  /// Hops of the bundle's first sweep; each of its groups has a block for every hop.
  TESSERA_HOST_DEVICE Index hops(Index bundle) const noexcept {
    return (n - 1 - bundle_sweep(bundle) + bandwidth - 1) / bandwidth;
  }
  TESSERA_HOST_DEVICE Index first_block(Index bundle) const noexcept {
    return groups * hop_sum(n, bandwidth, first_sweep, bundle_sweeps(), bundle);
  }
  TESSERA_HOST_DEVICE Index block(Index bundle, Index hop, Index group) const noexcept {
    return first_block(bundle) + hop * groups + (groups - 1 - group);
  }
  /// Tiles of 512 bytes.
  TESSERA_HOST_DEVICE static constexpr Index v_tiles(Index tiles, bool split) noexcept {
    return split ? tiles + 2 : 2 * (tiles + 1);
  }
  TESSERA_HOST_DEVICE static constexpr Index w_tiles(Index tiles, bool split) noexcept {
    return split ? tiles + 2 : 2 * tiles + 3;
  }
  TESSERA_HOST_DEVICE Index v_tiles() const noexcept { return v_tiles(tiles, split); }
  TESSERA_HOST_DEVICE Index w_tiles() const noexcept { return w_tiles(tiles, split); }
  TESSERA_HOST_DEVICE Index block_size() const noexcept { return tile_size * (v_tiles() + w_tiles()); }
  /// Doubles of all blocks.
  TESSERA_HOST_DEVICE Index size() const noexcept { return first_block(bundles()) * block_size(); }
};

/// `split`: for products of split operands.
template <class T>
ChaseBlocks chase_blocks(const DeviceReflectors& piece, bool split = false) {
  return {piece, is_complex<T> ? 2 : 1, split};
}

/// The blocks of a piece. `reflectors`: piece.size() elements, read; `blocks`: chase_blocks<T>(piece).size()
/// doubles, written. piece.group is arbitrary; piece.bandwidth is at most ChaseBlocks::largest_bandwidth.
/// Flops: about 2 g (b + g) a reflector (times 4 for complex types).
/// Source: LAPACK's larft for T.
template <class T>
void form_chase_t(const DeviceReflectors& piece, const T* reflectors, double* blocks) noexcept;

/// More bundles than a GPU ever works on at the same time.
inline constexpr Index chase_flag_ring = 256;

/// Bytes of work space that apply_chase needs on a GPU for `columns` columns: a counter, and flags for each
/// strip of at least 8 columns.
constexpr std::size_t apply_chase_workspace(Index columns) noexcept {
  return sizeof(unsigned) * static_cast<std::size_t>(1 + chase_flag_ring * 8 * ceil_div(columns, 64));
}

/// C := (product of the piece's reflectors) C: C is n x columns, column-major with ldc, read and written.
/// Flops: 4 b a reflector and column (times 4 for complex types); the kernel does (b + 10) / b times as
/// many for real types.
template <class T>
void apply_chase(const DeviceReflectors& piece, const double* blocks, T* c, Index columns,
                 Index ldc) noexcept;

/// The same from the reflectors themselves (piece.size() elements), one after another, for comparison.
/// Flops: 4 b a reflector and column (times 4 for complex types).
template <class T>
void apply_one_by_one(const DeviceReflectors& piece, const T* reflectors, T* c, Index columns,
                      Index ldc) noexcept;

// On a GPU, and with the kernel of ELPA2 for comparison: all pointers are device pointers, and the functions
// enqueue.

/// form_chase_t; `split`: as halves, for launch_apply_chase with `split`.
template <class T>
void launch_form_chase_t(CUstream_st* stream, const DeviceReflectors& piece, const T* reflectors,
                         double* blocks, bool split = false) noexcept;

/// apply_chase by one persistent kernel on the FP64 tensor cores, for all four types (float is converted when
/// C is read and written).
///
/// A warp owns 16 columns and keeps their window of C in registers. mma.m16n8k8 has the same layout for its
/// result and, up to the order of the summation index, for its first operand (D^T = C^T V, C^T += D^T W^T),
/// so that C goes from memory to registers and back once a bundle. V and W stream through shared memory,
/// which the 8 warps of a thread block share. A thread block takes items of (bundle, 128 columns) in order
/// from a counter. The next bundle of the same columns may start on another multiprocessor as soon as the
/// bundle before has retired the rows that it needs; a flag for each 16 columns shows the progress. So all
/// multiprocessors are busy for any number of columns, and bundles that follow one another closely find C in
/// the L2 cache.
///
/// Why this is correct: a bundle reads and writes a row of C once, and reads it only after the flag shows
/// that the bundle before has retired it; every lane fences between its stores and the flag, and acquires the
/// flag before its loads. Bundles wait only for items taken before theirs, so that the thread blocks need not
/// all be resident. A slot of V and W is filled again after all warps have left it. Each column has its own
/// order of summation: the result does not depend on the other columns.
///
/// `split` (float and complex<float>): the products on the tensor cores of half precision, three for one, from
/// split operands, summed in float. For columns of length below 15, as eigenvectors are: elements of longer ones may
/// become infinite or NaN on the way. A sum in tensor cores is rounded towards zero, so that columns become shorter, by
/// some 2e-9 n of their length.
///
/// workspace: apply_chase_workspace(columns) bytes.
template <class T>
void launch_apply_chase(CUstream_st* stream, const DeviceReflectors& piece, const double* blocks, T* c,
                        Index columns, Index ldc, void* workspace, bool split = false) noexcept;

/// C := (product of the piece's reflectors) C as ELPA2 does it: one reflector at a time, a thread block an
/// eigenvector, a thread an element of the reflector. The bandwidth is a power of two, at most 128.
/// Source: Yu et al., GPU-acceleration of the ELPA2 distributed eigensolver, Comput. Phys. Commun. 262
/// (2021).
template <class T>
void launch_apply_elpa(CUstream_st* stream, const DeviceReflectors& piece, const T* reflectors, T* c,
                       Index columns, Index ldc) noexcept;

}  // namespace tessera::detail::kernels
