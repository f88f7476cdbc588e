// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

/// The same problem by LAPACK, for comparison.
namespace tessera::program {

/// All pairs or all values: heevd, hegvd (divide and conquer). A range: heevr (MRRR), for two matrices
/// between potrf, hegst and trsm.
/// @param a  n x n, lower triangle, consumed
/// @param b  the same, or empty for the standard problem
/// @throws Error if LAPACK reports a failure
template <class T>
PeerSolution<T> solve_with_lapack(std::vector<T> a, std::vector<T> b, Index n, const RangeOption& range,
                                  bool vectors);

}  // namespace tessera::program
