// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/completion.hpp>
#include <tessera/matrix_functions.hpp>
#include <tessera/runtime.hpp>
#include <tessera/spectral_bounds.hpp>
#include <tessera/types.hpp>

/// @file
/// Density matrices without diagonalisation, for float, double, complex<float>, complex<double>:
///
///   const auto r = density_matrix(runtime, {.hamiltonian = h, .overlap = &s, .electrons = 256},
///                                 {.filter_eps = 1e-6});
///   if (!r) return fail(r.status().message());
///   use(r.density, r.energy, r.chemical_potential);
///
/// The scalar type follows from the matrices. Energies are in the unit of H.
namespace tessera {

/// How the occupied states are told from the others.
enum class DensityMethod {
  /// trs4; sp2 where bounds of the gap are given, sign where a chemical potential is given, fermi at a temperature
  automatic,
  sign,  ///< 1/2 (I - sign(H' - mu I)) (seed, eq. 3); without a given mu it is searched by bisection
  trs4,  ///< trace-resetting purification of fourth order (Niklasson, Tymczak, Challacombe, J. Chem. Phys. 118
         ///< (2003) 8611; seed, eqs. 5 and 6)
  tc2,   ///< trace-correcting purification of second order (Niklasson, Phys. Rev. B 66 (2002) 155115)
  sp2,  ///< the same, each step stretched by the bounds of the gap (Rubensson, J. Chem. Theory Comput. 7 (2011)
        ///< 1233): about half the products; without bounds it is tc2
  /// tc2 (sp2 where the gap is known) of dense matrices in tiles: n^3 flops a product, for n up to some 10,000, and where P
  /// has few zeros. P has no filter but that of its blocks at the end; there is no inverse factor.
  purification,
  /// purification of the dense principal submatrices of groups of blocks with their environments, of which the groups' columns
  /// are kept: its cost grows with n alone. How far an environment reaches follows from the filter.
  submatrix,
  fermi,  ///< at a temperature alone: the Fermi operator by polynomials, in levels of falling temperature
  curvy,  ///< least trace(P H) by unitary turns of a projector (seed, eqs. 7 to 10), from a former P or from a
          ///< purification with a loose filter: few products where that P is near
  dense,  ///< the occupied states of the dense eigenproblem (eigensolve); at a temperature all states
};

/// The method's name: trs4, ...
const char* to_string(DensityMethod method) noexcept;

/// Intervals in which the highest occupied and the lowest unoccupied state lie. NaN: not known.
struct GapBounds {
  SpectralInterval homo;  ///< of the highest occupied energy
  SpectralInterval lumo;  ///< of the lowest unoccupied one
};

/// A density matrix that is wanted: of one spin channel and k-point.
template <class T>
struct DensityProblem {
  /// H: half-stored Hermitian (real: symmetric). Read until the computation is over.
  const BlockSparseMatrix<T>& hamiltonian;
  /// S: half-stored, positive definite, of H's block sizes; null: the identity.
  const BlockSparseMatrix<T>* overlap = nullptr;
  /// Electrons, from 0 to occupation n: electrons / occupation states are occupied, a whole number; at a
  /// temperature any number.
  double electrons = 0;
  /// Electrons in an occupied state: 2 for closed shells, 1 for a spin channel of an open shell.
  double occupation = 2;
  /// Electronic temperature kT, in the unit of H. Above 0 a state of energy e has occupation / (1 + exp((e - mu)
  /// / kT)) electrons (Fermi and Dirac), by the methods fermi and dense; no gap is needed.
  double temperature = 0;
  /// mu: the states below it are occupied, whatever `electrons` says (sign, and at a temperature).
  std::optional<double> chemical_potential{};
  /// Z with Z^H S Z = I of a former computation with an overlap nearby: it is refined. Null: it is computed.
  const BlockSparseMatrix<T>* inverse_factor = nullptr;
  /// P of a former computation nearby, of this occupation, half-stored, of H's block sizes: where curvy begins.
  const BlockSparseMatrix<T>* density = nullptr;
  /// Of a former computation with a Hamiltonian nearby, widened by how far that is (2-norm of the change in the
  /// orthonormal basis; see narrowed in density_state.hpp): what sp2 stretches its steps with, and where the
  /// search of sign begins.
  std::optional<GapBounds> gap{};
};

/// How it is computed.
struct DensityOptions {
  DensityMethod method = DensityMethod::automatic;  ///< see there
  /// Of all products (MultiplyOptions::filter_eps), but for the last step's. The error of P's elements falls with it,
  /// that of the energy with its square.
  double filter_eps = 1e-6;
  /// Idempotency ||P S P - P||_F / ||P||_F that the last step may leave; 0: 1e-4 times the filter (without one:
  /// rounding); the step is repeated for more than that, and than 30 times the square of a filter of at most 1e-4 (of a
  /// larger one: 3e-3 times the filter). At a temperature what the polynomials may leave of 2 f; 0: a hundredth of the filter (without
  /// one: rounding).
  double tolerance = 0;
  Index iterations = 100;  ///< of each iteration, at most
  int sign_order = 2;      ///< of matrix_sign
  int factor_order = 3;    ///< of inverse_factor
  bool scaled = true;      ///< MatrixFunctionOptions::scaled
  /// trs4, tc2, sp2, purification, submatrix: of matrices in double the iterations are in float, and the last step in double:
  /// P's elements are then off by some float roundings over the gap (relative to the width of the spectrum), the energy by
  /// their square. Where S, scaled to the identity within blocks, has a condition above 200, or a former Z is given,
  /// trs4, tc2 and sp2 have Z and what it multiplies in T, and submatrix has all; complex matrices are in T where
  /// there are GPUs. Unset: where the filter is at least 1e-7, as float tells no less apart.
  std::optional<bool> mixed_precision{};
  /// submatrix: basis functions of a group of blocks, about. 0: those for which the submatrices are the least work.
  Index group_order = 0;
  /// Electrons by which a search for mu may miss; if not positive: half a state (sign), or a tenth of the
  /// filter, but at least 1e3 roundings, times their number (fermi).
  double electron_tolerance = 0;
  /// Energy-weighted density matrix W = P H P / occupation (of P S-orthonormal states: sum_i f_i e_i c_i c_i^H), what
  /// forces need beside P; at a temperature, too, the f_i those of Fermi and Dirac.
  bool energy_weighted = false;
  /// P S P - P and the commutator S P H - H P S are measured, by products of their own.
  bool check = true;
  IterationMonitor monitor{};  ///< of the steps of all iterations
};

/// A density matrix and what follows from it. Status: that of IterationReport, and no_gap (the wanted number of
/// states cannot be told from the others: degenerate, or a metal; also where the search for mu ends between two
/// numbers of electrons); not_positive_definite (S). The density is there with success alone. Error: the idempotency if it
/// was measured, else what the last step leaves; NaN where neither is known (dense).
template <class T>
struct DensityResult : IterationReport {
  /// P, in H's layout: occupation sum_occupied c_i c_i^H, P S P = occupation P; at a temperature
  /// sum_i f_i c_i c_i^H.
  BlockSparseMatrix<T> density;
  BlockSparseMatrix<T> energy_weighted;  ///< if it was asked for, in H's layout
  BlockSparseMatrix<T> inverse_factor;   ///< Z, to begin the next computation with; empty without an overlap
  DensityMethod method = DensityMethod::automatic;  ///< that was used
  double chemical_potential = 0;  ///< mu, between the highest occupied and the lowest other state
  double energy = 0;              ///< trace(P H)
  double electrons = 0;           ///< trace(P S)
  /// -occupation sum [f ln f + (1 - f) ln(1 - f)], f from 0 to 1, in units of k_B
  double entropy = 0;
  double free_energy = 0;  ///< energy - temperature entropy
  /// Of the states, from the traces of the iterations; at a temperature known of method dense alone: the states
  /// next to mu.
  GapBounds gap{};
  /// ||Q S Q - Q||_F / ||Q||_F, Q = P / occupation, at most (what the filter of the products that measure it may
  /// have left out is added), if it was asked for; NaN at a temperature.
  double idempotency = 0;
  double commutator = 0;  ///< ||S P H - H P S||_F / sqrt(n), if it was asked for
};

/// Submits the computation. On one rank it goes on in a thread of its own: many may be in flight (spin channels,
/// k-points). On several ranks it is over when the call returns. Collective.
///
/// 1. Z with Z^H S Z = I: Z0, the inverse Cholesky factors of S's diagonal blocks, times a polynomial of degree 6 that is the
///    inverse square root on the spectrum of Z0^H S Z0, where it is that to the filter; else Z0, or a former Z, refined
///    (inverse_factor).
/// 2. H' = Z^H H Z, and the bounds of its spectrum by Lanczos (extremal_eigenvalues).
/// 3. X: 1 on the occupied states of H', 0 on the others, by the method. All iterates are half-stored.
/// 4. P = Z X Z^H, and McWeeny's step P <- 3 P S P - 2 P S P S P with a thousandth of the filter: what the filter has cost
///    P's idempotency, and Z, is made good, and the energy's error is of second order. At the end blocks of P below the
///    filter are dropped, and P is multiplied by the occupation.
///
/// At a temperature (fermi) steps 3 and 4 are others:
///
/// 3. T = I - 2 f = tanh((H' - mu) / (2 kT)) in levels of falling temperature. On the first, at a fraction of
///    the spectrum's width, it is a Chebyshev polynomial of H' of moderate degree; from level to level, colder
///    by a whole factor k = 4, 6 or 8, T <- tanh(k (artanh(T) - y)), a polynomial of T. Its degree does not
///    depend on how cold it is, so that the products grow with the logarithm of width / kT, and not with its
///    root as those of one expansion (Paterson and Stockmeyer). The traces of all Chebyshev polynomials of a
///    level's matrix tell, before T is formed, the electrons for any mu: y moves mu to where they are as wanted,
///    and no search repeats the expansion. The entropy is the trace of such a polynomial, too. The levels are
///    those with the fewest products; an error of one grows by at most k in the next, and each polynomial is
///    accurate enough for that. About 15 matrices are held at once.
/// 4. P = occupation Z f Z^H. Nothing corrects it afterwards: the errors of P and of the energies are of first
///    order in the filter, times about width / kT.
///
/// Source: the recursion f <- f^2 / (f^2 + (1 - f)^2) of Niklasson (Phys. Rev. B 68 (2003) 233104), which is k =
/// 2, with polynomials in place of its inverse; moments after Silver and others (J. Comput. Phys. 124 (1996)
/// 115).
/// Of method submatrix steps 1 to 4 are others:
///
/// 1. H and S in a basis that is orthonormal within each block (inverse Cholesky factors of S's diagonal blocks), and the
///    coupling ||H_ij - mu S_ij|| / gap of each two blocks; mu and the gap are those of the problem, or found from small
///    environments in the way of step 3.
/// 2. Groups of near blocks. A group's environment: the blocks i to which a path of blocks leads from the group whose
///    couplings have a product of at least 0.45 sqrt(filter), an estimate of ||P_ij||: with the filter 1e-6, 48 functions of
///    liquid water in a small basis have an environment of some 1200. With group_order 0 the groups' order is that with the
///    least sum of n^3 over all environments; where that is one group of all, as in matrices of little sparsity and up to 1600
///    functions, method purification does the work.
/// 3. For all submatrices of H and S at once, in float unless the options say otherwise: S^{-1/2} by polynomials, X as in
///    tc2 (sp2 with the gap of step 1), each step chosen by the trace over the groups' own columns: no mu is searched for.
///    McWeeny's step for these columns, in T and in the metric of S.
/// 4. P is the Hermitian part of the columns. By how much the columns differ from it is the error that the environments
///    leave in P's elements (line `columns` of the table has the largest such difference as convergence, and the largest
///    submatrix' share of n as occupation); if it is more than half of the estimate, steps 2 to 4 are repeated with larger
///    environments, twice at most. The bounds of the gap are those that the groups' columns tell. Where S is too
///    ill-conditioned for float the iterations are in T.
/// 5. McWeeny's step as in step 4 above, for all of P: it makes P idempotent, and the energy's
///    error, of the environments and of float, of second order.
///
/// Source: Lass, Schade, Kuehne, Plessl, SC20 (2020); the trace over columns of local matrices: Yang, Phys. Rev. Lett. 66
/// (1991) 1438.
/// @throws InvalidArgument naming the argument: matrices that are not half-stored Hermitian, of other block
/// sizes or of another Runtime; electrons below 0, above occupation n, or (without a temperature) no whole
/// number of states; an occupation, temperature, filter or tolerance that is negative or no number; a
/// temperature with another method than fermi, dense or automatic, and fermi without one; orders outside those
/// of the functions. All ranks throw what is wrong on one.
template <class T>
Completion<DensityResult<T>> submit_density_matrix(Runtime& runtime, const DensityProblem<T>& problem,
                                                   const DensityOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] DensityResult<T> density_matrix(Runtime& runtime, const DensityProblem<T>& problem,
                                              const DensityOptions& options = {});
/// The same on H's Runtime.
template <class T>
[[nodiscard]] DensityResult<T> density_matrix(const DensityProblem<T>& problem,
                                              const DensityOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_DENSITY(T)                                                                                 \
  inline Completion<DensityResult<T>> submit_density_matrix(                                               \
      Runtime& runtime, const DensityProblem<T>& problem, const DensityOptions& options = {}) {            \
    return submit_density_matrix<T>(runtime, problem, options);                                            \
  }                                                                                                        \
  [[nodiscard]] inline DensityResult<T> density_matrix(Runtime& runtime, const DensityProblem<T>& problem, \
                                                       const DensityOptions& options = {}) {               \
    return density_matrix<T>(runtime, problem, options);                                                   \
  }                                                                                                        \
  [[nodiscard]] inline DensityResult<T> density_matrix(const DensityProblem<T>& problem,                   \
                                                       const DensityOptions& options = {}) {               \
    return density_matrix<T>(problem, options);                                                            \
  }
TESSERA_FOR_SCALARS(TESSERA_DENSITY)
#undef TESSERA_DENSITY
/// @endcond

}  // namespace tessera
