// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::detail {

/// Scaled errors of computed eigenpairs; below 30 is right, below 1 is good. eps = LAPACK's dlamch('P').
struct EigenCheck {
  double residual =
      0;  ///< ||A Z - Z L||_1 / (n ||A||_1 eps); generalized: ||A Z - B Z L||_1 / (n ||A||_1 ||Z||_1 eps)
  double orthogonality =
      0;  ///< ||I - Z^H Z||_1 / (n eps); generalized: ||I - Z^H B Z||_1 / (n ||B||_1 ||Z||_1^2 eps)
  double norm_a = 0;  ///< ||A||_1
  double norm_b = 0;  ///< ||B||_1, 0 for a standard problem
};

/// Checks eigenpairs by tiled products; blocking and collective. A (and B) in any layout that eigensolve
/// takes. A zero matrix counts with norm 1. Flops: 2 n^2 k + 2 n k^2 (generalized: 4 n^2 k + 2 n k^2)
/// (complex: x 4).
/// @param values the k eigenvalues that belong to the columns of z
template <class T>
EigenCheck check_eigenpairs(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b,
                            std::span<const RealOf<T>> values, const ColumnSlabs<T>& z);

/// Rows of the square tiles to which check_eigenpairs copies a matrix; on GPUs such that a task has room for
/// slabs beside one.
template <class T>
Index tile_of_check(const Runtime& runtime) noexcept;

/// ||A||_1 of a Hermitian matrix; blocking and collective.
template <class T>
double hermitian_norm(Runtime& runtime, const TiledMatrix<T>& a);

/// max |values - reference| / (n norm_a eps).
template <class R>
double check_values(std::span<const R> values, std::span<const R> reference, Index n, double norm_a);

}  // namespace tessera::detail
