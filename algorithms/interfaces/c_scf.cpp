// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tessera/algorithms/interfaces/c_iterations.hpp>
#include <tessera/scf.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

static_assert(static_cast<int>(ScfMethod::direct) == TESSERA_SCF_DIRECT);

ScfOptions options_of(const tessera_scf_options* given) {
  if (!given) return {};
  if (given->method < TESSERA_SCF_SIMPLE || given->method > TESSERA_SCF_DIRECT)
    throw InvalidArgument("method", std::to_string(given->method), "one of enum tessera_scf_method");
  return {.method = static_cast<ScfMethod>(given->method),
          .mixing = given->mixing,
          .history = given->history,
          .inner_steps = given->inner_steps,
          .tolerance = given->tolerance,
          .energy_tolerance = given->energy_tolerance,
          .iterations = given->iterations,
          .density = density_options_of(given->density),
          .monitor = monitor_of(given->monitor, given->monitor_user)};
}

/// The caller's functional: densities as handles, and the Hamiltonians that it makes taken over, also after a failure.
template <class T>
ScfFields<T> fields_of(std::span<const BlockSparseMatrix<T>> densities, tessera_scf_functional functional,
                       void* user) {
  std::vector<std::unique_ptr<tessera_block_matrix>> handles, made(densities.size());
  std::vector<const tessera_block_matrix*> given;
  for (const BlockSparseMatrix<T>& density : densities) {
    handles.emplace_back(handle_of(sharing(density)));
    given.push_back(handles.back().get());
  }
  std::vector<tessera_block_matrix*> hamiltonians(densities.size(), nullptr);
  double energy = 0;
  const int code =
      functional(static_cast<Index>(given.size()), given.data(), hamiltonians.data(), &energy, user);
  for (std::size_t s = 0; s < made.size(); ++s) made[s].reset(hamiltonians[s]);
  require_callback("functional", code);
  ScfFields<T> fields{.hamiltonians = {}, .energy = energy};
  for (auto& hamiltonian : made)
    fields.hamiltonians.push_back(std::move(matrix_as<T>(hamiltonian.get(), "functional")));
  return fields;
}

template <class T>
int compute(Runtime& runtime, const tessera_scf_problem& given, const tessera_scf_options* options,
            tessera_scf_state* states, tessera_scf_result* result) {
  ScfProblem<T> problem{.functional = {},
                        .overlap = optional_matrix<T>(given.overlap, "overlap"),
                        .channels = {},
                        .inverse_factor = optional_matrix<T>(given.inverse_factor, "inverse_factor")};
  if (given.functional)
    problem.functional = [function = given.functional, user = given.functional_user](auto densities) {
      return fields_of<T>(densities, function, user);
    };
  required(given.channel, "channel", given.channels);
  for (Index s = 0; s < given.channels; ++s)
    problem.channels.push_back(
        {.electrons = given.channel[s].electrons,
         .occupation = given.channel[s].occupation,
         .density = optional_matrix<T>(given.channel[s].density, "density"),
         .hamiltonian = optional_matrix<T>(given.channel[s].hamiltonian, "hamiltonian")});
  ScfResult<T> found = scf<T>(runtime, problem, options_of(options));
  for (Index s = 0; s < given.channels; ++s) {
    if (s >= static_cast<Index>(found.channels.size())) {
      states[s] = {};
      continue;
    }
    ScfState<T>& state = found.channels[static_cast<std::size_t>(s)];
    states[s] = {.density = optional_handle(std::move(state.density)),
                 .hamiltonian = optional_handle(std::move(state.hamiltonian)),
                 .energy_weighted = optional_handle(std::move(state.energy_weighted)),
                 .electrons = state.electrons,
                 .chemical_potential = state.chemical_potential,
                 .idempotency = state.idempotency,
                 .gap = gap_of(state.gap)};
  }
  *result = {.inverse_factor = optional_handle(std::move(found.inverse_factor)),
             .energy = found.energy,
             .band_energy = found.band_energy,
             .evaluations = found.evaluations,
             .report = report_of(found)};
  return code_of(found.status());
}

}  // namespace

void tessera_scf_problem_init(tessera_scf_problem* problem) {
  if (!problem) return;
  *problem = {};
  problem->type = TESSERA_DOUBLE;
}

void tessera_scf_options_init(tessera_scf_options* options) {
  if (!options) return;
  const ScfOptions chosen;
  *options = {.method = static_cast<int>(chosen.method),
              .mixing = chosen.mixing,
              .history = chosen.history,
              .inner_steps = chosen.inner_steps,
              .tolerance = chosen.tolerance,
              .energy_tolerance = chosen.energy_tolerance,
              .iterations = chosen.iterations,
              .density = {},
              .monitor = nullptr,
              .monitor_user = nullptr};
  tessera_density_options_init(&options->density);
}

int tessera_scf(tessera_runtime* runtime, const tessera_scf_problem* problem,
                const tessera_scf_options* options, tessera_scf_state* states, tessera_scf_result* result) {
  return call_on(runtime, [&] {
    const tessera_scf_problem& given = required(problem, "problem");
    required(result, "result") = {};
    required(states, "states", given.channels);
    return for_type(given.type, [&](auto t) {
      return compute<typename decltype(t)::type>(runtime_of(runtime), given, options, states, result);
    });
  });
}
