// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/sparse_matrix.hpp>
#include <tessera/types.hpp>

/// Hermitian test matrices, element by element: every element follows from (kind, n, seed, i, j) alone, so
/// each process and each task makes its own tiles, and the whole is the same for any tile size, grid and
/// number of workers.
namespace tessera {

/// A kind of test matrix.
struct GeneratorKind {
  /// What make() takes.
  std::string_view name;
  std::string_view help;  ///< one line
  bool takes_argument;    ///< may be written NAME:ARGUMENT
};

/// All kinds, in the order in which a list should show them.
///
/// Random elements are uniform in [-1, 1] (real and imaginary part), a hash (splitmix64) of (seed, i, j). In
/// complex types the kinds with fixed elements (toeplitz, frank, wilkinson, glued-wilkinson, laplacian1d,
/// laplacian2d) are multiplied by i^(row - column), a unitary similarity that keeps their eigenvalues and
/// their band. The kinds with a prescribed spectrum are A = H D H^H with D the eigenvalues in random order
/// and H a product of three random Householder reflectors (formed as D minus a Hermitian matrix of rank six).
std::span<const GeneratorKind> generator_kinds() noexcept;

/// One test matrix.
template <class T>
class MatrixGenerator {
 public:
  /// `kind`: a name of generator_kinds(), with `:ARGUMENT` where it takes one
  /// `n`: order, >= 0
  /// `scale`: factor on all elements (computed in double precision, then rounded to T)
  /// @throws InvalidArgument for an unknown kind, a bad argument, n < 0 or a scale that is not finite
  static MatrixGenerator make(std::string_view kind, Index n, std::uint64_t seed = 1, double scale = 1);

  /// Rows of the matrix.
  Index order() const noexcept;
  /// A(i, j), any triangle; A(j, i) = conj(A(i, j)) exactly.
  T element(Index i, Index j) const noexcept;
  /// The block of `rows` x `columns` elements that begins at (row, column), column-major; thread-safe.
  void fill(Index row, Index column, Index rows, Index columns, T* a, Index ld) const noexcept;
  /// Ascending, where they are known in closed form or prescribed, for the matrix in exact arithmetic. The
  /// elements are rounded, so expect them to within a few eps * ||A||.
  std::optional<std::vector<double>> exact_eigenvalues() const;

  class Rule;

 private:
  MatrixGenerator(std::shared_ptr<const Rule> rule, double scale) : rule_(std::move(rule)), scale_(scale) {}
  std::shared_ptr<const Rule> rule_;
  double scale_ = 1;
};

/// The hash behind the random elements: uniform in [-1, 1), independent over (seed, stream, i, j).
double random_uniform(std::uint64_t seed, std::uint64_t stream, Index i, Index j) noexcept;

}  // namespace tessera

/// Sparse symmetric and complex Hermitian test matrices by name. An entry follows from the kind, its arguments and the
/// options alone, so each process and each task makes the rows that it needs.
namespace tessera {

/// A kind of test matrix.
struct SparseGeneratorKind {
  /// What make() takes.
  std::string_view name;
  std::string_view argument;  ///< what may follow after NAME: or NAME:..., in brackets what may be left out
  std::string_view help;      ///< one line
};

/// All kinds, in the order in which a list should show them.
std::span<const SparseGeneratorKind> sparse_generator_kinds() noexcept;

/// What the kinds go by beside their arguments.
struct SparseGeneratorOptions {
  std::uint64_t seed = 1;  ///< of random interactions
  /// Of the shell model: random, pairing, pairing-quadrupole, without a core also minnesota (the kinetic energy without
  /// the centre of mass, and the Minnesota potential), or the path of an `.int` file (OXBASH, BIGSTICK) or an `.snt`
  /// file (KSHELL).
  std::string interaction = "random";
  std::string orbits;  ///< path of the `.sps` file that belongs to an `.int` file
  /// Of the shell model, a truncation: by how much the sum of the weights w (`.sps`) of all nucleons' orbits may exceed
  /// its least. None: all states.
  std::optional<int> excitation = std::nullopt;
  // Of a shell model without a core (`shell:nocore:...`).
  double oscillator = 20;  ///< hbar omega of the basis, in MeV, > 0
  /// beta >= 0: beta (H_cm - 3/2 hbar omega) is added, H_cm of the centre of mass in the oscillator.
  double lawson = 0;
  bool coulomb = false;  ///< e^2 / r between protons is added to the interaction minnesota
};

/// What is known exactly about a matrix's eigenvalues, counted with their multiplicity. The functions give at
/// most `count` (>= 0) of them, fewer where no more are known; they are empty where none is.
struct KnownSpectrum {
  std::string text;                                         ///< one sentence
  std::function<std::vector<double>(Index count)> lowest;   ///< ascending
  std::function<std::vector<double>(Index count)> largest;  ///< descending
};

/// A x = lambda x, or A x = lambda B x.
struct SparseGenerator {
  /// The matrix.
  std::shared_ptr<const SymmetricRows> a;
  std::shared_ptr<const SymmetricRows> b;  ///< null: the unit matrix
  /// What is known about the eigenvalues.
  KnownSpectrum spectrum;

