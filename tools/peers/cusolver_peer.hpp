// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

/// Solves the same problems with cuSOLVER and cuBLAS on the first GPU, for comparison, on a
/// separate stream and in separate memory. The data is on the GPU before the timing (by CUDA
/// events) starts, and a warm-up call on a small matrix precedes it. All functions throw
/// RuntimeError, with the library's status or info, if the library fails, and also if there is no
/// GPU or the build has no CUDA.
namespace tessera::program {

/// Calls Xsyevd, or Xsyevdx for a range; for the generalized problem sygvd or sygvdx. Each is called with
/// deterministic results (the library's default) and without, and the faster call counts.
/// @param a  n x n, lower triangle
/// @param b  n x n, lower triangle; empty for the standard problem
/// @param fetch  whether to copy the vectors, if there are any, to the host
template <class T>
PeerSolution<T> solve_with_cusolver(const std::vector<T>& a, const std::vector<T>& b, Index n,
                                    const RangeOption& range, bool vectors, bool fetch);

/// Seconds of single routines. The matrices are n x n, lower triangles.
template <class T>
double time_cusolver_potrf(const std::vector<T>& a, Index n);
template <class T>
double time_cusolver_hetrd(const std::vector<T>& a, Index n);
/// X := inv(L)^H X for `columns` columns.
template <class T>
double time_cublas_trsm(const std::vector<T>& l, Index n, Index columns);

}  // namespace tessera::program
