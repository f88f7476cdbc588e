// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// Density matrices at a temperature above 0, which all problems share, by method fermi or dense, with one
/// chemical potential: that of the first problem, if it has one; else the weighted sum of the electrons is as
/// wanted. Of an early end all results have the status.
/// @param weights of the problems; none: 1
template <class T>
void solve_thermal_densities(Runtime& runtime, std::span<const DensityProblem<T>> problems,
                             std::span<const double> weights, DensityMethod method,
                             const DensityOptions& options, std::span<DensityResult<T>> results);

}  // namespace tessera::detail
