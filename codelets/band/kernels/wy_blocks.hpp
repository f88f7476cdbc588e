// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>

/// The reflectors of a bulge chase in groups of g consecutive sweeps, as WY blocks, and their application.
///
/// Block h of the group of sweeps s0 .. s0 + g - 1 is H(s0, h) H(s0 + 1, h) .. H(s0 + g - 1, h) = I - V T V^H
/// on the b + g - 1 rows from s0 + 1 + h b; V is a parallelogram, its column j has the rows j .. j + b - 1.
/// A group holds V^H and W = -V T, so that its application is C += W (V^H C).
///
/// Q is the product of all reflectors in the order of their creation. For Q C the groups are applied from the
/// last to the first, and the blocks of a group by ascending h; several groups may advance together, h by h
/// and within one h from the last group to the first (the window of C that they touch then fits into a
/// cache).
///
/// Source: the grouping is that of Bischof, Lang, Sun, ACM TOMS 26 (2000), Sec. 4; T as in LAPACK's larft.
namespace tessera::detail::kernels {

/// Storage of the WY blocks of one group. For complex types every matrix is stored as the real one of twice
/// the size that acts on interleaved real and imaginary parts, so that one real kernel serves all types.
template <class T>
struct WyLayout {
  static constexpr Index reals = is_complex<T> ? 2 : 1;
  /// Real rows of a block, padded with zeros.
  static constexpr Index rows(Index bandwidth, Index sweeps) noexcept {
    return ceil_div(reals * (bandwidth + sweeps - 1), 16) * 16;
  }
  /// Real columns of W and rows of V^H, padded with zeros to 64 bytes.
  static constexpr Index columns(Index sweeps) noexcept {
    constexpr Index line = 64 / static_cast<Index>(sizeof(RealOf<T>));
    return ceil_div(reals * sweeps, line) * line;
  }
  /// Elements of T of one block: V^H (columns x rows), then W (rows x columns), both column-major.
  static constexpr Index block_size(Index bandwidth, Index sweeps) noexcept {
    return 2 * rows(bandwidth, sweeps) * columns(sweeps) / reals;
  }
  /// Elements of T of all blocks of a group.
  static constexpr Index size(Index n, Index bandwidth, Index first_sweep, Index sweeps) noexcept {
    return hop_count(n, bandwidth, first_sweep) * block_size(bandwidth, sweeps);
  }
};

/// The WY blocks of the sweeps first_sweep .. first_sweep + sweeps - 1, block after block.
template <class T>
struct WyGroup {
  T* data = nullptr;
  Index first_sweep = 0;
  Index sweeps = 0;
};

/// Reals of scratch for form_wy and for apply_wy.
template <class T>
Index wy_workspace(Index bandwidth, Index sweeps) noexcept;

/// Builds blocks first_hop .. last_hop - 1 of a group from the reflectors that the chase kept.
///
/// Arguments
///   pieces, piece_count   what the chase kept, together all reflectors of these sweeps and hops; read
///   group                 data of WyLayout<T>::size elements; the blocks named are written
///   workspace             wy_workspace<T>(bandwidth, group.sweeps) reals
/// Flops: about 3 g^2 (b + g) a block (times 4 for complex types).
template <class T>
void form_wy(Index n, Index bandwidth, const Reflectors<T>* pieces, Index piece_count,
             const WyGroup<T>& group, Index first_hop, Index last_hop, RealOf<T>* workspace) noexcept;

/// C := (product of the blocks first_hop .. last_hop - 1 of the groups) C, in the wavefront order above.
///
/// Arguments
///   groups, group_count   ascending, each next group's first sweep where the one before ends; read
///   c, columns, ldc       n x columns, column-major; read and written
///   workspace             wy_workspace<T>(bandwidth, widest group's sweeps) reals
/// Flops: 4 b per reflector and column (times 4 for complex types); the kernel does (b + g / 2) / b times
/// as many.
template <class T>
void apply_wy(Index n, Index bandwidth, const WyGroup<T>* groups, Index group_count, Index first_hop,
              Index last_hop, T* c, Index columns, Index ldc, RealOf<T>* workspace) noexcept;

/// The same by the kernels of one instruction set level (2, 3 or 4; see dispatch.hpp).
template <class T>
void form_wy_at_level(int level, Index n, Index bandwidth, const Reflectors<T>* pieces, Index piece_count,
                      const WyGroup<T>& group, Index first_hop, Index last_hop,
                      RealOf<T>* workspace) noexcept;
template <class T>
void apply_wy_at_level(int level, Index n, Index bandwidth, const WyGroup<T>* groups, Index group_count,
                       Index first_hop, Index last_hop, T* c, Index columns, Index ldc,
                       RealOf<T>* workspace) noexcept;

/// A block for the two real matrix products, which are compiled for each instruction set level. Both skip the
/// zeros of the parallelogram: `height` is the number of nonzeros of a column of V, and each group of `step`
/// columns is shifted down by `step` rows (1 for real types, 2 for complex ones in real storage).
template <class R>
struct WyBlock {
  const R* vh;    ///< V^H, columns x rows, leading dimension columns
  const R* w;     ///< W, rows x columns, leading dimension rows
  Index rows;     ///< a multiple of 16
  Index columns;  ///< a multiple of 64 bytes
  Index used;     ///< columns that are not padding
  Index height;
  Index step;
};

#define TESSERA_DECLARE_WY(LEVEL)                                                              \
  namespace LEVEL {                                                                            \
  /* X := V^H C for `count` columns of C; X has leading dimension block.columns. */            \
  template <class R>                                                                           \
  void wy_project(const WyBlock<R>& block, const R* c, Index ldc, Index count, R* x) noexcept; \
  /* C := C + W X. */                                                                          \
  template <class R>                                                                           \
  void wy_update(const WyBlock<R>& block, const R* x, R* c, Index ldc, Index count) noexcept;  \
  /* C := C + W (V^H C), a few columns at a time; x is scratch of 16 block.columns. */         \
  template <class R>                                                                           \
  void wy_apply(const WyBlock<R>& block, R* c, Index ldc, Index count, R* x) noexcept;         \
  }
TESSERA_DECLARE_WY(level2)
TESSERA_DECLARE_WY(level3)
TESSERA_DECLARE_WY(level4)
#undef TESSERA_DECLARE_WY

}  // namespace tessera::detail::kernels
