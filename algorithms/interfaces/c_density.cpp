// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tessera/algorithms/interfaces/c_iterations.hpp>
#include <tessera/density_matrices.hpp>
#include <tessera/density_state.hpp>

namespace tessera::c_interface {

DensityOptions density_options_of(const tessera_density_options& given) {
  if (given.method < TESSERA_DENSITY_AUTOMATIC || given.method > TESSERA_DENSITY_DENSE)
    throw InvalidArgument("method", std::to_string(given.method), "one of enum tessera_density_method");
  DensityOptions options{.method = static_cast<DensityMethod>(given.method),
                         .filter_eps = given.filter_eps,
                         .tolerance = given.tolerance,
                         .iterations = given.iterations,
                         .sign_order = given.sign_order,
                         .factor_order = given.factor_order,
                         .scaled = given.scaled != 0,
                         .group_order = given.group_order,
                         .electron_tolerance = given.electron_tolerance,
                         .energy_weighted = given.energy_weighted != 0,
                         .check = given.check != 0,
                         .monitor = monitor_of(given.monitor, given.monitor_user)};
  if (given.mixed_precision >= 0) options.mixed_precision = given.mixed_precision != 0;
  return options;
}

}  // namespace tessera::c_interface

using namespace tessera;
using namespace tessera::c_interface;

namespace {

static_assert(static_cast<int>(DensityMethod::dense) == TESSERA_DENSITY_DENSE);
static_assert(static_cast<int>(DensityMethod::purification) == TESSERA_DENSITY_PURIFICATION);

DensityOptions options_of(const tessera_density_options* given) {
  return given ? density_options_of(*given) : DensityOptions{};
}

template <class T>
tessera_density_result result_of(DensityResult<T>& found) {
  return {.density = optional_handle(std::move(found.density)),
          .energy_weighted = optional_handle(std::move(found.energy_weighted)),
          .inverse_factor = optional_handle(std::move(found.inverse_factor)),
          .method = static_cast<int>(found.method),
          .chemical_potential = found.chemical_potential,
          .energy = found.energy,
          .electrons = found.electrons,
          .entropy = found.entropy,
          .free_energy = found.free_energy,
          .gap = gap_of(found.gap),
          .idempotency = found.idempotency,
          .commutator = found.commutator,
          .report = report_of(found)};
}

int compute(const tessera_density_problem* problem, const tessera_density_options* options,
            tessera_density_result* result, tessera_completion** completion) {
  const tessera_density_problem& given = required(problem, "problem");
  required(result, "result") = {};
  return visit(given.hamiltonian, "hamiltonian", [&](const auto& hamiltonian, auto t) {
    using T = typename decltype(t)::type;
    return deliver(
        submit_density_matrix<T>(hamiltonian.runtime(), density_problem_of<T>(given), options_of(options)),
        completion, [result](Completion<DensityResult<T>>& done) {
          *result = result_of(done.result());
          return code_of(done.status());
        });
  });
}

const tessera_block_matrix* hamiltonian_of(const tessera_density_problem* problem) {
  return problem ? problem->hamiltonian : nullptr;
}

}  // namespace

const char* tessera_density_method_name(int method) {
  return method < TESSERA_DENSITY_AUTOMATIC || method > TESSERA_DENSITY_DENSE
             ? nullptr
             : to_string(static_cast<DensityMethod>(method));
}

void tessera_density_problem_init(tessera_density_problem* problem) {
  if (!problem) return;
  *problem = {};
  problem->occupation = 2;
}

void tessera_density_options_init(tessera_density_options* options) {
  if (!options) return;
  const DensityOptions chosen;
  *options = {.method = static_cast<int>(chosen.method),
              .filter_eps = chosen.filter_eps,
              .tolerance = chosen.tolerance,
              .iterations = chosen.iterations,
              .sign_order = chosen.sign_order,
              .factor_order = chosen.factor_order,
              .scaled = chosen.scaled,
              .mixed_precision = -1,
              .group_order = chosen.group_order,
              .electron_tolerance = chosen.electron_tolerance,
              .energy_weighted = chosen.energy_weighted,
              .check = chosen.check,
              .monitor = nullptr,
              .monitor_user = nullptr};
}

