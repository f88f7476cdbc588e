// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/density_matrix.hpp>
#include <tessera/matrix_functions.hpp>
#include <tessera/runtime.hpp>
#include <tessera/types.hpp>

/// @file Self-consistent fields: density matrices whose Hamiltonians depend on them, for float, double,
/// complex<float>, complex<double>:
///
///   const auto functional = [&](std::span<const BlockSparseMatrix<double>> p) {
///     return ScfFields<double>{.hamiltonians = {hamiltonian_of(p[0])}, .energy = energy_of(p[0])};
///   };
///   const auto r = scf(runtime, {.functional = functional, .overlap = &s,
///                                .channels = {{.electrons = 256, .hamiltonian = &h0}}});
///   if (!r) return fail(r.status().message());
///   use(r.channels[0].density, r.energy);
///
/// Energies are in the unit of H.
namespace tessera {

/// What an energy functional gives for density matrices.
template <class T>
struct ScfFields {
  /// H_s of each channel, half-stored, of the block sizes of P_s: the energy's derivative, dE = sum_s trace(H_s
  /// dP_s).
  std::vector<BlockSparseMatrix<T>> hamiltonians;
  /// E(P_1, ...), all of it: trace(P H) less what that counts twice, repulsion of nuclei, ...
  double energy = 0;
};

/// Energy and Hamiltonians at the density matrices P_s of all channels, P_s S P_s = occupation P_s (of linear
/// mixing: a mean of such). Called on every rank, with the same matrices, which are gone when it has returned;
/// it may call what is collective. On one rank scf() calls it on the calling thread, submit_scf() on a thread of
/// the library's. What it throws leaves scf(), or Completion::wait(), on all ranks.
template <class T>
using ScfFunctional = std::function<ScfFields<T>(std::span<const BlockSparseMatrix<T>> densities)>;

/// How H and P are made to fit each other. H[P] is the Hamiltonian of a density matrix, P[H] that of its lowest
/// states.
enum class ScfMethod {
  /// Mixing of Hamiltonians, F <- (1 - a) F + a H[P[F]] (seed, eq. 4; CP2K's LS_SCF; "linear mixing" of NTPoly's
  /// users): all P are of states, and their energies upper bounds.
  simple,
  /// Mixing of densities, P <- (1 - a) P + a P[H[P]] (damping): P on the way is a mean of projectors, and its
  /// energy no upper bound.
  linear,
  /// Direct inversion in the iterative subspace: F is the combination, of sum 1, of the Hamiltonians so far
  /// whose commutators H P S - S P H, combined likewise, have the least norm (Pulay, J. Comput. Chem. 3 (1982)
  /// 556), in the orthonormal basis.
  pulay,
  /// Direct minimisation of E over projectors by curvy steps: P <- exp(-D S) P exp(S D), conjugate gradients on
  /// the commutator [H, P], preconditioned at fixed H, and a parabola along each geodesic (Helgaker et al.,
  /// Chem. Phys. Lett. 327 (2000) 397; Shao et al., J. Chem. Phys. 118 (2003) 6144; seed, eqs. 7 to 10). The
  /// energy falls with every step: where mixing does not converge. Two calls of the functional a step. Needs
  /// Hamiltonians that are the energy's derivative.
  direct,
};

/// The method's name: simple, ...
const char* to_string(ScfMethod method) noexcept;

/// A spin channel (or k-point) of a problem.
template <class T>
struct ScfChannel {
  double electrons = 0;  ///< as in DensityProblem
  /// As in DensityProblem: 2 for closed shells, 1 for each of the two channels of an open shell
  double occupation = 2;
  /// Where it begins, one of the two, half-stored: a P nearby, of a former geometry (DensityExtrapolation),
  /// which need not be quite idempotent; or a Hamiltonian, of the core or a former one, whose lowest states are
  /// taken.
  const BlockSparseMatrix<T>* density = nullptr;
  const BlockSparseMatrix<T>* hamiltonian = nullptr;  ///< see density
};

/// A self-consistent field that is wanted. What is given by address stays until the computation is over.
template <class T>
struct ScfProblem {
  ScfFunctional<T> functional;                    ///< E and H of P
  const BlockSparseMatrix<T>* overlap = nullptr;  ///< S, half-stored, positive definite; null: the identity
  std::vector<ScfChannel<T>> channels;            ///< one: closed shell; two: spin up and down; or more
  /// Z with Z^H S Z = I of a former computation with an overlap nearby: it is refined. Null: it is computed.
  const BlockSparseMatrix<T>* inverse_factor = nullptr;
};

/// How it is computed.
struct ScfOptions {
  ScfMethod method = ScfMethod::pulay;  ///< see there
  double mixing = 0.3;                  ///< a of simple and linear, above 0 and at most 1
  /// Hamiltonians that pulay combines, at most. Where their commutators are linearly dependent (condition above
  /// 1e12) it goes on with the last two.
  Index history = 8;
  /// Of direct: of the inner conjugate gradients that precondition a step, at most; 0: none
  Index inner_steps = 10;
  /// Of the convergence: sqrt(sum_s ||[H', X]||_F^2 / sum_s n), H' and X in the orthonormal basis (in the unit
  /// of H); of linear sqrt(sum_s ||X[H] - X||_F^2 / sum_s n). The error of E falls with its square.
  double tolerance = 1e-5;
  /// |E_k - E_(k - 1)| for each electron (CP2K's EPS_SCF), which must be reached, too
  double energy_tolerance = 1e-7;
  Index iterations = 100;  ///< at most
  /// How P follows from H: method, filter_eps, ... (the method: not curvy; automatic, sp2 and others that take bounds
  /// of the gap get those of the H before, moved apart by the norm of its change, after the first step); `check` and `energy_weighted` at the
  /// end alone; `monitor` of the steps of all iterations within. Of direct: how it begins, and the filter, a
  /// tenth of which its steps take.
  DensityOptions density{};
  IterationMonitor monitor{};  ///< of the steps of the self-consistent field
};

/// What a channel has come to.
template <class T>
struct ScfState {
  BlockSparseMatrix<T> density;          ///< P, in the layout of S or of what the channel began with
  BlockSparseMatrix<T> hamiltonian;      ///< H[P], as the functional gave it
  BlockSparseMatrix<T> energy_weighted;  ///< W = P H P / occupation, if it was asked for
  double electrons = 0;                  ///< trace(P S)
  /// Of the last Hamiltonian whose states were taken; NaN of direct.
  double chemical_potential = std::numeric_limits<double>::quiet_NaN();
  GapBounds gap{};  ///< likewise
  /// ||Q S Q - Q||_F / ||Q||_F, Q = P / occupation, if it was asked for (DensityOptions::check)
  double idempotency = 0;
};

/// A self-consistent field. Table: a line for each call of the functional that ends a step (stage: the method's
/// name; convergence: ScfOptions::tolerance; energy: E; electrons: of all channels; the products of the
/// densities count). Status: that of IterationReport and of density_matrix (whose stage it then names);
/// iterations_exhausted; not_finite of stage functional: NaN or infinity in E or H. With success, and with
/// iterations_exhausted and stopped, the channels hold the last P and its H.
template <class T>
struct ScfResult : IterationReport {
  std::vector<ScfState<T>> channels;
  BlockSparseMatrix<T> inverse_factor;  ///< Z, to begin the next computation with; empty without an overlap
  double energy = 0;                    ///< E(P)
  double band_energy = 0;               ///< sum_s trace(P_s H_s)
  Index evaluations = 0;                ///< calls of the functional
};

/// Submits the computation. On one rank it goes on in a thread of its own; on several ranks it is over when the
/// call returns. Collective.
///
/// 1. Z with Z^H S Z = I (inverse_factor), once; all that follows is in that basis.
/// 2. X_s of each channel from what it begins with; P_s = occupation Z X_s Z^H, with a step of McWeeny's
///    purification in
///    the metric of S.
/// 3. E and H_s from the functional; H'_s = Z^H H_s Z; the convergence.
/// 4. New X_s by the method, those of fixed Hamiltonians by density_matrix; to 2.
/// @throws InvalidArgument naming the argument: no functional or channels; matrices and numbers as in
/// density_matrix; mixing, history and others out of their range; `functional` for Hamiltonians of another
/// number, symmetry, Runtime or block sizes. All ranks throw what is wrong on one.
/// @throws what the functional throws
template <class T>
Completion<ScfResult<T>> submit_scf(Runtime& runtime, const ScfProblem<T>& problem,
                                    const ScfOptions& options = {});
/// The same, and waits.
template <class T>
[[nodiscard]] ScfResult<T> scf(Runtime& runtime, const ScfProblem<T>& problem,
                               const ScfOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_SCF(T)                                                                       \
  inline Completion<ScfResult<T>> submit_scf(Runtime& runtime, const ScfProblem<T>& problem, \
                                             const ScfOptions& options = {}) {               \
    return submit_scf<T>(runtime, problem, options);                                         \
  }                                                                                          \
  [[nodiscard]] inline ScfResult<T> scf(Runtime& runtime, const ScfProblem<T>& problem,      \
                                        const ScfOptions& options = {}) {                    \
    return scf<T>(runtime, problem, options);                                                \
  }
TESSERA_FOR_SCALARS(TESSERA_SCF)
#undef TESSERA_SCF
/// @endcond

/// How density matrices are extrapolated.
struct ExtrapolationOptions {
  Index order = 4;  ///< K: former geometries that are used, at most (CP2K's EXTRAPOLATION_ORDER); 1 to 12
  double occupation = 2;     ///< of the density matrices
  double filter_eps = 1e-6;  ///< of all products
};

/// A guess of a density matrix, to begin with at a new geometry. Status: that of inverse_factor and purify.
template <class T>
struct DensityPrediction : IterationReport {
  BlockSparseMatrix<T> density;  ///< P, in the layout of the last one that was added; valid only with success
  BlockSparseMatrix<T> inverse_factor;  ///< Z of the new overlap; empty without one
};

/// The density matrices of former geometries, and a guess at the next one, for molecular dynamics: of one
/// channel.
///
/// P S of the next geometry is predicted by the always stable predictor of Kolafa (J. Comput. Chem. 25 (2004)
/// 335),
///   P S = sum_{j = 1}^{K} B_j P_j S_j,   B_j = (-1)^(j + 1) j binomial(2 K, K - j) / binomial(2 K - 2, K - 1),
/// j = 1 the last geometry, K at most the order and the number of geometries so far. P S, unlike P, does not
/// change with the lengths of the basis functions (VandeVondele et al., Comput. Phys. Commun. 167 (2005) 103;
/// CP2K's LS_SCF). Then P = (P S) S^{-1}, its Hermitian part, and McWeeny's purification in the metric of the
/// new S.
template <class T>
class DensityExtrapolation {
 public:
  /// @throws InvalidArgument for options out of their range
  explicit DensityExtrapolation(const ExtrapolationOptions& options = {});

  /// The P of another geometry, and its S (null: the identity), half-stored. Collective; waits.
  /// @throws InvalidArgument for matrices that are not half-stored Hermitian, or of other block sizes than the
  /// former ones
  /// @throws RuntimeError if a task has failed
  void add(const BlockSparseMatrix<T>& density, const BlockSparseMatrix<T>* overlap);
  /// The P of a new geometry, of overlap S (null: the identity). Collective; waits.
  /// @throws InvalidArgument if nothing was added, and as add does
  [[nodiscard]] DensityPrediction<T> predict(const BlockSparseMatrix<T>* overlap);
  /// Geometries that the next prediction uses.
  Index geometries() const noexcept { return static_cast<Index>(former_.size()); }

 private:
  const ExtrapolationOptions options_;
  std::deque<BlockSparseMatrix<T>> former_;  ///< P_j S_j / occupation, the last one first
  BlockSparseMatrix<T> inverse_factor_;      ///< of the last prediction, to begin the next one with
  BlockLayout layout_;                       ///< of P
};

/// B_j of the predictor, j = 1 to K; their sum is 1.
/// @throws InvalidArgument for an order outside 1 to 12
std::vector<double> aspc_coefficients(Index order);

}  // namespace tessera
