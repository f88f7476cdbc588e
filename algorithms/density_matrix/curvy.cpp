// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>

/// The occupied states of a fixed Hamiltonian by direct minimisation of trace(H X) over projectors.
namespace tessera::detail {

namespace {

constexpr const char* curvy_stage = "curvy";

[[noreturn]] void end_curvy(StatusCode code, Index iteration, std::string reason) {
  throw IterationEnded{{code, curvy_stage, iteration, std::move(reason)}};
}

/// A projector onto the wanted number of states: the one that is given, purified, or a rough one.
template <class T>
BlockSparseMatrix<T> rough_projector(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                                     const DensityOptions& options) {
  if (!problem.start) {
    // With a loose filter: the steps that follow make good what it costs.
    constexpr double loose = 1e-3;
    DensityOptions rough = options;
    rough.filter_eps = std::max(options.filter_eps, loose);
    algebra.set_filter_eps(rough.filter_eps);
    auto found = purify_trs4(algebra, problem, rough);
    algebra.set_filter_eps(options.filter_eps);
    purify_start(algebra, found.x, problem.states, curvy_stage);
    return std::move(found.x);
  }
  auto x = algebra.copied(*problem.start);
  purify_start(algebra, x, problem.states, curvy_stage);
  return x;
}

/// Where the highest of the states of X and the lowest of the others lie, by Lanczos.
template <class T>
GapBounds measured_gap(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                       const BlockSparseMatrix<T>& x) {
  const auto& identity = algebra.identity(x.layout());
  const auto highest = [&](const BlockSparseMatrix<T>& of, const BlockSparseMatrix<T>& projector) {
    // Both factors commute; what is not occupied is at 0 in the product, the rest above.
    const auto part = algebra.product(1, projector, of, x.layout());
    const ExtremalResult ends =
        extremal_eigenvalues<T>(algebra.runtime(), {.a = part}, {.tolerance = 1e-4, .max_products = 200});
    if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
    return ends.highest;
  };
  const auto [lower, upper] = problem.spectrum;
  const auto from_below = algebra.sum({{1, &problem.hamiltonian}, {-lower, &identity}}),
             from_above = algebra.sum({{-1, &problem.hamiltonian}, {upper, &identity}}),
             others = algebra.sum({{-1, &x}, {1, &identity}});
  const SpectralEnd homo = highest(from_below, x), lumo = highest(from_above, others);
  return {{lower + homo.value, lower + homo.bound}, {upper - lumo.bound, upper - lumo.value}};
}

/// When the gradient has fallen enough, or falls no more.
template <class T>
class GradientTest {
 public:
  GradientTest(const DensityOptions& options, double scale)
      : iterations_(options.iterations),
        tolerance_(scale * std::max(0.1 * options.filter_eps, 20 * static_cast<double>(precision<T>))),
        noise_(scale * std::max(10 * options.filter_eps, 1e4 * static_cast<double>(precision<T>))) {}

  /// @throws IterationEnded
  bool over(Index iteration, double gradient) {
    if (gradient <= tolerance_) return true;
    still_ = gradient < 0.7 * least_ ? 0 : still_ + 1;
    least_ = std::min(least_, gradient);
    if (still_ >= 2 && gradient <= noise_) return true;
    if (iteration <= iterations_ && still_ < 40) return false;
    end_curvy(still_ >= 40 ? StatusCode::stagnated : StatusCode::iterations_exhausted, iteration - 1,
              fmt::format("||[H, X]||_F / sqrt(n) = {:.2e}; wanted: {:.2e}", gradient, tolerance_));
  }

