// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/curvy_steps.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>
#include <tessera/algorithms/scf/scf_iteration.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/density_state.hpp>

namespace tessera::detail {

namespace {

constexpr const char* functional_stage = "functional";

/// Where all matrices of the problem get to.
template <class T>
BlockLayout layout_of(const ScfProblem<T>& problem) {
  if (problem.overlap) return problem.overlap->layout();
  const ScfChannel<T>& first = problem.channels.front();
  return (first.density ? first.density : first.hamiltonian)->layout();
}

}  // namespace

template <class T>
ScfIteration<T>::ScfIteration(Runtime& runtime, const ScfProblem<T>& problem, const ScfOptions& options,
                              ScfResult<T>& result)
    : runtime_(runtime),
      problem_(problem),
      options_(options),
      result_(result),
      algebra_(runtime, options.density.filter_eps, options.monitor, result),
      layout_(layout_of(problem)) {
  result.channels.resize(problem.channels.size());
  former_.resize(problem.channels.size());
  if (!problem.overlap || problem.overlap->rows() == 0) return;
  // Its steps are no steps of the self-consistent field.
  IterationReport report;
  BlockAlgebra<T> of_basis(runtime, options.density.filter_eps, options.density.monitor, report);
  basis_ = OrthonormalBasis<T>(of_basis, *problem.overlap, problem.inverse_factor, options.density);
  of_basis.finish();
  algebra_.count_products(report.products, report.flop);
}

template <class T>
std::vector<BlockSparseMatrix<T>> ScfIteration<T>::first_projectors() {
  Matrices x(problem_.channels.size());
  Matrices wanted(x.size());
  bool any = false;
  first_hamiltonians_.resize(x.size());
  for (std::size_t s = 0; s < x.size(); ++s) {
    const ScfChannel<T>& channel = problem_.channels[s];
    if (channel.hamiltonian) {
      wanted[s] = basis_.to_orthonormal(algebra_, algebra_.in_layout(*channel.hamiltonian, layout_));
      any = true;
      continue;
    }
    x[s] = basis_.density_to_orthonormal(algebra_, algebra_.in_layout(*channel.density, layout_),
                                         problem_.overlap);
    algebra_.scale(1 / channel.occupation, x[s]);
    purify_start(algebra_, x[s], channel.electrons / channel.occupation, "density");
  }
  algebra_.finish();
  if (!any) return x;
  auto lowest = lowest_states(wanted);
  for (std::size_t s = 0; s < x.size(); ++s)
    if (wanted[s].valid()) x[s] = std::move(lowest[s]);
  first_hamiltonians_ = std::move(wanted);
  return x;
}

/// Bounds of the gap of H from those of the former one: no state has moved by more than the 2-norm of their
/// difference, which no row sum (Gershgorin) and not the Frobenius norm is below. None where the gap may be closed.
template <class T>
std::optional<GapBounds> ScfIteration<T>::gap_at(std::size_t channel, const Matrix& hamiltonian) {
  const DensityMethod method = options_.density.method;
  const bool helps = method == DensityMethod::automatic || method == DensityMethod::sp2 ||
                     method == DensityMethod::purification || method == DensityMethod::sign;
  if (!helps || !former_[channel].valid()) return std::nullopt;
  const Matrix change = algebra_.sum({{1, &hamiltonian}, {-1, &former_[channel]}});
  algebra_.finish();
  return narrowed(result_.channels[channel].gap, std::min(gershgorin_norm(change), frobenius_norm(change)));
}

template <class T>
std::vector<BlockSparseMatrix<T>> ScfIteration<T>::lowest_states(const Matrices& hamiltonians) {
  algebra_.finish();
  DensityOptions options = options_.density;
  options.check = options.energy_weighted = false;
  std::vector<Completion<DensityResult<T>>> in_flight;
  Matrices x(hamiltonians.size());
  std::vector<std::size_t> channels;
  std::vector<std::optional<GapBounds>> gaps;
  const auto problem_of = [&](std::size_t s, std::optional<GapBounds> gap) {
    const ScfChannel<T>& channel = problem_.channels[s];
    return DensityProblem<T>{.hamiltonian = hamiltonians[s],
                             .electrons = channel.electrons,
                             .occupation = channel.occupation,
                             .gap = gap};
  };
  for (std::size_t s = 0; s < x.size(); ++s) {
    if (!hamiltonians[s].valid()) continue;
    channels.push_back(s);
    gaps.push_back(gap_at(s, hamiltonians[s]));
    in_flight.push_back(submit_density_matrix<T>(runtime_, problem_of(s, gaps.back()), options));
    // A monitor hears of one channel at a time.
    if (options.monitor) in_flight.back().wait();
  }
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const std::size_t s = channels[k];
    DensityResult<T> found = std::move(in_flight[k]).result();
    algebra_.count_products(found.products, found.flop);
    if (found.status().code == StatusCode::no_gap && gaps[k]) {
      // What the filter has moved is estimated alone: without the bounds.
      found = density_matrix<T>(runtime_, problem_of(s, std::nullopt), options);
      algebra_.count_products(found.products, found.flop);
    }
    if (!found) throw IterationEnded{found.status()};
    result_.channels[s].chemical_potential = found.chemical_potential;
    result_.channels[s].gap = found.gap;
    x[s] = std::move(found.density);
    algebra_.scale(1 / problem_.channels[s].occupation, x[s]);
    restore_diagonal_blocks(algebra_, x[s]);
    former_[s] = algebra_.copied(hamiltonians[s]);
  }
  algebra_.finish();
  return x;
}

