// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <vector>

#include <tessera/completion.hpp>
#include <tessera/runtime.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// Many small dense Hermitian eigenproblems of one order at once, for float, double, complex<float>,
/// complex<double>:
///
///   const auto r = eigensolve_batch(runtime, {.a = {a, n, count}, .vectors_to = {z, n}});
///   if (!r) return fail(r.status().message());
///   use(r.values);  // n of each matrix
///
/// The scalar type follows from the matrices in the braces.
namespace tessera {

/// The largest order of the matrices of a batch: larger ones are for eigensolve.
inline constexpr Index max_batch_order = 2048;

/// Matrices of one order in one array that a batch reads: matrix number k is column-major from
/// data + k stride on, with leading dimension ld, and of it one triangle is read.
template <class T>
struct BatchInput {
  /// No matrices.
  BatchInput() = default;
  /// One matrix directly after the other.
  BatchInput(const T* matrices, Index order, Index number, Uplo triangle = Uplo::lower) noexcept
      : BatchInput(matrices, order, number, order, order * order, triangle) {}
  /// @param stride elements from a matrix to the next, at least (order - 1) ld + order
  BatchInput(const T* matrices, Index order, Index number, Index ld, Index stride,
             Uplo triangle = Uplo::lower) noexcept
      : data(matrices), n(order), count(number), ld(ld), stride(stride), uplo(triangle) {}
  const T* data = nullptr;  ///< memory of the host or of a GPU in use; kept until the solve is over
  Index n = 0;              ///< rows and columns of a matrix, at most max_batch_order
  Index count = 0;          ///< matrices
  Index ld = 0;             ///< elements from one column to the next
  Index stride = 0;         ///< elements from one matrix to the next
  Uplo uplo = Uplo::lower;  ///< the triangle that is read; general: the lower one
};

/// Where the eigenvectors of a batch go, those of each matrix as n x n entries: column j belongs to
/// eigenvalue number j.
template <class T>
struct BatchOutput {
  /// Nowhere: the result has them.
  BatchOutput() = default;
  /// One matrix directly after the other.
  BatchOutput(T* vectors, Index order) noexcept : BatchOutput(vectors, order, order * order) {}
  /// Either ld is n, and stride at least n n, or stride is n ld: nothing but vectors is written.
  BatchOutput(T* vectors, Index ld, Index stride) noexcept : data(vectors), ld(ld), stride(stride) {}
  T* data =
      nullptr;  ///< memory of the host or of a GPU in use, none of the input's; written until the solve is over
  Index ld = 0;      ///< elements from one column to the next
  Index stride = 0;  ///< elements from one matrix to the next
};

/// A_k x = lambda x for each matrix of a batch.
template <class T>
struct EigenBatchProblem {
  BatchInput<T> a;              ///< Hermitian matrices
  BatchOutput<T> vectors_to{};  ///< if not given, the vectors are in the result
  RealOf<T>* values_to =
      nullptr;  ///< n of each matrix, host or GPU; if not given, the values are in the result
};

/// How a batch is solved.
struct EigensolveBatchOptions {
  bool vectors = true;  ///< eigenvectors, too
  /// Matrices that one task solves; 0: chosen from n, the count and the workers.
  Index chunk = 0;
};

/// What became of a matrix of a batch.
struct BatchFailure {
  Index matrix = 0;                       ///< its number, from 0
  StatusCode code = StatusCode::success;  ///< not_finite or no_convergence
  Index index = 0;                        ///< the column of the NaN or infinity, or the eigenvalue, from 1
};

/// Eigenvalues and eigenvectors of a batch. Matrices fail by themselves: the status is that of the first one
/// that has, with its number from 1 as index, and the others have their results all the same.
template <class T>
struct EigenBatchResult : ResultStatus {
  /// n of each matrix, ascending, those of matrix k from k n on; NaN of a matrix that has failed. Empty with
  /// EigenBatchProblem::values_to.
  std::vector<RealOf<T>> values;
  /// n x n of each matrix, column-major, one after the other, orthonormal; of a matrix that has failed without
  /// meaning. Empty without vectors, and with EigenBatchProblem::vectors_to.
  std::vector<T> vectors;
  std::vector<BatchFailure> failures;  ///< by ascending matrix
};

/// Submits a batch and returns at once. Chunks of matrices are tasks, which any CPU or GPU worker may take.
/// For a process of one rank. The input is only read.
///
/// Accuracy, with A_k scaled to the size of one inside, so that also matrices near over- and underflow keep it:
/// |A Z - Z W| / (eps |A| n) and |I - Z^H Z| / (eps n) stay below 30 and are mostly below 3.
///
/// Status: not_finite, no_convergence (stage "eigensolve_batch", index = number of the first matrix that has failed,
/// from 1); `reason` names the column or the eigenvalue.
/// @throws InvalidArgument naming the argument: `a` (null), `a.n`, `a.count`, `a.ld`, `a.stride`, `vectors_to.ld`,
/// `vectors_to.stride`, `chunk`, `runtime` (several ranks); RuntimeError where the memory is too small
template <class T>
Completion<EigenBatchResult<T>> submit_eigensolve_batch(Runtime& runtime, const EigenBatchProblem<T>& problem,
                                                        const EigensolveBatchOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] EigenBatchResult<T> eigensolve_batch(Runtime& runtime, const EigenBatchProblem<T>& problem,
                                                   const EigensolveBatchOptions& options = {}) {
  return submit_eigensolve_batch<T>(runtime, problem, options).result();
}
/// The same on default_runtime().
template <class T>
[[nodiscard]] EigenBatchResult<T> eigensolve_batch(const EigenBatchProblem<T>& problem,
                                                   const EigensolveBatchOptions& options = {}) {
  return eigensolve_batch<T>(default_runtime(), problem, options);
}

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_EIGENSOLVE_BATCH(T)                                                                        \
  inline Completion<EigenBatchResult<T>> submit_eigensolve_batch(                                          \
      Runtime& runtime, const EigenBatchProblem<T>& problem, const EigensolveBatchOptions& options = {}) { \
    return submit_eigensolve_batch<T>(runtime, problem, options);                                          \
  }                                                                                                        \
  [[nodiscard]] inline EigenBatchResult<T> eigensolve_batch(                                               \
      Runtime& runtime, const EigenBatchProblem<T>& problem, const EigensolveBatchOptions& options = {}) { \
    return eigensolve_batch<T>(runtime, problem, options);                                                 \
  }                                                                                                        \
  [[nodiscard]] inline EigenBatchResult<T> eigensolve_batch(const EigenBatchProblem<T>& problem,           \
                                                            const EigensolveBatchOptions& options = {}) {  \
    return eigensolve_batch<T>(problem, options);                                                          \
  }
TESSERA_FOR_SCALARS(TESSERA_EIGENSOLVE_BATCH)
#undef TESSERA_EIGENSOLVE_BATCH
/// @endcond

}  // namespace tessera