void tessera_density_result_free(tessera_density_result* result) {
  if (!result) return;
  for (tessera_block_matrix** matrix : {&result->density, &result->energy_weighted, &result->inverse_factor})
    tessera_block_matrix_free(std::exchange(*matrix, nullptr));
}

int tessera_density_matrix(const tessera_density_problem* problem, const tessera_density_options* options,
                           tessera_density_result* result) {
  return call_on(hamiltonian_of(problem), [&] { return compute(problem, options, result, nullptr); });
}

int tessera_submit_density_matrix(const tessera_density_problem* problem,
                                  const tessera_density_options* options, tessera_density_result* result,
                                  tessera_completion** completion) {
  return call_on(hamiltonian_of(problem), [&] {
    required(completion, "completion") = nullptr;
    return compute(problem, options, result, completion);
  });
}

int tessera_density_matrices(tessera_index count, const tessera_density_problem* problems,
                             const double* weights, int common_chemical_potential,
                             const tessera_density_options* options, tessera_density_result* results,
                             tessera_density_sums* sums) {
  return call_on(count > 0 ? hamiltonian_of(problems) : nullptr, [&] {
    if (count < 1) throw InvalidArgument("count", std::to_string(count), "at least 1");
    required(problems, "problems");
    required(results, "results");
    return visit(problems[0].hamiltonian, "hamiltonian", [&](const auto& first, auto t) {
      using T = typename decltype(t)::type;
      DensityBatch<T> batch{.common_chemical_potential = common_chemical_potential != 0};
      for (Index k = 0; k < count; ++k) batch.problems.push_back(density_problem_of<T>(problems[k]));
      if (weights) batch.weights.assign(weights, weights + count);
      DensityBatchResult<T> found = density_matrices(first.runtime(), batch, options_of(options));
      for (Index k = 0; k < count; ++k)
        results[k] = k < static_cast<Index>(found.results.size())
                         ? result_of(found.results[static_cast<std::size_t>(k)])
                         : tessera_density_result{};
      if (sums)
        *sums = {found.energy,      found.electrons,          found.entropy,
                 found.free_energy, found.chemical_potential, gap_of(found.gap)};
      return code_of(found.status());
    });
  });
}

int tessera_density_write_state(const char* path, const tessera_density_problem* problem,
                                const tessera_density_result* result) {
  return call_on(hamiltonian_of(problem), [&] {
    const tessera_density_problem& given = required(problem, "problem");
    const tessera_density_result& found = required(result, "result");
    visit(found.density, "density", [&](const auto& density, auto t) {
      using T = typename decltype(t)::type;
      DensityState<T> state{.density = sharing(density),
                            .inverse_factor = {},
                            .occupation = given.occupation,
                            .temperature = given.temperature,
                            .chemical_potential = found.chemical_potential,
                            .energy = found.energy,
                            .gap = bounds_of(found.gap)};
      if (found.inverse_factor)
        state.inverse_factor = sharing(matrix_as<T>(found.inverse_factor, "inverse_factor"));
      write_density_state(required(path, "path"), state);
    });
  });
}

int tessera_density_read_state(tessera_runtime* runtime, int type, const char* path, double* occupation,
                               double* temperature, tessera_density_result* result) {
  return call_on(runtime, [&] {
    required(result, "result") = {};
    for_type(type, [&](auto t) {
      using T = typename decltype(t)::type;
      DensityState<T> state = read_density_state<T>(runtime_of(runtime), required(path, "path"));
      if (occupation) *occupation = state.occupation;
      if (temperature) *temperature = state.temperature;
      result->chemical_potential = state.chemical_potential;
      result->energy = state.energy;
      result->gap = gap_of(state.gap);
      result->density = optional_handle(std::move(state.density));
      result->inverse_factor = optional_handle(std::move(state.inverse_factor));
    });
  });
}
