// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <span>

#include <tessera/data.hpp>

struct CUstream_st;  // cudaStream_t points to it

/// Kernels of the panel factorisation in reduce_to_band, on column-major memory.
namespace tessera::detail::kernels {

/// The small matrices of one panel of width b, in one block of memory (each b x b, ld = b).
template <class T>
struct PanelFactor {
  /// Bytes of the block.
  static std::size_t bytes(Index b) noexcept {
    return (1 + 7 * static_cast<std::size_t>(b * b)) * sizeof(T) + 64;
  }
  PanelFactor(void* memory, Index b) noexcept
      : b(b),
        fallback(static_cast<std::int32_t*>(memory)),
        first(reinterpret_cast<T*>(static_cast<char*>(memory) + 64)) {}
  /// In the bytes of an operand. A task that only reads the operand must not write to it.
  static PanelFactor in(std::span<const char> memory, Index b) noexcept {
    return PanelFactor(const_cast<char*>(memory.data()), b);
  }
  MatrixView<T> part(int i) const noexcept { return {first + i * b * b, b, b, b}; }
  MatrixView<T> r1() const noexcept { return part(0); }    ///< first Cholesky factor (upper)
  MatrixView<T> r2() const noexcept { return part(1); }    ///< second Cholesky factor (upper)
  MatrixView<T> r() const noexcept { return part(2); }     ///< R of the panel's QR factorisation
  MatrixView<T> v1() const noexcept { return part(3); }    ///< unit lower triangular top of V, zeros above
  MatrixView<T> x() const noexcept { return part(4); }     ///< V = Q x below the top
  MatrixView<T> band() const noexcept { return part(5); }  ///< S R: what the panel becomes in the band
  MatrixView<T> work() const noexcept { return part(6); }

  Index b;
  std::int32_t* fallback;  ///< 1: Cholesky QR is not safe for this panel, Householder TSQR takes over
  T* first;
};

/// R := upper Cholesky factor of the Gram matrix G (upper triangle counts), zeros below.
/// @return false when G is not numerically positive definite or not finite.
template <class T>
bool gram_cholesky(MatrixView<const T> g, MatrixView<T> r) noexcept;

/// ||G - I||_F of a Hermitian matrix given by its upper triangle.
template <class T>
RealOf<T> distance_from_identity(MatrixView<const T> g) noexcept;

/// Householder reconstruction: from Q (m x b, orthonormal columns; only its top b x b block q1 is read) and R
/// it finds V (unit lower trapezoidal), T (upper triangular) and S = diag(+-1) with (I - V T V^H) [I; 0] S =
/// Q, from the LU factorisation Q - [S; 0] = V U without pivoting, S_jj = -sign(Re pivot_j), which makes
/// |U_jj| >= 1. Outputs: v1 (top of V), x = U^-1 (the rest of V is Q2 x), t = -U S V1^-H, band = S R. q1 is
/// overwritten. Source: Ballard, Demmel, Grigori, Jacquelin, Knight, Nguyen, "Reconstructing Householder
/// vectors from tall-skinny QR" (2015), Algorithm 6; LAPACK orhr_col.
template <class T>
void reconstruct_householder(MatrixView<T> q1, MatrixView<const T> r, MatrixView<T> v1, MatrixView<T> x,
                             MatrixView<T> t, MatrixView<T> band) noexcept;

/// Householder QR of an m x n panel, any m and n: V (m x n, unit lower trapezoidal, columns beyond min(m, n)
/// zero), T (n x n upper triangular, zero beyond), and the triangle R (n x n, rows beyond min(m, n) zero)
/// with A = (I - V T V^H) [R; 0]. `v` holds A on entry. tau: n; work: 64 n.
template <class T>
void householder_panel(MatrixView<T> v, MatrixView<T> t, MatrixView<T> r, T* tau, T* work) noexcept;

/// Thin QR by Householder reflections, A = Q R: `a` (m x n) is overwritten by Q (m x min(m, n)), r (n x n)
/// gets min(m, n) rows.
template <class T>
void thin_qr(MatrixView<T> a, MatrixView<T> r, T* tau, T* work) noexcept;

}  // namespace tessera::detail::kernels

