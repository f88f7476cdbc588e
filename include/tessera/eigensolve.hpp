// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tessera/cholesky_factor.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/completion.hpp>
#include <tessera/matrix_arguments.hpp>
#include <tessera/runtime.hpp>
#include <tessera/status.hpp>
#include <tessera/tiled_matrix.hpp>
#include <tessera/types.hpp>

/// @file
/// Dense Hermitian eigenproblems A x = lambda x and A x = lambda B x, for float, double, complex<float>,
/// complex<double>:
///
///   const auto r = eigensolve(runtime, {.a = {a, n, n}, .b = {b, n, n}}, {.range = index_range(0, 100)});
///   if (!r) return fail(r.status().message());
///   use(r.values, r.vectors);
///
/// The scalar type follows from the matrix in the braces. A problem of its own is written
/// `EigenProblem<double> problem{.a = {a, n, lda}};`.
namespace tessera {

/// How the eigenvalues are found.
enum class Solver {
  automatic,  ///< the fastest by size, count of vectors and workers
  two_stage,  ///< full -> band -> tridiagonal (Householder, bulge chasing)
  one_stage,  ///< full -> tridiagonal
  vendor,     ///< LAPACK, on a GPU cuSOLVER, as one task on one rank
};
/// The solver's name: `two_stage`, ...
std::string_view to_string(Solver solver);
/// The solver of a name.
/// @throws InvalidArgument for an unknown name.
Solver solver_from_string(std::string_view name);

/// Which eigenvalues, in ascending order: all, or those of index_range or value_range.
struct EigenRange {
  /// What the bounds count.
  enum class Kind {
    all,    ///< nothing
    index,  ///< eigenvalues
    value   ///< what the eigenvalues are
  };
  Kind kind = Kind::all;  ///< what the bounds count
  Index lo = 0;           ///< of an index range: the first, from 0
  Index hi = 0;           ///< of an index range: the end, not in it
  double above = 0;       ///< of a value range: not in it
  double upto = 0;        ///< of a value range: in it
};
/// The eigenvalues number lo, ..., hi - 1 in ascending order, from 0.
constexpr EigenRange index_range(Index lo, Index hi) noexcept {
  return {EigenRange::Kind::index, lo, hi, 0, 0};
}
/// The eigenvalues in (above, upto].
constexpr EigenRange value_range(double above, double upto) noexcept {
  return {EigenRange::Kind::value, 0, 0, above, upto};
}

/// How a problem is solved. Sizes of 0 are chosen from n, the machine and the workers. With `vectors`, the
/// two-stage solver needs 4.2 to 5.0 n^2 elements in all at its peak, the input's n^2 among them, shared by
/// the ranks.
struct EigensolveOptions {
  Solver solver = Solver::automatic;  ///< how the eigenvalues are found
  EigenRange range{};                 ///< which ones; all if not set
  bool vectors = true;                ///< eigenvectors, too
  Index tile = 0;                     ///< rows of a square tile; a multiple of update_width
  Index band = 0;                     ///< bandwidth of the two-stage solver
  Index update_width = 0;             ///< columns per trailing update of reduce_to_band; a multiple of band
  Index slab_width = 0;               ///< columns of a slab of eigenvectors
  /// Groups of columns in which reduce_to_band holds the matrix, each for a GPU (on CPUs they are slower); 1:
  /// it is reduced tile by tile. Chosen: one for each GPU, of a process with several, for large matrices.
  Index column_groups = 0;
  /// On GPUs, the large products of the two-stage solver in other ways that are faster, with errors by norm of a few
  /// times those of the type's own. Of float and complex<float>: on the tensor cores of half precision, from operands
  /// that are split into two parts; the vectors are normalised in the end. Of complex<double>: three real products for
  /// a complex one. With double nothing changes.
  bool split_products = true;
  bool keep_factor = false;  ///< of a problem with b: the result has the Cholesky factor of b, too
};

/// A x = lambda x, or, with b, A x = lambda B x, B positive definite.
template <class T>
struct EigenProblem {
  MatrixInput<T> a;              ///< n x n, Hermitian
  MatrixInput<T> b{};            ///< n x n, Hermitian positive definite; none: the identity
  CholeskyFactor<T> b_factor{};  ///< in place of b: its factor, which is not computed again (cholesky_factor)
  MatrixOutput<T> vectors_to{};  ///< if not given, the vectors are in the result
};

/// Eigenvalues and eigenvectors.
template <class T>
struct EigenResult : ResultStatus {
  std::vector<RealOf<T>> values;  ///< eigenvalues of the range, ascending; the same on every rank
  /// n x values.size(), orthonormal (generalized: Z^H B Z = I); empty without vectors, and where they went to
  /// EigenProblem::vectors_to.
  ColumnSlabs<T> vectors;
  /// With EigensolveOptions::keep_factor of a problem with b: the factor for problems with the same b.
  CholeskyFactor<T> b_factor;
  Index first = 0;         ///< number of values[0] in the whole spectrum
  EigensolveOptions used;  ///< with everything resolved
};

/// Eigenvectors that a solve makes at most: a range by value counts as all.
Index max_vectors(Index n, const EigensolveOptions& options) noexcept;

/// The sizes that a solve would use. The stages and the estimate of the memory take them from here.
/// @throws InvalidArgument for an impossible combination, and for sizes whose tasks do not fit into a GPU.
template <class T>
EigensolveOptions resolve_options(const Runtime& runtime, Index n, const EigensolveOptions& options);

/// Submits a solve (on all ranks together, with equal options and layouts) and returns at once (a range by
/// value waits for the eigenvalues: their number decides what is submitted then; other sequences proceed
/// meanwhile). A and B are read only. Where the problem fills a quarter of a GPU's memory or more, copies of
/// A there that the host has, too, are freed once they have been read: a later solve of the same A fetches it
/// again. Stages of a generalized problem: Cholesky factorisation (not with b_factor), reduction to standard
/// form, solution, back-substitution. Where vectors_to is a block-cyclic array or tiles, each rank sends the
/// entries of its own vectors to the ranks that want them; no rank holds more of them than of its own.
///
/// Status: not_finite (stage "input", index = column from 1) for NaN or infinity in A or B;
/// not_positive_definite (stage "cholesky", index = order of the leading minor).
/// @throws InvalidArgument, and RuntimeError where the memory is too small, before anything is submitted, on
/// all ranks.
template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const EigenProblem<T>& problem,
                                             const EigensolveOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] EigenResult<T> eigensolve(Runtime& runtime, const EigenProblem<T>& problem,
                                        const EigensolveOptions& options = {}) {
  return submit_eigensolve<T>(runtime, problem, options).result();
}
/// The same on default_runtime().
template <class T>
[[nodiscard]] EigenResult<T> eigensolve(const EigenProblem<T>& problem,
                                        const EigensolveOptions& options = {}) {
  return eigensolve<T>(default_runtime(), problem, options);
}

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_EIGENSOLVE(T)                                                                           \
  inline Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const EigenProblem<T>& problem, \
                                                      const EigensolveOptions& options = {}) {          \
    return submit_eigensolve<T>(runtime, problem, options);                                             \
  }                                                                                                     \
  [[nodiscard]] inline EigenResult<T> eigensolve(Runtime& runtime, const EigenProblem<T>& problem,      \
                                                 const EigensolveOptions& options = {}) {               \
    return eigensolve<T>(runtime, problem, options);                                                    \
  }                                                                                                     \
  [[nodiscard]] inline EigenResult<T> eigensolve(const EigenProblem<T>& problem,                        \
                                                 const EigensolveOptions& options = {}) {               \
    return eigensolve<T>(problem, options);                                                             \
  }
TESSERA_FOR_SCALARS(TESSERA_EIGENSOLVE)
#undef TESSERA_EIGENSOLVE
/// @endcond

}  // namespace tessera
