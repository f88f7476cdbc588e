// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/small_dense.hpp>

/// The computations of LOBPCG with small matrices, in double (S: double or std::complex<double>) and on one rank:
/// orthonormal new directions, and the Rayleigh-Ritz problem. Sources: Hetmaniuk and Lehoucq, J. Comput. Phys. 218
/// (2006) 324; Stathopoulos and Wu, SIAM J. Sci. Comput. 23 (2002) 2165; Duersch, Shao, Yang, Gu, SIAM J. Sci. Comput.
/// 40 (2018) C655.
namespace tessera::detail {

/// Neither w^H B w = `square` nor w^H A w overflows or underflows, `norm` that of A relative to B.
bool within_range(double square, double norm);

/// How exact vectors are, and which orthogonality they need.
struct OrthonormalRules {
  double unit = 0;    ///< rounding of the vectors' elements
  double accept = 0;  ///< the round was the last one if all eigenvalues of the scaled Gram matrix reach this:
                      ///< what the round leaves of non-orthogonality is about unit / sqrt(accept)
  Index unit_columns = 0;  ///< first columns of W that had unit length before rounding: shorter ...
  double smallest = 0;     ///< ... than this they are dropped; of the others zero vectors alone
  bool transform = true;   ///< false: project and scale alone
  double norm = 1;         ///< of A, relative to B
};

/// One round of W := (W - Z Z^H B W) T with Z^H B Z = I, such that W^H B W comes near to I.
template <class S>
struct OrthonormalRound {
  Index finite = 1, accepted = 0;
  Index positive = 1;           ///< no column has a negative B-length
  SmallMatrixOf<S> of_z, of_w;  ///< coefficients: W := Z of_z + W of_w
  double growth = 1;            ///< factor by which rounding errors of W may have grown
  /// Smallest eigenvalue of the scaled Gram matrix of what is not in Z. 0 if columns were dropped, or are so
  /// long or short that W^H B W or W^H A W may be out of range.
  double independence = 0;

  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(accepted), visit(positive), visit(of_z), visit(of_w), visit(growth);
    visit(independence);
  }
};
/// @param z_w Z^H B W
/// @param w_w W^H B W
template <class S>
OrthonormalRound<S> orthonormal_round(const SmallMatrixOf<S>& z_w, const SmallMatrixOf<S>& w_w,
                                      const OrthonormalRules& rules);

/// Columns of the basis S = [X W P].
struct BasisColumns {
  Index x = 0, w = 0, p = 0;

  Index all() const { return x + w + p; }
  Index first_w() const { return x; }
  Index first_p() const { return x + w; }
};

/// A projected problem in the basis S = [X W P], the matrix already with the sign that makes its smallest
/// eigenvalues the wanted ones.
template <class S>
struct ProjectedProblem {
  BasisColumns columns;
  SmallMatrixOf<S> matrix, gram;  ///< S^H A S and S^H B S, Hermitian
  Index keep = 0;                 ///< columns of the new X
  Index first_active = 0;         ///< new directions P belong to columns first_active, ..., keep - 1
  bool orthonormal = true;        ///< the variant; else P keeps its directions, but not its length
};
template <class S>
struct RitzStep {
  Index finite = 1, positive = 1;  ///< positive: the Gram matrix could be factored
  std::vector<double> values;      ///< of the new X, ascending
  double norm = 0;                 ///< the largest magnitude of all eigenvalues of the projected problem
  SmallMatrixOf<S> coefficients;   ///< [X P] := S coefficients
  SmallMatrixOf<S> p_matrix;       ///< P^H A P of the new P
  std::vector<Index> owners;       ///< column of X that each column of P belongs to, ascending

  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(positive), visit(values), visit(norm), visit(coefficients), visit(p_matrix),
        visit(owners);
  }
};
template <class S>
RitzStep<S> ritz_step(const ProjectedProblem<S>& problem);

/// What the start's W shows of A.
struct ShownByStart {
  double a_norm = 0, asymmetry = 0;  ///< a norm of A from below; of W^H A W, over the largest |w| |A w|
};
/// @param a W^H A W @param aw of A W, w_w of W: their Gram matrices
template <class S>
ShownByStart shown_by_start(const SmallMatrixOf<S>& a, const SmallMatrixOf<S>& aw,
                            const SmallMatrixOf<S>& w_w);

/// The projected problem of a basis V that grows, with the sign that makes its smallest eigenvalues the wanted
/// ones.
template <class S>
struct BasisProblem {
  SmallMatrixOf<S> matrix, gram;  ///< V^H A V and V^H B V, Hermitian; V's columns have about unit length
  Index pairs = 0;                ///< wanted Ritz pairs
  SmallMatrixOf<S>
      previous;           ///< coefficients of the last step's vectors that a restart keeps, too; of the first
                          ///< columns of V, those of the last step
  bool restarts = false;  ///< V is to become smaller after this step
};
template <class S>
struct BasisStep {
  Index finite = 1, positive = 1;  ///< positive: the Gram matrix could be factored
  std::vector<double> values;      ///< of the pairs, ascending
  double norm = 0;                 ///< the largest magnitude of all eigenvalues of the projected problem
  double growth = 1;              ///< at least 1 / sqrt(least eigenvalue of the Gram matrix): factor by which
                                  ///< rounding errors of V may have grown in Ritz vectors;
                                  ///< infinite without a good Gram matrix
  SmallMatrixOf<S> coefficients;  ///< X := V coefficients
  SmallMatrixOf<S> kept;          ///< at a restart V := V kept: the pairs first, B-orthonormal ...
  SmallMatrixOf<S> kept_matrix;   ///< ... and V^H A V of that

  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(positive), visit(values), visit(norm), visit(growth), visit(coefficients);
    visit(kept), visit(kept_matrix);
  }
};
/// Rayleigh-Ritz, and what a thick restart keeps: the Ritz vectors, and the last step's orthogonal to them
/// (GD+k: Stathopoulos and Saad, Electron. Trans. Numer. Anal. 7 (1998) 163; Stathopoulos, SIAM J. Sci.
/// Comput. 29 (2007) 481).
template <class S>
BasisStep<S> basis_step(const BasisProblem<S>& problem);

}  // namespace tessera::detail
