// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/scf.hpp>

/// What all ways to a self-consistent field have in common.
namespace tessera::detail {

/// A self-consistent field on its way, in the orthonormal basis of its overlap: one matrix for each channel.
template <class T>
class ScfIteration {
 public:
  using Matrix = BlockSparseMatrix<T>;
  using Matrices = std::vector<Matrix>;

  ScfIteration(Runtime& runtime, const ScfProblem<T>& problem, const ScfOptions& options,
               ScfResult<T>& result);

  BlockAlgebra<T>& algebra() noexcept { return algebra_; }
  const ScfOptions& options() const noexcept { return options_; }
  const ScfProblem<T>& problem() const noexcept { return problem_; }
  double energy() const noexcept { return result_.energy; }

  /// The projectors to begin with.
  /// @throws IterationEnded, as all that follows
  Matrices first_projectors();
  /// The Hamiltonians that the channels were given; empty matrices where there is none.
  const Matrices& first_hamiltonians() const noexcept { return first_hamiltonians_; }
  /// Projectors onto the lowest states.
  Matrices lowest_states(const Matrices& hamiltonians);
  /// E and H of the densities of X, which the result then has; returns Z^H H Z.
  /// @param projectors  X are such; else no step of McWeeny's may change them
  Matrices evaluate(const Matrices& x, bool projectors = true);
  /// Ends a step, whose convergence follows from `norm_squared`, the sum of squares over the channels. Returns
  /// whether the iteration has converged.
  /// @throws IterationEnded after the last step that may be
  bool end_step(double norm_squared, const Matrices& x);
  /// The chemical potential and the gap of a channel are those of no Hamiltonian any more.
  void forget_levels(std::size_t channel);
  /// What follows from the last densities.
  void finish();

 private:
  Matrix density_of(const Matrix& x, double occupation, bool projector);
  std::optional<GapBounds> gap_at(std::size_t channel, const Matrix& hamiltonian);
  void take(ScfFields<T> fields);
  Runtime& runtime_;
  const ScfProblem<T>& problem_;
  const ScfOptions& options_;
  ScfResult<T>& result_;
  BlockAlgebra<T> algebra_;
  OrthonormalBasis<T> basis_;
  BlockLayout layout_;
  Matrices first_hamiltonians_;
  Matrices former_;  ///< whose states were taken last: of these the gaps in the result are
  Index iteration_ = 0;
  double last_energy_ = std::numeric_limits<double>::quiet_NaN();
};

/// The ways: to a result whose channels are self-consistent.
/// @throws IterationEnded
template <class T>
void mix_hamiltonians(ScfIteration<T>& iteration);
/// @throws IterationEnded
template <class T>
void mix_densities(ScfIteration<T>& iteration);
/// @throws IterationEnded
template <class T>
void minimise_directly(ScfIteration<T>& iteration);

}  // namespace tessera::detail
