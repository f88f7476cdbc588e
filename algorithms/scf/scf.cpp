// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/scf/scf_iteration.hpp>
#include <tessera/scf.hpp>

namespace tessera::detail {

namespace {

void require_number(const char* name, double value, double least, const char* expected) {
  if (!(value >= least) || std::isinf(value)) throw InvalidArgument(name, fmt::to_string(value), expected);
}

void require_valid(const ScfOptions& options) {
  if (!(options.mixing > 0 && options.mixing <= 1))
    throw InvalidArgument("mixing", fmt::to_string(options.mixing), "a number above 0, at most 1");
  const auto whole = [](const char* name, Index value, Index least) {
    if (value < least) throw InvalidArgument(name, fmt::to_string(value), fmt::format("at least {}", least));
  };
  whole("history", options.history, 1);
  whole("inner_steps", options.inner_steps, 0);
  whole("iterations", options.iterations, 1);
  require_number("tolerance", options.tolerance, 0, "a number of at least 0");
  require_number("energy_tolerance", options.energy_tolerance, 0, "a number of at least 0");
  const DensityOptions& density = options.density;
  require_number("filter_eps", density.filter_eps, 0, "a number of at least 0");
  require_number("density.tolerance", density.tolerance, 0, "a number of at least 0");
  whole("density.iterations", density.iterations, 1);
  if (density.sign_order < 2 || density.sign_order > 7)
    throw InvalidArgument("sign_order", fmt::to_string(density.sign_order), "2 to 7");
  if (density.factor_order < 2 || density.factor_order > 5)
    throw InvalidArgument("factor_order", fmt::to_string(density.factor_order), "2 to 5");
  if (density.method == DensityMethod::curvy)
    throw InvalidArgument("density.method", to_string(density.method),
                          "another one; ScfMethod::direct takes curvy steps");
}

template <class T>
void require_valid(const Runtime& runtime, const ScfProblem<T>& problem, const ScfOptions& options) {
  require_valid(options);
  if (!problem.functional) throw InvalidArgument("functional", "none", "a function");
  if (problem.channels.empty()) throw InvalidArgument("channels", "none", "at least one");
  const BlockLayout* layout = nullptr;
  const auto operand = [&](const char* name, const BlockSparseMatrix<T>& a, bool half_stored) {
    require_operand(name, runtime, a, half_stored);
    if (layout)
      require_sizes(name, a.layout(), *layout);
    else
      layout = &a.layout();
  };
  if (problem.overlap) operand("overlap", *problem.overlap, true);
  if (problem.inverse_factor) {
    if (!problem.overlap) throw InvalidArgument("inverse_factor", "a matrix", "none without an overlap");
    operand("inverse_factor", *problem.inverse_factor, false);
  }
  for (const ScfChannel<T>& channel : problem.channels) {
    if ((channel.density == nullptr) == (channel.hamiltonian == nullptr))
      throw InvalidArgument("channels", channel.density ? "a density and a Hamiltonian" : "neither",
                            "a density or a Hamiltonian to begin with");
    if (channel.density)
      operand("density", *channel.density, true);
    else
      operand("hamiltonian", *channel.hamiltonian, true);
    require_number("occupation", channel.occupation, 1e-300, "a number above 0");
    const double states = channel.electrons / channel.occupation,
                 n = static_cast<double>(layout->rows->elements());
    if (!(states >= 0) || states > n || std::abs(states - std::round(states)) > 1e-9)
      throw InvalidArgument(
          "electrons", fmt::to_string(channel.electrons),
          fmt::format("{} times a whole number of states, at most {}", channel.occupation, n));
  }
}

template <class T>
std::uint64_t scf_hash(const ScfProblem<T>& problem, const ScfOptions& options) {
  const auto matrix = [](const BlockSparseMatrix<T>* a) { return a ? shape_hash(*a) : 1; };
  std::uint64_t hash = argument_hash(
      problem.functional == nullptr, matrix(problem.overlap), matrix(problem.inverse_factor),
      problem.channels.size(), options.method, options.mixing, options.history, options.inner_steps,
      options.tolerance, options.energy_tolerance, options.iterations, options.monitor == nullptr);
  for (const ScfChannel<T>& channel : problem.channels)
    hash = argument_hash(hash, channel.electrons, channel.occupation, matrix(channel.density),
                         matrix(channel.hamiltonian));
  const DensityOptions& density = options.density;
  return argument_hash(hash, density.method, density.filter_eps, density.tolerance, density.iterations,
                       density.sign_order, density.factor_order, density.scaled, density.energy_weighted,
                       density.check, density.monitor == nullptr);
}

template <class T>
ScfResult<T> solve_scf(Runtime& runtime, const ScfProblem<T>& problem, const ScfOptions& options) {
  ScfResult<T> result;
  report_iteration(result, [&] {
    ScfIteration<T> iteration(runtime, problem, options, result);
    switch (options.method) {
      case ScfMethod::linear:
        mix_densities(iteration);
        break;
      case ScfMethod::direct:
        minimise_directly(iteration);
        break;
      default:
        mix_hamiltonians(iteration);
    }
    iteration.finish();
  });
  const Status& status = result.status();
  // Of an iteration that could have gone on the densities are worth having; of others they are none.
  const bool unfinished =
      (status.code == StatusCode::iterations_exhausted || status.code == StatusCode::stopped) &&
      status.stage == to_string(options.method);
  if (!status.ok() && !unfinished) result.channels.clear();
  return result;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

const char* to_string(ScfMethod method) noexcept {
  switch (method) {
    case ScfMethod::simple:
      return "simple";
    case ScfMethod::linear:
      return "linear";
    case ScfMethod::pulay:
      return "pulay";
    case ScfMethod::direct:
      return "direct";
  }
  return "unknown";
}

template <class T>
Completion<ScfResult<T>> submit_scf(Runtime& runtime, const ScfProblem<T>& problem,
                                    const ScfOptions& options) {
  return submit_call<ScfResult<T>>(
      "submit_scf", runtime, scf_hash(problem, options), [&] { require_valid(runtime, problem, options); },
      [&runtime, problem, options] { return solve_scf(runtime, problem, options); });
}

template <class T>
ScfResult<T> scf(Runtime& runtime, const ScfProblem<T>& problem, const ScfOptions& options) {
  return collectively(
      runtime, "scf", scf_hash(problem, options), [&] { require_valid(runtime, problem, options); },
      [&] { return solve_scf(runtime, problem, options); });
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template Completion<ScfResult<T>> submit_scf<T>(Runtime&, const ScfProblem<T>&, const ScfOptions&); \
  template ScfResult<T> scf<T>(Runtime&, const ScfProblem<T>&, const ScfOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
