// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/eigensolve.hpp>

namespace tessera::detail {

/// Where a problem is solved.
struct SolverPlace {
  int workers = 1;  ///< of all ranks
  int ranks = 1;
  bool gpu_driver = false;  ///< one process with a GPU, so that Solver::vendor is cuSOLVER's driver
  Index at_once = 0;  ///< largest order that a kernel of such a GPU tridiagonalizes (largest_whole_at_once)
  bool complex = false, single = false;  ///< the problem's type: complex, single precision
  double cached = 0;  ///< scalars of the problem's type that fit into a third cache; 0: not known
};

/// What Solver::automatic becomes for a problem of order n of which `wanted` eigenvectors are computed (0:
/// values alone).
Solver choose_solver(Index n, Index wanted, const SolverPlace& place);

}  // namespace tessera::detail
