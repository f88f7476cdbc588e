// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/preconditioner_parts.hpp>
#include <tessera/preconditioners.hpp>

namespace tessera {

using namespace detail;

BeyondWantedEnd::BeyondWantedEnd(EigenEnd end, std::optional<double> given, double range, double b_norm)
    : end_(end), shift_(given), given_(given.has_value()), range_(range), b_norm_(b_norm) {
  if (given && !std::isfinite(*given))
    throw InvalidArgument("shift", fmt::format("{}", *given), "a finite number");
  if (!(b_norm > 0 && std::isfinite(b_norm)))
    throw InvalidArgument("b_norm", fmt::format("{}", b_norm), "a positive number");
}

void BeyondWantedEnd::expect(double ritz_value, double residual) {
  if (std::isfinite(ritz_value) && std::isfinite(residual))
    expected_ = {b_norm_ * ritz_value, b_norm_ * ritz_value - sign() * residual};
}

void BeyondWantedEnd::update(std::span<const double> ritz_values) {
  if (given_ || ritz_values.empty()) return;
  auto [least, largest] = least_and_largest(ritz_values);
  least *= b_norm_;
  largest *= b_norm_;
  const bool smallest = end_ == EigenEnd::smallest;
  const double present = smallest ? least : largest;
  if (!outermost_ || beyond(present, *outermost_)) outermost_ = present;
  double distance = std::max(largest - least, range_ / 100);
  // One Ritz value and a constant diagonal: any distance that is no rounding error.
  if (distance <= 1e-12 * std::abs(*outermost_))
    distance = *outermost_ != 0 ? std::abs(*outermost_) / 100 : 1;
  shift_ = *outermost_ - sign() * distance;
  if (expected_ && beyond(expected_->passed, *outermost_) && beyond(expected_->end, *shift_))
    shift_ = expected_->end;
}

double BeyondWantedEnd::value() const {
  if (!shift_)
    throw InvalidArgument("shift", "none", "a number, or Ritz values (prepare) before the first application");
  return *shift_;
}

}  // namespace tessera
