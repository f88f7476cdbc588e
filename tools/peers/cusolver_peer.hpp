// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

/// The same problems by cuSOLVER and cuBLAS on the first GPU, for comparison: on a stream and memory of their
/// own. Data is on the device before the clock (CUDA events) starts, and the routine has run at a small size
/// before. Everything throws RuntimeError, with the library's status or info, if it fails, if there is no
/// GPU, or the build has no CUDA.
namespace tessera::program {

/// Xsyevd, Xsyevdx for a range; for two matrices sygvd and sygvdx.
/// @param a  n x n, lower triangle
/// @param b  the same, or empty for the standard problem
/// @param fetch  bring the vectors to the host, if there are any
template <class T>
PeerSolution<T> solve_with_cusolver(const std::vector<T>& a, const std::vector<T>& b, Index n,
                                    const RangeOption& range, bool vectors, bool fetch);

/// Seconds of single routines. Matrices n x n, lower triangles.
template <class T>
double time_cusolver_potrf(const std::vector<T>& a, Index n);
template <class T>
double time_cusolver_hetrd(const std::vector<T>& a, Index n);
/// X := inv(L)^H X for `columns` columns.
template <class T>
double time_cublas_trsm(const std::vector<T>& l, Index n, Index columns);

}  // namespace tessera::program
