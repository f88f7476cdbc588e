// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include <tessera/types.hpp>

/// @file
/// How a computation has ended.
namespace tessera {

/// What became of a submitted computation. A numerical failure names the stage and an index whose meaning the
/// stage documents (the leading minor for Cholesky, the column for a NaN in the input, ...).
enum class StatusCode : int {
  success = 0,
  not_positive_definite = 1,  ///< index: order of the leading minor, from 1
  not_finite = 2,             ///< NaN or infinity; index: the input's column, from 1; 0: `reason` says where
  no_convergence = 3,         ///< an iteration within a direct method did not converge; index: where
  task_failed = 4,            ///< a task could not be carried out; `reason` names it and says why
  iterations_exhausted = 5,   ///< an iterative method has used all iterations that it may
  stagnated = 6,              ///< its residuals do not fall any more, restarts included
  breakdown = 7,              ///< it has no usable direction left, or a matrix is not positive definite
  stopped = 8,                ///< the caller's monitor has stopped it
  block_not_positive_definite = 9,  ///< index: number of the diagonal block, from 1
  block_singular = 10,              ///< index: number of the diagonal block, from 1
  no_gap = 11,  ///< the wanted number of states cannot be told from the others; index: steps until then
};

/// The code's name: `success`, `not_finite`, ...
const char* to_string(StatusCode code) noexcept;

/// A success, or what has failed, and where.
struct Status {
  StatusCode code = StatusCode::success;  ///< what has happened
  std::string stage;                      ///< where: the name of a stage of the computation, or of the method
  Index index = 0;                        ///< see the code
  std::string
      reason;  ///< in words, where the code does not say it all (`gemm_d: there is not enough memory`)

  /// It is a success.
  bool ok() const noexcept { return code == StatusCode::success; }
  /// The same.
  explicit operator bool() const noexcept { return ok(); }
  /// One line for a person.
  std::string message() const;
};

/// What all results of computations have in common: they tell whether they are there.
///
///   const auto r = eigensolve({.a = {a, n, n}});
///   if (!r) return fail(r.status().message());
class ResultStatus {
 public:
  /// How the computation has ended.
  const Status& status() const noexcept { return status_; }
  /// It has succeeded.
  explicit operator bool() const noexcept { return status_.ok(); }
  /// For the library.
  void set_status(Status status) { status_ = std::move(status); }

 private:
  Status status_;
};

}  // namespace tessera
