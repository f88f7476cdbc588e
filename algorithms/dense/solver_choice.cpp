// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera::detail {

namespace {

/// Least order for which one stage by a kernel that keeps the matrix in registers is preferred to cuSOLVER's driver.
constexpr Index smallest_at_once = 200;

/// Largest order for which cuSOLVER's driver on one GPU is preferred to our two stages, where one stage does not take
/// it: from there on those are faster, as measured for each type (docs/performance/dense.md).
Index largest_driver_order(Index n, Index wanted, const SolverPlace& place) {
  if (!place.complex) return 400;
  if (wanted <= n / 2) return 1100;
  return place.single ? 1500 : 1300;
}

/// Up to so many workers LAPACK and one stage hold out longer: tasks are small for more of them.
constexpr int few_workers = 4;

/// LAPACK wins where tasks would be tiny, longest for values alone, where it has no vectors to make slowly.
Index largest_vendor_order(Index wanted, const SolverPlace& place) {
  if (place.workers > few_workers || place.ranks > 1) return 200;
  return wanted == 0 ? 1000 : 400;
}

/// One stage, where most vectors are wanted: the second back-transform costs more than the reduction's memory
/// traffic as long as half the matrix stays in the third cache. With more workers its many small tasks end that
/// earlier.
Index largest_one_stage_order(const SolverPlace& place) {
  constexpr Index unknown_cache = 1500, many_workers = 700, measured = 4096;
  if (place.workers > few_workers) return many_workers;
  if (place.ranks > 1 || place.cached <= 0) return unknown_cache;  // the caches of ranks may differ
  return std::min(measured, static_cast<Index>(std::sqrt(2 * place.cached)));
}

Solver choose_on_cpus(Index n, Index wanted, const SolverPlace& place) {
  if (n <= largest_vendor_order(wanted, place)) return Solver::vendor;
  return wanted > n / 2 && n <= largest_one_stage_order(place) ? Solver::one_stage : Solver::two_stage;
}

}  // namespace

Solver choose_solver(Index n, Index wanted, const SolverPlace& place) {
  if (place.gpu_driver) {
    if (n >= smallest_at_once && n <= place.at_once) return Solver::one_stage;
    return n <= largest_driver_order(n, wanted, place) ? Solver::vendor : Solver::two_stage;
  }
  return choose_on_cpus(n, wanted, place);
}

}  // namespace tessera::detail
