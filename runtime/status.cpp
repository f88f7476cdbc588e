// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/status.hpp>

namespace tessera {

std::string Status::message() const {
  switch (code) {
    case StatusCode::success:
      return "success";
    case StatusCode::not_positive_definite:
      return fmt::format(
          "{}: the matrix is not positive definite, its leading minor of order {} is not positive", stage,
          index);
    case StatusCode::not_finite:
      return fmt::format("{}: the input has a NaN or an infinity in column {}", stage, index);
    case StatusCode::no_convergence:
      return fmt::format("{}: no convergence at index {}", stage, index);
    case StatusCode::task_failed:
      return fmt::format("{}: the task {}", stage, reason);
  }
  return "unknown status";
}

}  // namespace tessera
