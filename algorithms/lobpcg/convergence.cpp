// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/convergence.hpp>

namespace tessera::detail {

bool ResidualNorms::finite() const {
  return std::none_of(norms.begin(), norms.end(), [](double r) { return !std::isfinite(r); });
}

ResidualNorms ConvergenceTest::measure(const ResidualSquares& squares, const std::vector<double>& ritz_values,
                                       NormEstimates& seen) const {
  const auto count = static_cast<Index>(ritz_values.size());
  for (Index j = 0; j < count; ++j) {
    const double x = std::sqrt(squares.x(j));
    seen.a = std::max(seen.a, std::sqrt(squares.ax(j)) / x);
    seen.b = std::max(seen.b, std::sqrt(squares.bx(j)) / x);
  }
  const double a = a_norm(seen), b = b_norm(seen);
  ResidualNorms residuals;
  residuals.finest = residuals.at_tolerance = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < count; ++j) {
    const double theta = std::abs(ritz_values[static_cast<std::size_t>(j)]);
    const double backward = a + theta * b;
    const double unit = norm_ == LobpcgNorm::backward ? backward : norm_ == LobpcgNorm::relative ? theta : 1;
    const double residual = std::sqrt(squares.r(j));
    residuals.finest = std::min(residuals.finest, tolerance_ * unit / backward);
    // Of A = 0 and theta = 0 residuals are 0.
    if (backward > 0) residuals.at_tolerance = std::min(residuals.at_tolerance, tolerance_ * backward);
    residuals.norms.push_back(residual);
    residuals.scaled.push_back(residual == 0 ? 0 : residual / (unit * std::sqrt(squares.x(j))));
  }
  return residuals;
}

Index ConvergenceTest::converged(const ResidualNorms& residuals) const {
  const auto end = std::find_if(residuals.scaled.begin(), residuals.scaled.end(),
                                [&](double r) { return !(r <= tolerance_); });
  return end - residuals.scaled.begin();
}

double ConvergenceTest::largest(const ResidualNorms& residuals, Index count) const {
  return *std::max_element(residuals.scaled.begin(), residuals.scaled.begin() + count) / tolerance_;
}

void Progress::note(Index converged, double largest, double sum, double rounding) {
  ++since_;
  // Against what was when something last became better: slow progress is progress.
  if (!(converged > converged_ || largest < 0.9 * largest_ || sum < sum_ - rounding)) return;
  converged_ = std::max(converged_, converged);
  largest_ = std::min(largest_, largest);
  sum_ = std::min(sum_, sum);
  since_ = 0;
}

}  // namespace tessera::detail
