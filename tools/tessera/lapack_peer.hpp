// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/runtime/types.hpp>

#include "options.hpp"

/// The same problem by LAPACK, for comparison.
namespace tessera::program {

template <class T>
struct LapackSolution {
  std::string name;    ///< of the routines
  double seconds = 0;  ///< inside LAPACK, without the allocation of its work space
  Index first = 0;     ///< index of the first value in the whole spectrum
  std::vector<RealOf<T>> values;
  std::vector<T> vectors;  ///< n x count, leading dimension n; empty without vectors
};

/// All pairs or all values: heevd, hegvd (divide and conquer). A range: heevr (MRRR), for two matrices
/// between potrf, hegst and trsm.
/// @param a  n x n, lower triangle, consumed
/// @param b  the same, or empty for the standard problem
/// @throws Error if LAPACK reports a failure
template <class T>
LapackSolution<T> solve_with_lapack(std::vector<T> a, std::vector<T> b, Index n, const RangeOption& range,
                                    bool vectors);

}  // namespace tessera::program
