// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include <tessera/completion.hpp>
#include <tessera/matrix_arguments.hpp>
#include <tessera/runtime.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// Cholesky factors of the right-hand matrices of generalized eigenproblems, for several problems with the
/// same one:
///
///   const auto s = cholesky_factor(runtime, {.b = {overlap, n, n}});
///   if (!s) return fail(s.status().message());
///   for (...) const auto r = eigensolve(runtime, {.a = {fock, n, n}, .b_factor = s.factor});
namespace tessera {

namespace detail {
template <class T>
struct CholeskyParts;  // algorithms/dense/cholesky_parts.hpp
}  // namespace detail

/// The factor L of a Hermitian positive definite matrix B = L L^H, in tiles of the library, n^2 / 2 elements
/// over the ranks. Copies share it; solves only read it. The last copy must go before the Runtime does, on all
/// ranks.
template <class T>
class CholeskyFactor {
 public:
  /// No factor.
  CholeskyFactor() = default;
  /// There is one.
  explicit operator bool() const noexcept { return parts_ != nullptr; }
  /// Rows of B; 0 without a factor.
  Index order() const noexcept;
  /// Rows of a tile of L.
  Index tile() const noexcept;

  /// For the library.
  explicit CholeskyFactor(std::shared_ptr<const detail::CholeskyParts<T>> parts) noexcept
      : parts_(std::move(parts)) {}
  /// For the library; null without a factor.
  const std::shared_ptr<const detail::CholeskyParts<T>>& parts() const noexcept { return parts_; }

 private:
  std::shared_ptr<const detail::CholeskyParts<T>> parts_;
};

/// What cholesky_factor factorises.
template <class T>
struct CholeskyProblem {
  MatrixInput<T> b;  ///< n x n, Hermitian positive definite
  /// b holds the factor already, which is copied: L in the lower triangle, or, where that is what is read, U
  /// = L^H in the upper one. Its diagonal is real and positive.
  bool factorized = false;
};

/// How.
struct CholeskyOptions {
  /// Rows of a square tile; 0: as eigensolve chooses with its default options (EigensolveOptions::tile). A
  /// solve with other tiles copies the factor first.
  Index tile = 0;
};

/// A Cholesky factor.
template <class T>
struct CholeskyResult : ResultStatus {
  CholeskyFactor<T> factor;  ///< after a failure a solve refuses it
};

/// Submits a factorisation (on all ranks together, with equal options and layouts) and returns at once. B is
/// read only.
///
/// Status: not_finite (stage "input", index = column from 1) for NaN or infinity in B; not_positive_definite
/// (stage "cholesky", index = order of the leading minor; of a given factor the number of the diagonal entry
/// that is not positive).
/// @throws InvalidArgument, and RuntimeError where the memory is too small, before anything is submitted, on
/// all ranks.
template <class T>
Completion<CholeskyResult<T>> submit_cholesky_factor(Runtime& runtime, const CholeskyProblem<T>& problem,
                                                     const CholeskyOptions& options = {});

/// The same, and waits.
template <class T>
[[nodiscard]] CholeskyResult<T> cholesky_factor(Runtime& runtime, const CholeskyProblem<T>& problem,
                                                const CholeskyOptions& options = {}) {
  return submit_cholesky_factor<T>(runtime, problem, options).result();
}

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_CHOLESKY(T)                                                                       \
  inline Completion<CholeskyResult<T>> submit_cholesky_factor(                                    \
      Runtime& runtime, const CholeskyProblem<T>& problem, const CholeskyOptions& options = {}) { \
    return submit_cholesky_factor<T>(runtime, problem, options);                                  \
  }                                                                                               \
  [[nodiscard]] inline CholeskyResult<T> cholesky_factor(                                         \
      Runtime& runtime, const CholeskyProblem<T>& problem, const CholeskyOptions& options = {}) { \
    return cholesky_factor<T>(runtime, problem, options);                                         \
  }
TESSERA_FOR_SCALARS(TESSERA_CHOLESKY)
#undef TESSERA_CHOLESKY
/// @endcond

}  // namespace tessera
