// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/data.hpp>

/// Kernels of the panel factorisation in reduce_to_band: plain functions on column-major memory.
namespace tessera::kernels {

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
  /// In the bytes of an operand (who may only read that does not write).
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

/// Householder reconstruction: for Q (m x b, orthonormal columns; only its top b x b block q1 is read) and R
/// finds V (unit lower trapezoidal), T (upper triangular) and S = diag(+-1) with (I - V T V^H) [I; 0] S = Q,
/// from the LU factorisation Q - [S; 0] = V U without pivoting, S_jj = -sign(Re pivot_j), which makes |U_jj|
/// >= 1. Outputs: v1 (top of V), x = U^-1 (the rest of V is Q2 x), t = -U S V1^-H, band = S R. q1 is
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

}  // namespace tessera::kernels
