// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/scf/scf_iteration.hpp>

/// Self-consistent fields by direct minimisation of the energy over projectors.
namespace tessera::detail {

namespace {

/// The energy along a geodesic X(t) = exp(-t D) X exp(t D) and the search for its least value.
template <class T>
class GeodesicSearch {
 public:
  using Matrices = std::vector<BlockSparseMatrix<T>>;
  GeodesicSearch(ScfIteration<T>& iteration, CurvySteps<T>& steps) : iteration_(iteration), steps_(steps) {}

  /// Moves the channels to the least energy along their directions. Returns whether the energy has not risen.
  bool move() {
    const double before = iteration_.energy(), slope = steps_.slope();
    // Differences of energies below it say nothing.
    const double noise = std::max(1.0, std::abs(before)) * (100 * static_cast<double>(precision<T>) +
                                                            0.1 * iteration_.options().density.filter_eps);
    // At fixed H the step is known; how much longer or shorter the last one was than that is the response of H.
    double t = std::min(steps_.step_at_fixed_hamiltonian() * response_, steps_.longest_step());
    const double fixed = steps_.step_at_fixed_hamiltonian();
    constexpr int trials = 12;
    for (int trial = 0; trial < trials; ++trial) {
      Matrices x = steps_.turned(t);
      Matrices h = iteration_.evaluate(x);
      const double after = slope_at(x, h), risen = iteration_.energy() - before;
      // The zero of the slope on the line through both ends, which is where the parabola through them is least.
      const double bend = after - slope,
                   least = bend > 0 ? std::clamp(-slope / bend * t, 0.1 * t, 4 * t) : 4 * t;
      const double next = std::min(least, steps_.longest_step());
      const bool enough = std::abs(after) <= 0.25 * std::abs(slope) || std::abs(next - t) <= 0.1 * t;
      const bool lower = risen <= noise;
      if (lower && (enough || trial > 0)) {
        response_ = std::clamp(t / fixed, 0.1, 4.0);
        take(std::move(x), std::move(h));
        return true;
      }
      t = lower || next < 0.7 * t ? next : 0.3 * t;
    }
    return false;
  }

 private:
  /// dE/dt, with the Hamiltonians there: dX/dt = [X, D] all along.
  double slope_at(const Matrices& x, const Matrices& h) {
    double slope = 0;
    for (std::size_t s = 0; s < x.size(); ++s) {
      const CurvyChannel<T>& channel = steps_.channels[s];
      slope += channel.occupation *
               inner_product(h[s], hermitian_commutator(iteration_.algebra(), 1, x[s], channel.direction));
    }
    return slope;
  }
  void take(Matrices x, Matrices h) {
    for (std::size_t s = 0; s < x.size(); ++s) {
      steps_.channels[s].x = std::move(x[s]);
      steps_.channels[s].hamiltonian = std::move(h[s]);
    }
  }
  ScfIteration<T>& iteration_;
  CurvySteps<T>& steps_;
  double response_ = 1;
};

}  // namespace

template <class T>
void minimise_directly(ScfIteration<T>& iteration) {
  CurvySteps<T> steps(iteration.algebra(), iteration.options().inner_steps);
  GeodesicSearch<T> search(iteration, steps);
  auto first = iteration.first_projectors();
  // A gradient is found from projectors that every step filters: what the filter leaves of it must be below the
  // tolerance that other methods reach with the same filter.
  iteration.algebra().set_filter_eps(0.1 * iteration.options().density.filter_eps);
  auto h = iteration.evaluate(first);
  for (std::size_t s = 0; s < first.size(); ++s) {
    steps.channels.push_back({std::move(first[s]), iteration.problem().channels[s].occupation});
    steps.channels[s].hamiltonian = std::move(h[s]);
    // The states are those of no Hamiltonian any more.
    iteration.forget_levels(s);
  }
  // A step that does not lead down twice in turn, once along the gradient alone: no smaller energy is to be
  // seen.
  for (int failed = 0;;) {
    const double gradient = steps.form_gradients();
    double rows = 0;
    std::vector<BlockSparseMatrix<T>> iterates;
    for (const CurvyChannel<T>& channel : steps.channels) {
      rows += static_cast<double>(channel.x.rows());
      iterates.push_back(iteration.algebra().copied(channel.x));
    }
    if (iteration.end_step(gradient * gradient * rows, iterates)) return;
    steps.choose_directions();
    if (search.move()) {
      failed = 0;
      continue;
    }
    steps.restart();
    if (++failed < 2) {
      // The result is that of the last trial; back to where the step began.
      iteration.evaluate(iterates);
      continue;
    }
    throw IterationEnded{{StatusCode::stagnated, to_string(ScfMethod::direct), 0,
                          fmt::format("no lower energy along the gradient, whose norm is {:.2e}", gradient)}};
  }
}

#define TESSERA_INSTANTIATE(T) template void minimise_directly<T>(ScfIteration<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
