// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera::detail {

namespace {

/// Largest order for which cuSOLVER's driver on one GPU is preferred to our two stages: from here on two
/// stages are faster in double precision, with and without vectors. The other types use the same bound.
constexpr Index largest_driver_order = 2300;

/// `majority`: more than half of the vectors are wanted. From measurements in double on 2 and 16 cores: LAPACK wins where tasks would be tiny; with all vectors one
/// stage wins while the matrix stays in the caches, since the second back-transform costs more than the
/// reduction's memory traffic.
Solver choose_on_cpus(Index n, bool majority, int workers) {
  if (n <= 200) return Solver::vendor;
  return majority && n <= (workers <= 4 ? 1500 : 700) ? Solver::one_stage : Solver::two_stage;
}

}  // namespace

Solver choose_solver(Index n, Index wanted, int workers, bool gpu_driver) {
  if (gpu_driver) return n <= largest_driver_order ? Solver::vendor : Solver::two_stage;
  return choose_on_cpus(n, wanted > n / 2, workers);
}

}  // namespace tessera::detail