/// The panel factorisation on a GPU. All pointers are device memory. The functions enqueue and return; they
/// never wait, allocate or read a result back: the kernels decide by PanelFactor::fallback. Cholesky QR and
/// the reconstruction need b <= 128; launch_panel_householder takes the Householder branch for wider panels.
///
/// Gram matrices are formed and factored in double precision whatever T is, because tensor cores multiply
/// doubles as fast as the other units multiply floats: panels in single precision then rarely need the
/// fall-back.
namespace tessera::detail::panel_cuda {

/// The Gram matrix is the sum over at most `gram_chunks` chunks of at least `gram_chunk_rows` rows.
inline constexpr std::int64_t gram_chunks = 132, gram_chunk_rows = 64;

/// Bytes of the work space of the tasks of panel_qr.hpp: two counters, a Gram matrix and one for each chunk,
/// in double precision; or a copy of the panel; or two matrices of order b.
template <class T>
std::size_t gpu_workspace_bytes(std::int64_t rows, std::int64_t b) {
  const auto square = static_cast<std::size_t>(b * b);
  const auto chunks = static_cast<std::size_t>(std::min(gram_chunks, rows / gram_chunk_rows + 1));
  const std::size_t wide = is_complex<T> ? 16 : 8;
  return std::max({256 + (chunks + 1) * square * wide, static_cast<std::size_t>(rows * b) * sizeof(T),
                   2 * square * sizeof(T)});
}

using kernels::PanelFactor;

/// Widest panel for Cholesky QR: its small matrices live in the registers of one thread block.
inline constexpr Index widest_cholesky_panel = 128;

/// G := P^H P (upper triangle). [rows b^2 flops] workspace, here and below: gpu_workspace_bytes.
template <class T>
void launch_panel_gram(CUstream_st* stream, MatrixView<const T> p, MatrixView<T> gram, void* workspace);

/// factor.work := sum of the G (upper triangle).
template <class T>
void launch_panel_add(CUstream_st* stream, std::span<const MatrixView<const T>> grams,
                      const PanelFactor<T>& factor);

/// r1 := Cholesky factor of factor.work; sets fallback to 0 or 1.
template <class T>
void launch_panel_cholesky(CUstream_st* stream, const PanelFactor<T>& factor);

/// Unless fallback: Q := P r1^-1 by substitution, G := Q^H Q.
template <class T>
void launch_panel_orthogonalize(CUstream_st* stream, MatrixView<const T> p, const PanelFactor<T>& factor,
                                MatrixView<T> q, MatrixView<T> gram, void* workspace);

/// Unless fallback: r2 := Cholesky factor of G = factor.work, r := r2 r1; fallback unless ||G - I||_F <= 0.1.
template <class T>
void launch_panel_check(CUstream_st* stream, const PanelFactor<T>& factor);

/// Thin QR, A = Q R, if *flag (null: always). Q (rows x cols; columns beyond min(rows, cols) zero) may be A;
/// R is cols x cols. [4 rows cols^2]
template <class T>
void launch_thin_qr(CUstream_st* stream, const std::int32_t* flag, MatrixView<const T> a, MatrixView<T> q,
                    MatrixView<T> r, void* workspace);

/// Q := Q r2^-1, or, if fallback, Q times the rows of `m` (min(rows, b) x b).
template <class T>
void launch_panel_finish(CUstream_st* stream, const PanelFactor<T>& factor, MatrixView<const T> m,
                         MatrixView<T> q, void* workspace);

/// kernels::reconstruct_householder from the top of Q and factor.r.
template <class T>
void launch_panel_reconstruct(CUstream_st* stream, MatrixView<const T> q, const PanelFactor<T>& factor,
                              MatrixView<T> t);

/// Factorisation of a panel in one piece: V with explicit ones and zeros, T, factor.band; factor.fallback
/// shows the branch. Six launches: Gram; sum and Cholesky; substitution and Gram; sum, Cholesky and
/// reconstruction; V; Householder reflections, which return at once if Cholesky QR has succeeded.
/// [about 5 rows b^2 flops]
template <class T>
void launch_panel_householder(CUstream_st* stream, MatrixView<const T> p, MatrixView<T> v,
                              const PanelFactor<T>& factor, MatrixView<T> t, void* workspace);

/// V := Q x below v1 unless `formed`; P := V; W := V T.
template <class T>
void launch_panel_vectors(CUstream_st* stream, const PanelFactor<T>& factor, MatrixView<const T> t,
                          MatrixView<T> v, bool top, bool formed, MatrixView<T> p, MatrixView<T> w);

/// C := A M, M upper triangular (entries below its diagonal are not read).
template <class T>
void launch_times_upper(CUstream_st* stream, MatrixView<const T> a, MatrixView<const T> m, MatrixView<T> c);

/// kernels::householder_panel by one cluster of thread blocks: V, T, R of any panel (rank-deficient, zero,
/// fewer rows than columns), if *flag (null: always).
template <class T>
void launch_householder_reflections(CUstream_st* stream, const std::int32_t* flag, MatrixView<const T> p,
                                    MatrixView<T> v, MatrixView<T> t, MatrixView<T> r);

}  // namespace tessera::detail::panel_cuda