  /// Ascending, in exact arithmetic; entries are rounded, so expect them within a few eps * ||A||. None where
  /// fewer than `count` are known (or exist).
  std::optional<std::vector<double>> lowest_eigenvalues(Index count) const;
  /// Descending.
  std::optional<std::vector<double>> largest_eigenvalues(Index count) const;
};

/// `kind`: a name of sparse_generator_kinds(), with its arguments: `laplacian2d:30:20`
/// @throws InvalidArgument for an unknown kind and bad arguments, InputError for files that cannot be read
SparseGenerator make_sparse_generator(std::string_view kind, const SparseGeneratorOptions& options = {});

/// Block sizes that repeat in a pattern (13,5,5: 13 5 5 13 5 5 ...) until `elements` are covered; the last
/// block is cut to fit.
/// @throws InvalidArgument for an empty pattern or a size below 1.
std::vector<Index> repeated_block_sizes(std::span<const Index> pattern, Index elements);

/// Blocks drawn independently with probability `occupation` (of a half-stored matrix: of the stored half),
/// the diagonal always; values uniform in [-1, 1), depending on the seed and the block's numbers alone, so
/// equal for any distribution. Half-stored matrices have diagonal blocks of their symmetry. Collective.
/// @throws InvalidArgument for an occupation outside [0, 1].
template <class T>
BlockSparseMatrix<T> random_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                         std::uint64_t seed);

/// A model of an overlap or density matrix of liquid water: molecules in a periodic cube at the density of
/// water, each at a random point of a lattice cell of its own; `blocks_per_molecule` consecutive blocks each
/// (1 of 23 basis functions for a typical double-zeta molecularly optimised basis, or 3 of 13, 5 and 5). The
/// block of two molecules at distance r is stored if exp(-r / decay length) is above a threshold such that
/// about the share `occupation` of all blocks is there (the diagonal always; the decay length is 1 angstrom).
/// Its values are random, scaled by that exponential. Molecules are numbered along a space-filling curve, so
/// that near ones have near numbers. The matrix has its layout's symmetry; in a layout without symmetry it is
/// Hermitian. The same for any distribution. Collective.
/// @throws InvalidArgument for an occupation outside [0, 1], or other columns than rows.
template <class T>
BlockSparseMatrix<T> water_block_sparse(Runtime& runtime, const BlockLayout& layout, double occupation,
                                        std::uint64_t seed, Index blocks_per_molecule = 1);

}  // namespace tessera

