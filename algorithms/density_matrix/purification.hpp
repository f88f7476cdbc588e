// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

/// The occupied states of a Hamiltonian in an orthonormal basis, by purification.
namespace tessera::detail {

/// H' = Z^H H Z, and which of its states are wanted.
template <class T>
struct OrthonormalProblem {
  const BlockSparseMatrix<T>& hamiltonian;  ///< half-stored
  double states = 0;                        ///< occupied ones, a whole number
  double occupation = 1;                    ///< electrons in each, for the table
  SpectralInterval spectrum{};              ///< that holds all eigenvalues
  std::optional<GapBounds> gap{};           ///< that is known
  std::optional<double> chemical_potential{};
  const BlockSparseMatrix<T>* start =
      nullptr;  ///< of curvy steps: nearly the projector, half-stored; null: none is known
};

/// The projector onto the occupied states, and what the way there has told.
template <class T>
struct Projector {
  BlockSparseMatrix<T> x;
  double chemical_potential = 0;
  GapBounds gap{};
};

/// Trace-resetting purification of fourth order.
/// @throws IterationEnded
template <class T>
Projector<T> purify_trs4(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                         const DensityOptions& options);

/// Trace-correcting purification of second order; where the problem has a gap, stretched by it (sp2).
/// @throws IterationEnded
template <class T>
Projector<T> purify_tc2(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                        const DensityOptions& options);

/// 1/2 (I - sign(H' - mu I)); without a chemical potential it is searched for.
/// @throws IterationEnded
template <class T>
Projector<T> projector_by_sign(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                               const DensityOptions& options);

/// The least trace(H' X) of all projectors, by curvy steps (curvy_steps.hpp): from `start`, or from a purification
/// with a loose filter. Convergence: ||[H', X]||_F / sqrt(n), relative to the width of the spectrum.
/// @throws IterationEnded
template <class T>
Projector<T> minimise_energy(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                             const DensityOptions& options);

/// McWeeny's steps on a matrix with which an iteration is to begin, until it is nearly a projector.
/// @throws IterationEnded, of this stage, if it is none onto so many states
template <class T>
void purify_start(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& x, double states, const char* stage);

/// Nothing or everything is occupied, or there is nothing: no iteration tells.
template <class T>
std::optional<Projector<T>> trivial_projector(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem);

/// The filter of the last step's products, as a share of the filter of the others.
inline constexpr double last_filter = 1e-3;

/// Idempotency ||X^2 - X||_F / ||X||_F that is asked for.
template <class T>
double idempotency_tolerance(const DensityOptions& options) {
  if (options.tolerance > 0) return options.tolerance;
  return std::max(1e-4 * options.filter_eps, 100 * static_cast<double>(precision<T>));
}

}  // namespace tessera::detail
