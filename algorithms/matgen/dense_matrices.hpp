// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/runtime/types.hpp>

/// Hermitian test matrices, element by element: every element follows from (kind, n, seed, i, j) alone, so
/// each process and each task makes its own tiles, and the whole is the same for any tile size, grid and
/// number of workers.
namespace tessera {

struct GeneratorKind {
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

template <class T>
class MatrixGenerator {
 public:
  /// @param kind  a name of generator_kinds(), with `:ARGUMENT` where it takes one
  /// @param n     order, >= 0
  /// @param scale factor on all elements (computed in double precision, then rounded to T)
  /// @throws InvalidArgument for an unknown kind, a bad argument, n < 0 or a scale that is not finite
  static MatrixGenerator make(std::string_view kind, Index n, std::uint64_t seed = 1, double scale = 1);

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
