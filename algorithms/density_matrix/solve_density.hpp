// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/density_matrix.hpp>

/// What the calls for one density matrix and for several have in common.
namespace tessera::detail {

/// The method that is used; for automatic the one that fits.
template <class T>
DensityMethod chosen_method(const DensityProblem<T>& problem, const DensityOptions& options);

/// @throws InvalidArgument
template <class T>
void require_density(const Runtime& runtime, const DensityProblem<T>& problem, const DensityOptions& options);

/// Of what must be equal on all ranks.
template <class T>
std::uint64_t density_hash(const DensityProblem<T>& problem, const DensityOptions& options);

/// The density matrix, or its status.
template <class T>
DensityResult<T> solve_density(Runtime& runtime, const DensityProblem<T>& problem,
                               const DensityOptions& options);

}  // namespace tessera::detail
