// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/scf/pulay.hpp>
#include <tessera/algorithms/scf/scf_iteration.hpp>

/// Self-consistent fields by mixing.
namespace tessera::detail {

namespace {

/// A <- (1 - a) A + a B, for each channel.
template <class T>
void mix(BlockAlgebra<T>& algebra, double a, std::vector<BlockSparseMatrix<T>>& mixed,
         const std::vector<BlockSparseMatrix<T>>& next) {
  for (std::size_t s = 0; s < next.size(); ++s) {
    if (mixed[s].valid())
      algebra.add(1 - a, mixed[s], a, next[s]);
    else
      mixed[s] = algebra.copied(next[s]);
  }
}

template <class T>
double sum_of_squares(const std::vector<BlockSparseMatrix<T>>& matrices) {
  double sum = 0;
  for (const auto& a : matrices) sum += inner_product(a, a);
  return sum;
}

}  // namespace

template <class T>
void mix_hamiltonians(ScfIteration<T>& iteration) {
  auto& algebra = iteration.algebra();
  const ScfOptions& options = iteration.options();
  auto x = iteration.first_projectors();
  std::vector<BlockSparseMatrix<T>> mixed(x.size());
  for (std::size_t s = 0; s < x.size(); ++s)
    if (iteration.first_hamiltonians()[s].valid())
      mixed[s] = algebra.copied(iteration.first_hamiltonians()[s]);
  PulayHistory<T> history(options.history);
  for (;;) {
    auto h = iteration.evaluate(x);
    std::vector<BlockSparseMatrix<T>> errors;
    for (std::size_t s = 0; s < x.size(); ++s)
      errors.push_back(antihermitian_commutator(algebra, 1, h[s], x[s]));
    if (iteration.end_step(sum_of_squares(errors), x)) return;
    if (options.method == ScfMethod::pulay) {
      history.add(std::move(h), std::move(errors));
      mixed = history.combined(algebra);
    } else {
      mix(algebra, options.mixing, mixed, h);
    }
    x = iteration.lowest_states(mixed);
  }
}

template <class T>
void mix_densities(ScfIteration<T>& iteration) {
  auto& algebra = iteration.algebra();
  auto x = iteration.first_projectors();
  for (bool projectors = true;; projectors = false) {
    const auto h = iteration.evaluate(x, projectors);
    auto lowest = iteration.lowest_states(h);
    std::vector<BlockSparseMatrix<T>> changes;
    for (std::size_t s = 0; s < x.size(); ++s) changes.push_back(algebra.sum({{1, &lowest[s]}, {-1, &x[s]}}));
    if (iteration.end_step(sum_of_squares(changes), x)) {
      // The mean is nearly a projector; the result is one.
      iteration.evaluate(lowest);
      return;
    }
    mix(algebra, iteration.options().mixing, x, lowest);
  }
}

#define TESSERA_INSTANTIATE(T)                         \
  template void mix_hamiltonians<T>(ScfIteration<T>&); \
  template void mix_densities<T>(ScfIteration<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