template <class T>
BlockSparseMatrix<T> ScfIteration<T>::density_of(const Matrix& x, double occupation, bool projector) {
  auto p = basis_.from_orthonormal(algebra_, x, layout_);
  // As density_matrix ends: the functional sees a P that is idempotent in the metric of S.
  if (projector && problem_.overlap) mcweeny_step_as_last(algebra_, p, problem_.overlap);
  algebra_.scale(occupation, p);
  algebra_.finish();
  if (options_.density.filter_eps > 0) filter(p, options_.density.filter_eps);
  return p;
}

/// Looks at what the functional gave, and keeps it.
template <class T>
void ScfIteration<T>::take(ScfFields<T> fields) {
  double norms = 0;
  agree(runtime_, argument_hash(fields.hamiltonians.size()), [&] {
    if (fields.hamiltonians.size() != result_.channels.size())
      throw InvalidArgument("functional", fmt::format("{} Hamiltonians", fields.hamiltonians.size()),
                            fmt::format("{}, one for each channel", result_.channels.size()));
    for (const Matrix& h : fields.hamiltonians) {
      require_operand("functional", runtime_, h, true);
      require_sizes("functional", h.layout(), layout_);
    }
  });
  for (const Matrix& h : fields.hamiltonians) norms += frobenius_norm(h);
  // What the ranks' functionals add up must not differ by rounding.
  runtime_.broadcast(&fields.energy, sizeof fields.energy, 0);
  result_.energy = fields.energy;
  if (!std::isfinite(norms) || !std::isfinite(fields.energy))
    throw IterationEnded{{StatusCode::not_finite, functional_stage, 0,
                          fmt::format("NaN or infinity in what call {} gave", result_.evaluations)}};
  result_.band_energy = 0;
  for (std::size_t s = 0; s < fields.hamiltonians.size(); ++s) {
    ScfState<T>& channel = result_.channels[s];
    channel.hamiltonian = std::move(fields.hamiltonians[s]);
    result_.band_energy += real_part(dot(channel.density, channel.hamiltonian));
  }
}

template <class T>
std::vector<BlockSparseMatrix<T>> ScfIteration<T>::evaluate(const Matrices& x, bool projectors) {
  Matrices densities;
  for (std::size_t s = 0; s < x.size(); ++s)
    densities.push_back(density_of(x[s], problem_.channels[s].occupation, projectors));
  ScfFields<T> fields;
  ++result_.evaluations;
  agree(runtime_, 0, [&] { fields = problem_.functional(std::span<const Matrix>(densities)); });
  for (std::size_t s = 0; s < x.size(); ++s) {
    ScfState<T>& channel = result_.channels[s];
    channel.density = std::move(densities[s]);
    channel.electrons = problem_.overlap ? real_part(dot(channel.density, *problem_.overlap))
                                         : real_part(trace(channel.density));
  }
  take(std::move(fields));
  Matrices h;
  for (const ScfState<T>& channel : result_.channels) {
    h.push_back(basis_.to_orthonormal(algebra_, algebra_.in_layout(channel.hamiltonian, layout_)));
    restore_diagonal_blocks(algebra_, h.back());
  }
  algebra_.finish();
  return h;
}

template <class T>
bool ScfIteration<T>::end_step(double norm_squared, const Matrices& x) {
  double rows = 0, electrons = 0;
  for (std::size_t s = 0; s < x.size(); ++s) {
    rows += static_cast<double>(x[s].rows());
    electrons += result_.channels[s].electrons;
  }
  const double convergence = rows > 0 ? std::sqrt(norm_squared / rows) : 0,
               change = std::abs(result_.energy - std::exchange(last_energy_, result_.energy));
  result_.error = convergence;
  const char* const name = to_string(options_.method);
  algebra_.end_step({.stage = name,
                     .iteration = ++iteration_,
                     .convergence = convergence,
                     .electrons = electrons,
                     .energy = result_.energy},
                    x.front());
  if (convergence <= options_.tolerance && change <= options_.energy_tolerance * std::max(electrons, 1.0))
    return true;
  if (iteration_ >= options_.iterations)
    throw IterationEnded{{StatusCode::iterations_exhausted, name, iteration_,
                          fmt::format("convergence {:.2e} after {} steps, the energy's last change {:.2e}",
                                      convergence, iteration_, change)}};
  return false;
}

template <class T>
void ScfIteration<T>::forget_levels(std::size_t channel) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  result_.channels[channel].chemical_potential = none;
  result_.channels[channel].gap = {{none, none}, {none, none}};
}

template <class T>
void ScfIteration<T>::finish() {
  algebra_.set_filter_eps(last_filter * options_.density.filter_eps);
  for (std::size_t s = 0; s < result_.channels.size(); ++s) {
    ScfState<T>& channel = result_.channels[s];
    const double occupation = problem_.channels[s].occupation;
    if (options_.density.energy_weighted) {
      const auto hp =
          algebra_.product(1 / occupation, channel.hamiltonian, channel.density, full_layout(layout_));
      channel.energy_weighted = algebra_.product(1, channel.density, hp, layout_);
    }
    if (!options_.density.check) continue;
    const auto q = algebra_.sum({{1 / occupation, &channel.density}});
    channel.idempotency = idempotency_error(algebra_, q, problem_.overlap);
  }
  algebra_.finish();
  algebra_.count_products();
  result_.inverse_factor = std::move(basis_.factor());
}

#define TESSERA_INSTANTIATE(T) template class ScfIteration<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
