// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

#include <tessera/codelets/csb/csb_layout.hpp>
#include <tessera/codelets/csb/multiply_csb.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelet fom_tiles: the full orthogonalization method (FOM) on all diagonal tiles K_t of a segment of rows
/// and all columns at once: for every tile t and column c, s steps of the symmetric Lanczos recurrence from
/// v_1 = r / ||r||,
///   beta_j v_{j+1} = K_t v_j - alpha_j v_j - beta_{j-1} v_{j-1},   alpha_j = v_j^T K_t v_j,
/// and w = V_k y with (T_k - shift I) y = ||r|| e_1, T_k the tridiagonal matrix of alpha and beta. k = s, or
/// less where beta_k says that the Krylov space is invariant (fom_coefficients.hpp): there w is exact. Rows
/// of a tile where r is zero give zero; NaN gives NaN.
///
/// Arguments: shape of the piece, rows and tiles of the segment, columns 1 <= m <= 32, steps 1 <= s <=
/// fom_most_steps,
///            shift.
/// Buffers:   [[piece (read; bytes, csb_layout.hpp: segment x segment, every block within a diagonal tile,
/// blocks in
///            the order of the tiles; not where every rank has GPUs)], [index (read; bytes, csb_index.hpp;
///            where some rank has GPUs)]: neither for a segment without stored entries, K = 0], begins (read;
///            array of std::uint32_t: first row of each tile in the segment, and last its rows), R (read;
///            width x rows, row-major vectors), W (write; width x rows; columns m, ..., width - 1 become
///            zero), scratch (bytes: FomScratch). A tile has 1 to about 6000 rows; a segment from one tile to
///            some ten thousand.
/// Flops:     s (4 m an entry + 8 m a row).
/// Footprint: predicted by the bytes that the steps go through.
/// Order:     the recurrence's coefficients are sums in double, in a fixed order; the same bits in every run
/// on the
///            same kind of worker.
/// Source:    Maris et al., J. Comput. Sci. 59 (2022) 101554, Sec. 3.4; Saad, Iterative Methods for Sparse
/// Linear
///            Systems, 2nd ed., Sec. 6.4 and 6.7.
namespace tessera {

/// Coefficients of so many steps fit a thread's local arrays.
inline constexpr int fom_most_steps = 32;

/// How the scratch memory is used; offsets in bytes. The CPU implementation goes through the tiles one after
/// the other and uses the beginning alone, for the basis of one tile (s blocks of its rows x m).
struct FomScratch {
  std::int64_t basis;      ///< T: s blocks of rows x m, row-major without gaps: v_1, ..., v_s
  std::int64_t alpha;      ///< double: s blocks of tiles x m: alpha_j of tile t and column c at [j][t m + c]
  std::int64_t beta;       ///< double: s + 1 blocks of tiles x m: ||r||, beta_1, ..., beta_s; later y
  std::int64_t dimension;  ///< std::int32_t: tiles x m: k
  std::int64_t total;
};
constexpr FomScratch fom_scratch(std::int64_t rows, std::int64_t tiles, int columns, int steps,
                                 std::int64_t element_bytes) noexcept {
  FomScratch s{};
  s.alpha = csb_aligned(steps * rows * columns * element_bytes);
  s.beta = s.alpha + csb_aligned(8 * steps * tiles * columns);
  s.dimension = s.beta + csb_aligned(8 * (steps + 1) * tiles * columns);
  s.total = s.dimension + csb_aligned(4 * tiles * columns);
  return s;
}

/// What the CPU implementation uses: the basis of the largest tile.
constexpr std::int64_t fom_scratch_on_cpu(std::span<const Index> begins, int columns, int steps,
                                          std::int64_t element_bytes) noexcept {
  Index rows = 0;
  for (std::size_t t = 1; t < begins.size(); ++t) rows = std::max(rows, begins[t] - begins[t - 1]);
  return steps * rows * columns * element_bytes;
}

struct FomArguments {
  CsbPieceShape shape;
  std::int64_t rows, tiles;
  int columns, steps;
  bool piece, index;  ///< the buffers of these names are there
  int value_bytes, element_bytes;
  double shift;
  double flops() const noexcept {
    return double(steps) * columns * (4. * double(shape.entry_count) + 8. * double(rows));
  }
  double seconds(WorkerKind kind, double bytes) const noexcept;
};

namespace kernels {

/// The tiles [begins[t], begins[t + 1]) of a piece on the diagonal. `basis`: steps x rows of the largest tile
/// x columns. All `columns` of w are overwritten, no others.
template <class V, class T>
void fom_tiles(const CsbPieceView<V>& piece, std::int64_t tiles, const std::uint32_t* begins, int columns,
               int steps, double shift, const T* r, std::int64_t ldr, T* w, std::int64_t ldw,
               T* basis) noexcept;

}  // namespace kernels

/// `index` is invalid where no GPU takes part. V: float or double values, T: float or double vectors (V =
/// double only with T = double). `scratch`: fom_scratch(...).total bytes; without GPUs
/// fom_scratch_on_cpu(...). `gpu`: see TaskOptions.
template <class V, class T>
void insert_fom_tiles(Sequence& sequence, int priority, const CsbPieceShape& shape, std::int64_t rows,
                      std::int64_t tiles, int columns, int steps, double shift, const Data& piece,
                      const Data& index, const Data& begins, const Data& r, const Data& w,
                      const Data& scratch, int gpu = -1);

}  // namespace tessera
