// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <cublas_v2.h>

#include <tessera/codelets/common/tile_part.hpp>

/// The device side of block_reflector.hpp, on plain device memory. All of it runs on the handle's stream.
namespace tessera {

/// V := the pieces below each other; column j is zero above row (j / b + 1) b.
template <class T>
void launch_gather_reflectors(cudaStream_t stream, std::span<const MatrixView<const T>> pieces, Index b,
                              MatrixView<T> v) noexcept;

/// T := the factor of all columns of V, zero below the diagonal, from the factors of its panels of b columns.
/// Neighbouring factors are joined pairwise, T12 = -T1 (V1^H V2) T2, all pairs of a level in one batch.
template <class T>
void launch_merge_t(cublasHandle_t handle, std::span<const MatrixView<const T>> v,
                    std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept;

/// C := (I - V T V^H) C, T zero below the diagonal; workspace of 2 k x (columns of C).
template <class T>
void launch_apply_block_reflector(cublasHandle_t handle, std::span<const MatrixView<const T>> v,
                                  MatrixView<const T> t, T* workspace, MatrixView<T> c) noexcept;

/// X_k := L_kk^-H X_k, X_i := X_i - L_ki^H X_k for the rows X_i = rows [i tile, ...) of X.
template <class T>
void launch_solve_adjoint_row(cublasHandle_t handle, std::span<const MatrixView<const T>> l_row, Index tile,
                              MatrixView<T> x) noexcept;

}  // namespace tessera
