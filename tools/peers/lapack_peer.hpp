// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "common_options.hpp"
#include "peer_solution.hpp"

/// Solves the same problem with LAPACK, for comparison.
namespace tessera::program {

/// For all pairs or all values: heevd or hegvd (divide and conquer). For all values of the standard problem also
/// heevd_2stage, if LAPACK has it: the faster of the two counts. For a range: heevr (MRRR); for
/// the generalized problem also potrf and hegst before it, and trsm after it.
/// @param a  n x n, lower triangle; overwritten
/// @param b  n x n, lower triangle; empty for the standard problem
/// @throws Error if LAPACK reports a failure
template <class T>
PeerSolution<T> solve_with_lapack(std::vector<T> a, std::vector<T> b, Index n, const RangeOption& range,
                                  bool vectors);

}  // namespace tessera::program