 private:
  const Index iterations_;
  const double tolerance_, noise_;
  double least_ = 1e300;
  int still_ = 0;
};

/// Turns the projector by the step of the parabola, or by less where the energy would rise; not at all where it
/// always does: near the end, where the filter decides about the direction.
template <class T>
void take_step(CurvySteps<T>& steps, double filter_eps) {
  auto& channel = steps.channels.front();
  const double before = inner_product(channel.hamiltonian, channel.x),
               noise = std::abs(before) * (100 * static_cast<double>(precision<T>) + 0.1 * filter_eps);
  double t = steps.step_at_fixed_hamiltonian();
  constexpr int trials = 5;
  for (int trial = 0; trial < trials; ++trial, t *= 0.25) {
    auto x = std::move(steps.turned(t).front());
    if (inner_product(channel.hamiltonian, x) > before + noise) continue;
    channel.x = std::move(x);
    return;
  }
  steps.restart();
}

}  // namespace

template <class T>
void purify_start(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& x, double states, const char* stage) {
  constexpr int most = 10;
  // A step leaves three times the square.
  const double enough = std::max(algebra.filter_eps(), std::sqrt(static_cast<double>(precision<T>)));
  const auto none = static_cast<const BlockSparseMatrix<T>*>(nullptr);
  double error = 1, last = 2;
  for (int k = 0; k < most && error > enough && error < 0.9 * last; ++k) {
    last = error;
    restore_diagonal_blocks(algebra, x);
    error = mcweeny_step_as_last(algebra, x, none);
  }
  restore_diagonal_blocks(algebra, x);
  const double found = static_cast<double>(real_part(trace(x)));
  if (!std::isfinite(error) || !std::isfinite(found))
    throw IterationEnded{{StatusCode::not_finite, stage, 0, "NaN or infinity in the density to begin with"}};
  if (error > 0.1 || std::abs(found - states) > 0.5)
    throw IterationEnded{
        {StatusCode::no_gap, stage, 0,
         fmt::format(
             "the density to begin with holds {:.6f} states of {:.0f}, ||X^2 - X||_F / ||X||_F = {:.2e}",
             found, states, error)}};
}

template <class T>
Projector<T> minimise_energy(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                             const DensityOptions& options) {
  constexpr Index inner_steps = 20;
  CurvySteps<T> steps(algebra, inner_steps);
  steps.channels.push_back({rough_projector(algebra, problem, options), problem.occupation});
  auto& channel = steps.channels.front();
  channel.hamiltonian = algebra.copied(problem.hamiltonian);
  restore_diagonal_blocks(algebra, channel.hamiltonian);
  const double width = problem.spectrum.upper - problem.spectrum.lower;
  GradientTest<T> test(options, width);
  for (Index iteration = 1;; ++iteration) {
    const double gradient = steps.form_gradients();
    const bool over = std::isfinite(gradient) && test.over(iteration, gradient);
    if (std::isfinite(gradient) && !over) {
      steps.choose_directions();
      take_step(steps, algebra.filter_eps());
    }
    algebra.finish();
    algebra.end_step({.stage = curvy_stage,
                      .iteration = iteration,
                      .convergence = gradient / width,
                      .electrons = problem.occupation * static_cast<double>(real_part(trace(channel.x))),
                      .energy = problem.occupation * inner_product(problem.hamiltonian, channel.x)},
                     channel.x);
    if (!over) continue;
    const GapBounds gap = measured_gap(algebra, problem, channel.x);
    // Any states of H that X holds make the gradient zero.
    if (!(gap.lumo.upper > gap.homo.lower))
      end_curvy(
          StatusCode::no_gap, iteration,
          fmt::format("a state of {:.8g} is occupied, one of {:.8g} is not", gap.homo.lower, gap.lumo.upper));
    const bool apart = gap.lumo.lower > gap.homo.upper;
    return {std::move(channel.x),
            apart ? (gap.homo.upper + gap.lumo.lower) / 2 : (gap.homo.lower + gap.lumo.upper) / 2, gap};
  }
}

#define TESSERA_INSTANTIATE(T)                                                                 \
  template void purify_start<T>(BlockAlgebra<T>&, BlockSparseMatrix<T>&, double, const char*); \
  template Projector<T> minimise_energy<T>(BlockAlgebra<T>&, const OrthonormalProblem<T>&,     \
                                           const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
