// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/types.hpp>

namespace tessera {

/// What became of a submitted computation. A numerical failure names the stage and an index whose meaning the
/// stage documents (the leading minor for Cholesky, the column for a NaN in the input, ...).
enum class StatusCode : int {
  success = 0,
  not_positive_definite = 1,  ///< index: order of the leading minor, from 1
  not_finite = 2,             ///< NaN or Inf in the input; index: column, from 1
  no_convergence = 3,         ///< an iteration did not converge; index: where
  task_failed = 4,            ///< a task could not be carried out; `reason` names it and says why
};

struct Status {
  StatusCode code = StatusCode::success;
  std::string stage;
  Index index = 0;
  std::string reason;  ///< of task_failed: `gemm_d: there is not enough memory`

  bool ok() const noexcept { return code == StatusCode::success; }
  explicit operator bool() const noexcept { return ok(); }
  /// One line for a person.
  std::string message() const;
};

}  // namespace tessera
