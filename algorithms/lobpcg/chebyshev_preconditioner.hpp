// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <utility>

#include <tessera/algorithms/lobpcg/beyond_wanted_end.hpp>

namespace tessera {

struct ChebyshevOptions {
  EigenEnd end = EigenEnd::smallest;
  int degree = 8;  ///< multiplications by A in an application
  std::optional<double> shift{};
  /// The unwanted eigenvalues of A, a < b. By default from the block's innermost Ritz value (times b_norm) to
  /// A's norm_bound().
  std::optional<std::pair<double, double>> interval{};
  double b_norm = 1;  ///< about x^T B x / x^T x
};

/// w := p(A) r, p the polynomial of `degree` steps of the Chebyshev iteration for (A - sigma I) w = r on the
/// interval of the unwanted eigenvalues (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// Algorithm 12.1). With A's spectrum on the wanted side of the interval's far end p(A) is definite, also if
/// sigma lies inside the spectrum; an interval in which, or beyond which, the shift has come to lie is moved.
/// Cost: `degree` multiplications of all columns by A, counted here and not by the solver, and after each of
/// them a pass that reads four blocks of vectors and writes three (ChebyshevStep); memory for three blocks.
template <class T>
class ChebyshevPreconditioner final : public Preconditioner<T> {
 public:
  /// @param a must outlive it
  ChebyshevPreconditioner(Runtime& runtime, const SymmetricOperator<T>& a,
                          const ChebyshevOptions& options = {});
  const char* name() const override { return "chebyshev"; }
  Index work_blocks() const override { return 3; }
  const RowSegments* segments() const override { return a_.segments().get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  double shift() const { return shift_.value(); }
  /// Of A, by the applications submitted so far.
  Index multiplications() const noexcept { return multiplications_; }
  Index columns_multiplied() const noexcept { return columns_multiplied_; }

 private:
  Runtime& runtime_;
  const SymmetricOperator<T>& a_;
  int degree_;
  double b_norm_;
  BeyondWantedEnd shift_;
  std::optional<std::pair<double, double>> interval_;
  std::optional<double> innermost_;
  mutable BlockVectors<T> residual_, direction_, product_;
  mutable Index multiplications_ = 0, columns_multiplied_ = 0;
};

}  // namespace tessera
