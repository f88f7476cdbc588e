// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>

#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// The most steps: their coefficients fit a thread's local arrays.
inline constexpr int fom_max_steps = 32;

/// sigma of K - sigma I. Where `sign` is not 0, sign (T_k - sigma I) is to be positive definite: in a tile and column
/// where it is not, sigma moves beyond the spectrum of T_k. An indefinite preconditioner finds eigenvectors near sigma
/// instead of those at the end of the spectrum.
struct FomShift {
  double value = 0;
  int sign = 0;
  constexpr FomShift(double shift = 0, int definite_sign = 0) : value(shift), sign(definite_sign) {}
};

/// Layout of the scratch memory; offsets in bytes. CPUs compute the tiles one after the other and use the
/// beginning alone, for the basis of one tile (s blocks of its rows x m).
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

/// Bytes that a CPU needs: the basis of the largest tile.
constexpr std::int64_t fom_scratch_on_cpu(std::span<const Index> begins, int columns, int steps,
                                          std::int64_t element_bytes) noexcept {
  Index rows = 0;
  for (std::size_t t = 1; t < begins.size(); ++t) rows = std::max(rows, begins[t] - begins[t - 1]);
  return steps * rows * columns * element_bytes;
}

/// The full orthogonalization method (FOM) on all diagonal tiles K_t of a segment of rows and all columns at
/// once: for every tile t and column c, s steps of the symmetric Lanczos recurrence from v_1 = r / ||r||,
///   beta_j v_{j+1} = K_t v_j - alpha_j v_j - beta_{j-1} v_{j-1},   alpha_j = v_j^H K_t v_j,
/// and w = V_k y with (T_k - shift I) y = ||r|| e_1, T_k the tridiagonal matrix of alpha and beta. k = s, or
/// less where beta_k shows that the Krylov space is invariant (fom_coefficients.hpp): there w is exact. Rows
/// of a tile where r is zero give zero; NaN gives NaN.                       [s (4 m an entry + 8 m a row)]
/// | operand | mode    | shape                            | what                                            |
/// |---------|---------|----------------------------------|-------------------------------------------------|
/// | piece   | read    | bytes: csb_layout.hpp            | absent where every rank has GPUs                |
/// | index   | read    | bytes: csb_index.hpp             | the same, where some rank has GPUs              |
/// | begins  | read    | array of tiles + 1 std::uint32_t | first row of each tile in the segment; its rows |
/// | r       | read    | block of vectors                 | R                                               |
/// | w       | write   | block of vectors                 | W; columns m, ..., width - 1 become zero        |
/// | scratch | scratch | bytes: FomScratch::total         | without GPUs fom_scratch_on_cpu                 |
/// Every cell of the piece lies within a diagonal tile, in the order of the tiles. A segment without stored
/// entries, K = 0, has neither piece nor index. A tile has 1 to about 6000 rows; a segment from one tile to
/// some ten thousand. The recurrence's coefficients are sums in double, in a fixed order; the same bits in
/// every run on the same kind of worker. Predicted by the bytes that the steps read and write. V: the
/// values' type, T: the vectors' (TESSERA_FOR_STORED); the name has the letters of V
/// and T: fom_tiles_f_d has float values and double vectors.
/// Source: Maris et al., J. Comput. Sci. 59 (2022) 101554, Sec. 3.4; Saad, Iterative Methods for Sparse
/// Linear Systems, 2nd ed., Sec. 6.4 and 6.7.
template <class V, class T>
struct FomTiles {
  static constexpr const char* name = std::is_same_v<V, T> ? "fom_tiles" : "fom_tiles_f";
  // A CPU takes the tiles one after the other, with other bits: a preconditioner must be the same in every
  // iteration.
  static constexpr bool gpu_instead_of_cpu = true;
  using Scalar = T;
  Read<Array<char>> piece{}, index{};
  Read<Array<std::uint32_t>> begins;
  Read<Matrix<T>> r;
  Write<Matrix<T>> w;
  Scratch<Array<char>> scratch;
  CsbPieceShape shape;
  std::int64_t rows = 0, tiles = 0;  ///< of the segment
  int columns = 0;                   ///< m, 1 to 32
  int steps = 0;                     ///< s, 1 to fom_max_steps
  FomShift shift{};

  bool stored() const noexcept { return shape.cell_count > 0; }
  double flops() const noexcept {
    return double(steps) * flop_factor<T> * columns * (4. * double(shape.entry_count) + 8. * double(rows));
  }
  /// Each step has a product and five passes over the vectors. The rates are those of a core for flops and of
  /// a GPU for bytes and launches.
  double seconds(WorkerKind kind, double) const noexcept {
    const double bytes =
        double(shape.entry_count) * int(sizeof(V) + 4) + 5. * double(rows) * columns * int(sizeof(T));
    return kind == WorkerKind::gpu ? steps * (20e-6 + bytes / 2e12)
                                   : 2e-6 + 1e-7 * double(tiles) * steps + flops() / 4e9;
  }
};

/// Inserts a task that has a piece and, where GPUs take part, an index (if the shape has entries), without
/// those that it does not need.
/// @throws InvalidArgument for a missing index
template <class V, class T>
void insert_fom_tiles(Sequence& sequence, FomTiles<V, T> task, const TaskOptions& options = {});

/// On a GPU every step is one product with all tiles (launch_multiply_csb) and one kernel, of which a cluster
/// of up to eight thread blocks takes a tile.
template <class V, class T>
void run(const DeviceContext& on, const FomTiles<V, T>& task);

namespace kernels {

/// The tiles [begins[t], begins[t + 1]) of a piece on the diagonal. `basis`: steps x rows of the largest tile
/// x columns. All `columns` of w are overwritten, no others.
template <class V, class T>
void fom_tiles(const CsbPieceView<V>& piece, std::int64_t tiles, const std::uint32_t* begins, int columns,
               int steps, FomShift shift, const T* r, std::int64_t ldr, T* w, std::int64_t ldw,
               T* basis) noexcept;

}  // namespace kernels

}  // namespace tessera::detail
