// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// Dense Hermitian eigenproblems A x = lambda x and A x = lambda B x, for float, double, complex<float>,
/// complex<double>.
namespace tessera {

enum class Solver {
  automatic,  ///< the fastest by size, count of vectors and workers
  two_stage,  ///< full -> band -> tridiagonal (Householder, bulge chasing)
  one_stage,  ///< full -> tridiagonal
  vendor,     ///< LAPACK, on a GPU cuSOLVER, as one task on one rank
};
std::string_view to_string(Solver solver);
/// @throws InvalidArgument for an unknown name.
Solver solver_from_string(std::string_view name);

/// Which eigenvalues, in ascending order.
template <class R = double>
struct EigenRange {
  enum class Kind { all, index, value };
  Kind kind = Kind::all;
  Index lo = 0, hi = 0;   ///< index: the eigenvalues number lo, ..., hi - 1, from 0
  R above = 0, upto = 0;  ///< value: those in (above, upto]
  static EigenRange all() { return {}; }
  static EigenRange index(Index lo, Index hi) { return {Kind::index, lo, hi, 0, 0}; }
  static EigenRange value(R above, R upto) { return {Kind::value, 0, 0, above, upto}; }
};

/// Sizes of 0 are chosen from n, the machine and the workers. With `vectors`, the two-stage solver needs
/// 4.2 to 5.0 n^2 elements in all at its peak, the input's n^2 among them (measured at n = 4000), shared by
/// the ranks.
struct EigensolveOptions {
  Solver solver = Solver::automatic;
  EigenRange<double> range{};
  bool vectors = true;
  Index tile = 0;          ///< rows of a square tile; a multiple of update_width
  Index band = 0;          ///< bandwidth of the two-stage solver
  Index update_width = 0;  ///< columns per trailing update of reduce_to_band; a multiple of band
  Index slab_width = 0;    ///< columns of a slab of eigenvectors
  /// Groups of columns in which reduce_to_band holds the matrix, each for a GPU (on CPUs they are slower); 1:
  /// it is reduced tile by tile. Chosen: one for each GPU, of a process with several, for large matrices.
  Index column_groups = 0;
};

template <class T>
struct EigenResult {
  std::vector<RealOf<T>> values;  ///< eigenvalues of the range, ascending; the same on every rank
  ColumnSlabs<T>
      vectors;      ///< n x values.size(), orthonormal (generalized: Z^H B Z = I); empty without vectors
  Index first = 0;  ///< number of values[0] in the whole spectrum
  EigensolveOptions used;  ///< with everything resolved
};

/// For calls whose options must be the same on all ranks (agreement.hpp).
std::uint64_t hash_of(const EigensolveOptions& options) noexcept;

/// Eigenvectors that a solve makes at most: a range by value counts as all.
Index max_vectors(Index n, const EigensolveOptions& options) noexcept;

/// The sizes that a solve would use. The stages and the estimate of the memory take them from here.
/// @throws InvalidArgument for an impossible combination, and for sizes whose tasks do not fit into a GPU.
template <class T>
EigensolveOptions resolve_options(const Runtime& runtime, Index n, const EigensolveOptions& options);

/// Submits A x = lambda x (on all ranks together, with equal options and layouts) and returns at once (a
/// range by value waits for the eigenvalues: their number decides what is submitted then; other sequences
/// proceed meanwhile). A is read only and must stay as it is until the end. Where the problem fills a quarter
/// of a GPU's memory or more, copies of A there that the host has, too, are freed once they have been read: a
/// later solve of the same A fetches it again.
///
/// @param a n x n; lower or upper layout, or general (then the lower triangle counts); any tile size and
/// grid.
/// @throws InvalidArgument, and RuntimeError where the memory is too small, before anything is submitted, on
/// all ranks.
/// Status: not_finite (stage "input", index = column from 1) for NaN or infinity in A.
template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const TiledMatrix<T>& a,
                                             const EigensolveOptions& options = {});

/// Submits A x = lambda B x, B positive definite: Cholesky factorisation, reduction to standard form,
/// solution, and back-substitution. B is read only. Status, in addition: not_positive_definite (stage
/// "cholesky", index = order of the leading minor).
template <class T>
Completion<EigenResult<T>> submit_eigensolve(Runtime& runtime, const TiledMatrix<T>& a,
                                             const TiledMatrix<T>& b, const EigensolveOptions& options = {});

/// The blocking call on LAPACK-layout arrays, one process: all of A x = lambda x (or with b, A x = lambda B
/// x).
///
/// a, b and z may lie in the memory of a GPU in use; w is host memory.
///
/// @param uplo triangle of a (and b) that is read; the arrays are not changed
/// @param w n values (of which the range's count are written), ascending
/// @param z ldz x count: eigenvectors; may be null when options.vectors is false. For a range by value it
/// must have room
///          for n columns.
/// @param count how many eigenvalues the range has; may be null
template <class T>
Status eigensolve(Runtime& runtime, Uplo uplo, Index n, const T* a, Index lda, const T* b, Index ldb,
                  RealOf<T>* w, T* z, Index ldz, Index* count = nullptr,
                  const EigensolveOptions& options = {});

}  // namespace tessera
