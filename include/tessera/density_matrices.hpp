// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/density_matrix.hpp>

/// @file
/// Density matrices of k-points and spin channels, in flight together:
///
///   DensityBatch<std::complex<double>> crystal{.weights = {0.25, 0.75}, .common_chemical_potential = true};
///   for (const auto& h : hamiltonians)
///     crystal.problems.push_back({.hamiltonian = h, .electrons = 8, .temperature = 0.01});
///   const auto r = density_matrices(runtime, crystal, {.filter_eps = 1e-6});
///   if (!r) return fail(r.status().message());
///   use(r.results[0].density, r.free_energy, r.chemical_potential);
namespace tessera {

/// Several density matrices that are wanted.
template <class T>
struct DensityBatch {
  std::vector<DensityProblem<T>> problems{};  ///< one for each k-point and spin channel, of any sizes
  /// Of the problems in the sums, at least 0: how often a k-point counts. None: 1 each.
  std::vector<double> weights{};
  /// At a temperature, which is that of all problems: one mu for all, at which the weighted sum of their
  /// electrons is as wanted. Else each has the electrons that it asks for, and its own mu.
  bool common_chemical_potential = false;
};

/// All results, and their weighted sums. Status: that of the first problem that has failed; with a common
/// chemical potential all have failed then. The sums are there with success alone.
template <class T>
struct DensityBatchResult : ResultStatus {
  std::vector<DensityResult<T>> results;  ///< in the order of the problems
  double energy = 0;                      ///< sum of weight energy
  double electrons = 0;                   ///< likewise
  double entropy = 0;                     ///< likewise
  double free_energy = 0;                 ///< likewise
  double chemical_potential = 0;          ///< the common one; NaN without
  /// Of all problems: the highest of the highest occupied states, the lowest of the lowest others. NaN where one
  /// is not known.
  GapBounds gap{};
};

/// Submits the computations. In a process of one rank all go on at the same time, so that the tasks of one fill
/// the gaps of the others; on several ranks one goes on after the other, and all are over when the call returns.
/// The monitor is called for one step at a time. Collective.
/// @throws InvalidArgument naming the argument: `problems` (none), what submit_density_matrix finds in one of
/// them, `weights` (another number than there are problems, or one that is negative or no number),
/// `common_chemical_potential` (without a temperature, or with a given mu), `temperature` (others than that of
/// the first, with a common mu)
template <class T>
Completion<DensityBatchResult<T>> submit_density_matrices(Runtime& runtime, const DensityBatch<T>& batch,
                                                          const DensityOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] DensityBatchResult<T> density_matrices(Runtime& runtime, const DensityBatch<T>& batch,
                                                     const DensityOptions& options = {});

}  // namespace tessera
