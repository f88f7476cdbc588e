// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/density_matrix.hpp>

/// Curvy steps: the projectors X onto occupied states are changed by unitary turns X <- exp(-D) X exp(D), D
/// antihermitian, so that they stay projectors while an energy falls. All in an orthonormal basis. Source:
/// Helgaker, Larsen, Olsen, Jorgensen, Chem. Phys. Lett. 327 (2000) 397; Shao, Saravanan, Head-Gordon, White, J.
/// Chem. Phys. 118 (2003) 6144; seed, eqs. 7 to 10. Hermitian matrices are half-stored, antihermitian ones
/// stored in full.
namespace tessera::detail {

/// factor [A, B] = factor (A B - (A B)^H), A and B Hermitian: antihermitian. One product.
template <class T>
BlockSparseMatrix<T> antihermitian_commutator(BlockAlgebra<T>& algebra, double factor,
                                              const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b);

/// factor [A, D] = factor (A D + (A D)^H), A Hermitian, D antihermitian: Hermitian, in A's layout. One product.
template <class T>
BlockSparseMatrix<T> hermitian_commutator(BlockAlgebra<T>& algebra, double factor,
                                          const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& d);

/// Makes the diagonal blocks of a half-stored matrix Hermitian again: products of factors that commute up to a
/// filter leave them as they come, and a commutator would take what is not Hermitian for a gradient.
template <class T>
void restore_diagonal_blocks(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& a);

/// mcweeny_step with the tight filter of a last step (last_filter): an error of the occupations, which the
/// energy has in first order, is then of the order of the filter's square.
template <class T>
double mcweeny_step_as_last(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& p,
                            const BlockSparseMatrix<T>* overlap);

/// A projector whose energy is to fall, and what the next step needs.
template <class T>
struct CurvyChannel {
  using Matrix = BlockSparseMatrix<T>;
  Matrix x;              ///< the projector
  double occupation;     ///< f, electrons in an occupied state: the energy's differential is f tr(H dX)
  Matrix hamiltonian{};  ///< H
  Matrix gradient{};     ///< G = [H, X]
  Matrix former_gradient{}, preconditioned{};
  Matrix direction{};        ///< D
  Matrix first{}, second{};  ///< [X, D] and [[X, D], D] / 2
};

/// Conjugate gradients on the geodesics of projectors, preconditioned by the energy's second derivative at fixed
/// H.
template <class T>
class CurvySteps {
 public:
  using Matrix = BlockSparseMatrix<T>;
  /// @param inner_steps  of the inner conjugate gradients that precondition a gradient; 0: no preconditioner
  CurvySteps(BlockAlgebra<T>& algebra, Index inner_steps) : algebra_(algebra), inner_steps_(inner_steps) {}

  std::vector<CurvyChannel<T>> channels;  ///< whose x and occupation are set

  /// Forms the gradients, after a change of the Hamiltonians. Returns sqrt(sum of ||[H, X]||_F^2 / rows), over
  /// the channels.
  double form_gradients();
  /// Chooses the directions.
  void choose_directions();
  /// dE/dt and d2E/dt2, the latter at fixed H, of X(t) = exp(-t D) X exp(t D) at t = 0.
  double slope() const noexcept { return slope_; }
  double curvature() const noexcept { return curvature_; }
  /// The step to the least energy at fixed H, no longer than longest_step().
  double step_at_fixed_hamiltonian() const noexcept;
  /// The step whose turns are by about a right angle at most.
  double longest_step() const noexcept { return longest_step_; }
  /// X(t) of each channel: the series of Baker, Campbell and Hausdorff, X + t [X, D] + t^2 / 2 [[X, D], D] +
  /// ..., and a step of McWeeny's.
  std::vector<Matrix> turned(double t);
  /// Forgets the former directions: the next one is the preconditioned gradient.
  void restart();

 private:
  Matrix preconditioned(const CurvyChannel<T>& channel);
  /// [X, D], [[X, D], D] / 2 and what follows from them.
  void form_series();
  BlockAlgebra<T>& algebra_;
  const Index inner_steps_;
  double slope_ = 0, curvature_ = 0, longest_step_ = 0, former_product_ = 0;
};

/// Re trace(A^H B)
template <class T>
double inner_product(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b) {
  return static_cast<double>(real_part(dot(a, b)));
}

}  // namespace tessera::detail
