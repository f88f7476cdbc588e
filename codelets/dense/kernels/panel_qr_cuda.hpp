// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <cuda_runtime.h>

#include <tessera/codelets/dense/kernels/panel_kernels.hpp>

/// Panel factorisation on the GPU: what the CUDA codelets of panel_qr.hpp enqueue. All pointers are device
/// memory; nothing here waits, allocates or reads a result back: decisions are made by the kernels from
/// PanelFactor::fallback. Cholesky QR and the reconstruction need b <= 128; launch_panel_householder takes
/// the Householder branch for wider panels.
///
/// Gram matrices are formed and factored in double precision whatever T is (tensor cores multiply doubles as
/// fast as the other units multiply floats): single precision panels then rarely need the fall-back.
namespace tessera::panel_cuda {

using kernels::PanelFactor;

/// Widest panel for Cholesky QR: its small matrices live in the registers of one thread block.
inline constexpr Index widest_cholesky_panel = 128;

/// G := P^H P (upper triangle). [rows b^2 flops] workspace, here and below:
/// gpu_workspace_bytes (panel_workspace.hpp).
template <class T>
void launch_panel_gram(cudaStream_t stream, MatrixView<const T> p, MatrixView<T> gram, void* workspace);

/// factor.work := sum of the G (upper triangle).
template <class T>
void launch_panel_add(cudaStream_t stream, std::span<const MatrixView<const T>> grams,
                      const PanelFactor<T>& factor);

/// r1 := Cholesky factor of factor.work; sets fallback to 0 or 1.
template <class T>
void launch_panel_cholesky(cudaStream_t stream, const PanelFactor<T>& factor);

/// Unless fallback: Q := P r1^-1 by substitution, G := Q^H Q.
template <class T>
void launch_panel_orthogonalize(cudaStream_t stream, MatrixView<const T> p, const PanelFactor<T>& factor,
                                MatrixView<T> q, MatrixView<T> gram, void* workspace);

/// Unless fallback: r2 := Cholesky factor of G = factor.work, r := r2 r1; fallback unless ||G - I||_F <= 0.1.
template <class T>
void launch_panel_check(cudaStream_t stream, const PanelFactor<T>& factor);

/// Thin QR, A = Q R, if *flag (null: always). Q (rows x cols; columns beyond min(rows, cols) zero) may be A;
/// R is cols x cols. [4 rows cols^2]
template <class T>
void launch_thin_qr(cudaStream_t stream, const std::int32_t* flag, MatrixView<const T> a, MatrixView<T> q,
                    MatrixView<T> r, void* workspace);

/// Q := Q r2^-1, or, if fallback, Q times the rows of `m` (min(rows, b) x b).
template <class T>
void launch_panel_finish(cudaStream_t stream, const PanelFactor<T>& factor, MatrixView<const T> m,
                         MatrixView<T> q, void* workspace);

/// kernels::reconstruct_householder from the top of Q and factor.r.
template <class T>
void launch_panel_reconstruct(cudaStream_t stream, MatrixView<const T> q, const PanelFactor<T>& factor,
                              MatrixView<T> t);

/// Factorisation of a panel in one piece. V with explicit ones and zeros, T, factor.band; factor.fallback
/// tells which branch it took. Six launches: Gram; sum and Cholesky; substitution and Gram; sum, Cholesky and
/// reconstruction; V; Householder reflections, which returns at once where Cholesky QR has succeeded.
/// [about 5 rows b^2 flops]
template <class T>
void launch_panel_householder(cudaStream_t stream, MatrixView<const T> p, MatrixView<T> v,
                              const PanelFactor<T>& factor, MatrixView<T> t, void* workspace);

/// V := Q x below v1 unless `formed`; P := V; W := V T.
template <class T>
void launch_panel_vectors(cudaStream_t stream, const PanelFactor<T>& factor, MatrixView<const T> t,
                          MatrixView<T> v, bool top, bool formed, MatrixView<T> p, MatrixView<T> w);

/// C := A M, M upper triangular (what lies below its diagonal is not read).
template <class T>
void launch_times_upper(cudaStream_t stream, MatrixView<const T> a, MatrixView<const T> m, MatrixView<T> c);

/// kernels::householder_panel by one cluster of thread blocks: V, T, R of any panel (rank-deficient, zero,
/// fewer rows than columns), if *flag (null: always).
template <class T>
void launch_householder_reflections(cudaStream_t stream, const std::int32_t* flag, MatrixView<const T> p,
                                    MatrixView<T> v, MatrixView<T> t, MatrixView<T> r);

}  // namespace tessera::panel_cuda
