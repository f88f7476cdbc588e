// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

/// Sparse symmetric test matrices by name. An entry follows from the kind, its arguments and the options
/// alone, so each process and each task makes the rows that it needs.
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
  /// Of the shell model: random, pairing, pairing-quadrupole, or the path of an `.int` file.
  std::string interaction = "random";
  std::string orbits;  ///< path of the `.sps` file that belongs to an `.int` file
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
