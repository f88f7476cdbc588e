// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/matrix_sign.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>

namespace tessera::detail {

namespace {

/// 1/2 (I - sign(H' - mu I))
template <class T>
BlockSparseMatrix<T> states_below(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                                  const DensityOptions& options, double mu) {
  const auto& identity = algebra.identity(problem.hamiltonian.layout());
  const SpectralInterval ends = problem.spectrum;
  const double bound = std::max(ends.upper - mu, mu - ends.lower);
  auto x = algebra.sum({{1 / bound, &problem.hamiltonian}, {-mu / bound, &identity}});
  MatrixFunctionOptions of_sign;
  of_sign.filter_eps = options.filter_eps;
  of_sign.order = options.sign_order;
  of_sign.tolerance = options.tolerance;
  of_sign.iterations = options.iterations;
  of_sign.scaled = options.scaled;
  iterate_sign(algebra, x, of_sign);
  algebra.add(-0.5, x, 0.5, identity);
  algebra.finish();
  return x;
}

/// The table's line for one mu.
template <class T>
void end_search_step(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem, Index iteration,
                     double found, const BlockSparseMatrix<T>& x) {
  algebra.end_step({.stage = "chemical_potential",
                    .iteration = iteration,
                    .convergence = std::abs(problem.occupation * (found - problem.states)),
                    .electrons = problem.occupation * found,
                    .energy = std::numeric_limits<double>::quiet_NaN()},
                   x);
}

}  // namespace

template <class T>
Projector<T> projector_by_sign(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                               const DensityOptions& options) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const SpectralInterval ends = problem.spectrum;
  if (problem.chemical_potential) {
    const double mu = *problem.chemical_potential;
    // All states are on one side.
    if (mu <= ends.lower || mu >= ends.upper) {
      OrthonormalProblem<T> none_or_all = problem;
      none_or_all.states = mu <= ends.lower ? 0 : static_cast<double>(problem.hamiltonian.rows());
      return std::move(*trivial_projector(algebra, none_or_all));
    }
    return {states_below(algebra, problem, options, mu), mu, {{none, mu}, {mu, none}}};
  }
  const double miss = options.electron_tolerance > 0 ? options.electron_tolerance / problem.occupation : 0.5;
  // States are told apart by the filter, or by rounding.
  const double blind =
      std::max(options.filter_eps, 1e3 * static_cast<double>(precision<T>)) * (ends.upper - ends.lower);
  double lower = ends.lower, upper = ends.upper, share = 0.5;
  // A former gap is where to begin.
  if (problem.gap)
    if (const double middle = (problem.gap->homo.upper + problem.gap->lumo.lower) / 2;
        middle > lower && middle < upper)
      share = (middle - lower) / (upper - lower);
  for (Index iteration = 1;; ++iteration) {
    const double mu = lower + share * (upper - lower);
    BlockSparseMatrix<T> x;
    try {
      x = states_below(algebra, problem, options, mu);
    } catch (const IterationEnded& ended) {
      // A state at mu itself: another mu is tried beside it.
      if (ended.status.code != StatusCode::no_gap || upper - lower < blind || share < 0.1) throw;
      share *= 0.77;
      continue;
    }
    share = 0.5;
    const double found = real_part(trace(x));
    end_search_step(algebra, problem, iteration, found, x);
    if (std::abs(found - problem.states) < miss) return {std::move(x), mu, {{none, mu}, {mu, none}}};
    (found < problem.states ? lower : upper) = mu;
    if (upper - lower < blind || iteration >= options.iterations)
      throw IterationEnded{
          {StatusCode::no_gap, "chemical_potential", iteration,
           fmt::format("no gap between {:.10g} and {:.10g}: {:.3f} states below mu, {:.0f} are wanted", lower,
                       upper, found, problem.states)}};
  }
}

#define TESSERA_INSTANTIATE(T)                                                               \
  template Projector<T> projector_by_sign<T>(BlockAlgebra<T>&, const OrthonormalProblem<T>&, \
                                             const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
