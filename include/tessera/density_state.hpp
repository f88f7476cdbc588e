// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <tessera/density_matrix.hpp>

/// @file
/// What one density matrix leaves for the next one of nearly the same H and S, in memory and in files:
///
///   write_density_state("water.h5", state_of(problem, result));
///   ...
///   const auto former = read_density_state<double>(runtime, "water.h5");
///   density_matrix(runtime, {.hamiltonian = h, .overlap = &s, .electrons = 256,
///                            .inverse_factor = &former.inverse_factor, .gap = narrowed(former.gap, moved)});
///
/// A former P is no place to begin a purification at: it is X = Z^-1 P Z^-H that the steps would keep, and with
/// it its own states, not those of the new H, which enters through the first iterate alone. What a purification
/// can use is Z, the bounds of the gap (sp2 takes about half the products of tc2 with them; the search of sign
/// begins in their middle) and with them mu. P is kept for methods that minimise the energy, and for whoever
/// needs it.
namespace tessera {

/// The former computation.
template <class T>
struct DensityState {
  BlockSparseMatrix<T> density;         ///< P, half-stored
  BlockSparseMatrix<T> inverse_factor;  ///< Z; empty without an overlap, and of method dense
  double occupation = 2;                ///< of P's states
  double temperature = 0;               ///< kT
  double chemical_potential = 0;        ///< mu
  double energy = 0;                    ///< trace(P H)
  GapBounds gap{};                      ///< of the former H
};

/// The state that a problem's result leaves. It shares the matrices.
template <class T>
DensityState<T> state_of(const DensityProblem<T>& problem, const DensityResult<T>& result) {
  return {.density = result.density,
          .inverse_factor = result.inverse_factor,
          .occupation = problem.occupation,
          .temperature = problem.temperature,
          .chemical_potential = result.chemical_potential,
          .energy = result.energy,
          .gap = result.gap};
}

/// Bounds of the gap after all states may have moved by `change`: the 2-norm of the change of H in the
/// orthonormal basis. Nothing where the gap may be closed, or where the bounds next to it are not known.
std::optional<GapBounds> narrowed(const GapBounds& gap, double change);

/// Writes an HDF5 file, the same for any distribution. It appears, or replaces the old one, when it is complete.
///   attribute format       "tessera density state 1" numbers                occupation, temperature, chemical
///   potential, energy, bounds of the gap (highest occupied
///                          state: lower, upper; lowest other one: lower, upper)
///   density_*              P, as the arrays and the attribute symmetry of write_hdf5
///   inverse_factor_*       likewise Z; of no rows where there is none
/// Collective.
/// @throws InvalidArgument without a density; Error if the file cannot be written
template <class T>
void write_density_state(const std::string& path, const DensityState<T>& state);

/// Reads such a file, of any precision, its matrices in default layout. Collective.
/// @throws InputError for another file, a damaged one, numbers that are none where they must be, a density that
/// is not square and half-stored, an inverse factor of other blocks, or complex numbers in a real type
template <class T>
DensityState<T> read_density_state(Runtime& runtime, const std::string& path);

}  // namespace tessera
