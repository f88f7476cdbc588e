// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <tessera/density_matrix.hpp>

namespace tessera::detail {

/// X <- sum_k c_k X^k
using StepPolynomial = std::array<double, 5>;

/// How far an iterate X is from idempotent.
struct Idempotency {
  double v_squared;  ///< ||X - X^2||_F^2
  double w;          ///< trace(X - X^2)
  double rounding;   ///< by which v_squared may be wrong
  /// ||X - X^2||_F, at least.
  double v() const noexcept { return std::sqrt(std::max(v_squared, rounding)); }
};

/// What the traces of a purification tell about the spectrum: each step maps all eigenvalues by one polynomial,
/// known afterwards, and ||X - X^2||_F and trace(X - X^2) of its iterates bound the eigenvalues next to 1/2. X_0 =
/// (upper - H') / (upper - lower) of an interval that holds the spectrum: occupied states are near 1.
/// Source: Rubensson and Niklasson, SIAM J. Sci. Comput. 36 (2014) B147; for mu from the stored polynomials CP2K's
/// TRS4.
class TraceHistory {
 public:
  explicit TraceHistory(SpectralInterval spectrum) : spectrum_(spectrum) {}

  /// An iterate, and the step that follows. `keeps_order`: the polynomial does not fall on [0, 1].
  void add(const Idempotency& found, const StepPolynomial& step, bool keeps_order = true) {
    steps_.push_back({step, found, keeps_order});
  }

  /// The energy that the steps have mapped to 1/2.
  double chemical_potential() const;
  /// Where the highest occupied and the lowest other state lie, with what the filter may have moved them:
  /// `slack`, in the unit of the energies; `noise`: what it may have added to ||X - X^2||_F^2. NaN where nothing is known.
  GapBounds gap(double slack, double noise) const;
  /// States at mu whose distance is below this, in the unit of the energies, are not 1/2 apart by now.
  double resolution() const;

 private:
  struct Step {
    StepPolynomial polynomial;
    Idempotency found;
    bool keeps_order;
  };
  double energy(double x) const noexcept { return spectrum_.upper - x * (spectrum_.upper - spectrum_.lower); }
  double mapped(double x, std::size_t steps) const noexcept;
  /// The x that all steps have mapped to 1/2.
  double middle() const noexcept;
  /// The x nearest to the middle of which the first `steps` make y.
  double unmapped(double y, std::size_t steps) const noexcept;
  SpectralInterval spectrum_;
  std::vector<Step> steps_;
};

}  // namespace tessera::detail
