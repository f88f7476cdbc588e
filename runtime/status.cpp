// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/status.hpp>

namespace tessera {

const char* to_string(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::success:
      return "success";
    case StatusCode::not_positive_definite:
      return "not_positive_definite";
    case StatusCode::not_finite:
      return "not_finite";
    case StatusCode::no_convergence:
      return "no_convergence";
    case StatusCode::task_failed:
      return "task_failed";
    case StatusCode::iterations_exhausted:
      return "iterations_exhausted";
    case StatusCode::stagnated:
      return "stagnated";
    case StatusCode::breakdown:
      return "breakdown";
    case StatusCode::stopped:
      return "stopped";
    case StatusCode::block_not_positive_definite:
      return "block_not_positive_definite";
    case StatusCode::block_singular:
      return "block_singular";
    case StatusCode::no_gap:
      return "no_gap";
  }
  return "unknown";
}

std::string Status::message() const {
  if (!reason.empty() && code != StatusCode::task_failed)
    return stage.empty() ? reason : fmt::format("{}: {}", stage, reason);
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
    case StatusCode::iterations_exhausted:
      return fmt::format("{}: the iterations are used up", stage);
    case StatusCode::stagnated:
      return fmt::format("{}: the residuals do not fall any more", stage);
    case StatusCode::breakdown:
      return fmt::format("{}: no usable direction is left", stage);
    case StatusCode::stopped:
      return fmt::format("{}: stopped by the monitor", stage);
    case StatusCode::block_not_positive_definite:
      return fmt::format("{}: diagonal block {} is not positive definite", stage, index);
    case StatusCode::block_singular:
      return fmt::format("{}: diagonal block {} is singular", stage, index);
    case StatusCode::no_gap:
      return fmt::format("{}: no gap at this number of states", stage);
  }
  return "unknown status";
}

}  // namespace tessera
