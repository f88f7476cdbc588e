// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/matrix_functions.hpp>

/// @file
/// What iterations tell the caller.
namespace tessera::c_interface {

inline IterationMonitor monitor_of(tessera_monitor monitor, void* user) {
  if (!monitor) return {};
  return [monitor, user](const IterationStep& step) {
    const tessera_iteration_step given{.stage = step.stage.c_str(),
                                       .iteration = step.iteration,
                                       .convergence = step.convergence,
                                       .occupation = step.occupation,
                                       .threshold = step.threshold,
                                       .seconds = step.seconds,
                                       .products = step.products,
                                       .flop = step.flop,
                                       .gpu_bytes = step.gpu_bytes,
                                       .electrons = step.electrons,
                                       .energy = step.energy};
    return monitor(&given, user) == 0;
  };
}

inline tessera_iteration_report report_of(const IterationReport& report) {
  return {.error = report.error,
          .steps = static_cast<Index>(report.steps.size()),
          .products = report.products,
          .flop = report.flop,
          .seconds = report.seconds};
}

inline tessera_gap gap_of(const GapBounds& gap) {
  return {gap.homo.lower, gap.homo.upper, gap.lumo.lower, gap.lumo.upper};
}
inline GapBounds bounds_of(const tessera_gap& gap) {
  return {{gap.homo_lower, gap.homo_upper}, {gap.lumo_lower, gap.lumo_upper}};
}

/// @throws InvalidArgument for what is no method
DensityOptions density_options_of(const tessera_density_options& given);

/// A problem of the caller's in a scalar type. It refers to the caller's matrices.
template <class T>
DensityProblem<T> density_problem_of(const tessera_density_problem& given) {
  DensityProblem<T> problem{.hamiltonian = matrix_as<T>(given.hamiltonian, "hamiltonian"),
                            .overlap = optional_matrix<T>(given.overlap, "overlap"),
                            .electrons = given.electrons,
                            .occupation = given.occupation,
                            .temperature = given.temperature,
                            .inverse_factor = optional_matrix<T>(given.inverse_factor, "inverse_factor"),
                            .density = optional_matrix<T>(given.density, "density")};
  if (given.use_chemical_potential) problem.chemical_potential = given.chemical_potential;
  if (given.gap) problem.gap = bounds_of(*given.gap);
  return problem;
}

}  // namespace tessera::c_interface
