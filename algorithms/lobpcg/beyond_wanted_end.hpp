// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <tessera/algorithms/lobpcg/lobpcg.hpp>

namespace tessera {

/// The shift: as given, or from the Ritz values times b_norm, sigma = outermost one ever seen -/+
/// max(spread of the present ones, `range` / 100), minus for the smallest eigenvalues. `range`: of the
/// diagonal, or another measure of A's size. In the first iterations it is the expected end, if that is known
/// and further out: far inside the spectrum the shift would make an indefinite preconditioner, with which
/// Ritz values approach the end more slowly than with none.
class BeyondWantedEnd {
 public:
  /// @throws InvalidArgument: a shift that is not finite, a b_norm that is not positive
  BeyondWantedEnd(EigenEnd end, std::optional<double> given, double range, double b_norm);
  /// See Preconditioner::expect; with b_norm as Ritz values.
  void expect(double ritz_value, double residual);
  void update(std::span<const double> ritz_values);
  bool given() const noexcept { return given_; }
  bool known() const noexcept { return shift_.has_value(); }
  /// +1: A - sigma I is to be positive definite; -1: negative.
  int sign() const noexcept { return end_ == EigenEnd::smallest ? 1 : -1; }
  /// @throws InvalidArgument before the first update, unless given
  double value() const;

 private:
  /// Which Ritz values have to pass before it is forgotten, and where the end is expected.
  struct Expected {
    double passed, end;
  };
  /// Whether a is further out than b.
  bool beyond(double a, double b) const noexcept { return sign() > 0 ? a < b : a > b; }

  EigenEnd end_;
  std::optional<double> shift_, outermost_;
  std::optional<Expected> expected_;
  bool given_;
  double range_, b_norm_;
};

}  // namespace tessera
