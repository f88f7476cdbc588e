// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <vector>

#include <tessera/algorithms/lobpcg/vector_tasks.hpp>
#include <tessera/lobpcg.hpp>

namespace tessera::detail {

/// Norms of A and B from below: the largest that vectors have shown.
struct NormEstimates {
  double a = 0, b = 0;
};

/// Residual norms of the block, ||A x - theta B x||.
struct ResidualNorms {
  std::vector<double> norms;
  std::vector<double> scaled;  ///< divided by the norm that LobpcgNorm chooses
  double finest = 0;           ///< the smallest requested norm, in units of (||A|| + |theta| ||B||) ||x||
  double at_tolerance = 0;     ///< the least tolerance (||A|| + |theta| ||B||) of a column

  bool finite() const;
};

/// Compares residual norms with the tolerance.
class ConvergenceTest {
 public:
  /// @param options resolved ones (checked_options)
  /// @param bounds of the operators' norms, 0 where none is known
  ConvergenceTest(const LobpcgOptions& options, const NormEstimates& bounds)
      : norm_(options.norm), tolerance_(options.tolerance), bounds_(bounds) {}

  void set_tolerance(double tolerance) { tolerance_ = tolerance; }
  /// The residual norms of vectors with these Ritz values; what A X and B X show of the norms goes into
  /// `seen`.
  ResidualNorms measure(const ResidualSquares& squares, const std::vector<double>& ritz_values,
                        NormEstimates& seen) const;
  /// Converged columns, in order from the first.
  Index converged(const ResidualNorms& residuals) const;
  /// Of the first `count` columns, over the tolerance.
  double largest(const ResidualNorms& residuals, Index count) const;
  /// Residuals at the tolerance are too short for their squares, or in float for their elements: what is
  /// measured says nothing about convergence. (Where `absolute` they are as long as the caller says.)
  bool too_short(const ResidualNorms& residuals, double least) const {
    return norm_ != LobpcgNorm::absolute && residuals.at_tolerance < least;
  }
  /// The bound, or what was seen.
  double a_norm(const NormEstimates& seen) const { return bounds_.a > 0 ? bounds_.a : seen.a; }
  double b_norm(const NormEstimates& seen) const { return bounds_.b > 0 ? bounds_.b : seen.b; }

 private:
  LobpcgNorm norm_;
  double tolerance_;
  NormEstimates bounds_;
};

/// Whether anything still becomes better.
class Progress {
 public:
  /// @param largest residual of the wanted columns
  /// @param sum of their Ritz values, smaller towards the wanted end
  /// @param rounding of the sum
  void note(Index converged, double largest, double sum, double rounding);
  bool stagnates() const { return since_ >= max_useless_; }
  void give_another_chance() { since_ = 0; }

 private:
  static constexpr Index max_useless_ = 60;
  Index converged_ = -1, since_ = 0;
  double largest_ = std::numeric_limits<double>::infinity(), sum_ = std::numeric_limits<double>::infinity();
};

}  // namespace tessera::detail