/// Pairs of a Hamiltonian H and an overlap matrix S with a band gap, for density matrices, at any size: what
/// a calculation of liquid water, of an amorphous organic solid or of titanium dioxide in a localised basis
/// would give, as to the sizes of blocks, the occupied share of the functions, and the decay.
///
/// Units (molecules) are in a periodic cube at the density of the material, at random points around those of
/// a lattice, numbered along a space-filling curve; the seed decides about all that is random. With S_I the
/// overlap within unit I (unit matrices for its blocks, random small blocks between them), V_I V_I^H = S_I
/// with V_I a Cholesky factor times a random unitary matrix, and V of the blocks V_I,
///
///     S = V (1 + E) V^H,   H = mu S + V (D + K/2 (D E + E D)) V^H,   K = 1.75.
///
/// D has the levels of the units, from the middle mu of the gap g: occupied ones at most -g/2, the others at
/// least g/2, both spread over a few tenths of a hartree. H is what Wolfsberg and Helmholz estimate
/// from the overlap, H_ij = K/2 (H_ii S_ij + S_ij H_jj), with energies from mu. E couples all levels of
/// a unit with random ones of its neighbours: the block E_IJ is c w_IJ / sqrt(R_I R_J) times a matrix of
/// norm 1, where w_IJ = exp(-r^2 / 2 l^2) decays with the distance and R_I is the sum of a row of w.
///
/// What follows for certain:
/// - The norm of E is at most c: the matrix of w_IJ / sqrt(R_I R_J) has the positive eigenvector
///   sqrt(R_I), so its eigenvalue 1 is the largest, and blocks that are left out only lower the norm. So
///   the smallest eigenvalue of S is at least (1 - b)(1 - c), with b the bound of the norms of S_I - 1.
/// - With X = 1 + (K/2) E, D + K/2 (D E + E D) = X D X - (K/2)^2 E D E. X D X has as many negative
///   eigenvalues as D (Sylvester), none nearer to zero than (g/2)(1 - x)^2, x = K c / 2 (Ostrowski); the
///   other term has at most the norm x^2 d, d the largest |D|. So if x < 1 / (1 + sqrt(2 d / g)), exactly
///   electrons / 2 eigenvalues e of H v = e S v are below mu, and none is nearer to mu than
///   ((g/2)(1 - x)^2 - x^2 d) / (1 + c).
/// Source of the coupling: M. Wolfsberg, L. Helmholz, J. Chem. Phys. 20, 837 (1952).
namespace tessera {

/// A kind of system.
struct DensitySystemKind {
  std::string_view name;  ///< what DensitySystemOptions::kind takes
  std::string_view help;  ///< one line
};

/// All kinds, in the order in which a list should show them.
std::span<const DensitySystemKind> density_system_kinds() noexcept;

/// What system.
struct DensitySystemOptions {
  /// A name of density_system_kinds().
  std::string kind = "water";
  /// Units, 0 or more: molecules of water, small groups of atoms of the amorphous solid, formula units of
  /// TiO2.
  Index molecules = 64;
  /// Block sizes (basis functions) of one unit; empty: the kind's. water: {23}; others, {13, 5, 5}, {6},
  /// {4, 1, 1}, must have more than the 4 occupied states. amorphous: {13, 5}, an atom of carbon, nitrogen or
  /// oxygen and one of hydrogen. tio2: {26, 13, 13}; others must have more than 12 in all.
  std::vector<Index> blocks{};
  /// g, in hartree, > 0; none: 0.55 for water of fewer than 12 functions (a minimal basis), otherwise 0.22.
  std::optional<double> gap{};
  /// l, in angstrom, 0.2 to 10; none: about what gives the density matrix the decay of a real one.
  std::optional<double> decay{};
  /// c, from 0 to below the limit above and 1; none: 0.8 of that.
  std::optional<double> coupling{};
  /// Of positions and values.
  std::uint64_t seed = 1;
  /// Two units have no blocks, in S and in H, if w_IJ c / sqrt(R_I R_J) sqrt(functions of the smaller), the
  /// Frobenius norm of E_IJ, is below it; >= 0. What is stored does not depend on it.
  double threshold = 1e-8;
};

/// A system, and what is known about it.
template <class T>
struct DensitySystem {
  BlockSparseMatrix<T> hamiltonian;  ///< H, in hartree
  BlockSparseMatrix<T> overlap;      ///< S, of the same pattern
  Index electrons = 0;               ///< two for each occupied state
  std::vector<Index> block_sizes;    ///< along rows and columns
  std::vector<Index> unit_of_block;  ///< ascending from 0: blocks of one unit follow one another
  /// Centre of each unit in the cube, in angstrom, each coordinate from 0 to below cell_length.
  std::vector<std::array<double, 3>> unit_positions;
  double cell_length = 0;        ///< edge of the periodic cube, in angstrom
  double mu = 0;                 ///< in the gap, in hartree
  double gap_bound = 0;          ///< the gap is at least this, half of it on each side of mu
  double overlap_bound = 0;      ///< the smallest eigenvalue of S is at least this
  DensitySystemOptions options;  ///< as used: nothing is left to the kind
};

/// Makes a system, half-stored (symmetric, or Hermitian of complex types), on the most square grid of all
/// ranks (make_block_layout). Time and memory grow linearly with the number of units. An element follows from
/// the options and its place alone, so it is the same for all numbers of ranks. It is computed in double
/// precision and then rounded: float has the rounded matrices of double. Complex types have other matrices,
/// whose elements have random phases. Collective; waits.
/// @throws InvalidArgument for a kind that there is not, and for options outside of what they allow
template <class T>
DensitySystem<T> density_system(Runtime& runtime, const DensitySystemOptions& options);

}  // namespace tessera
