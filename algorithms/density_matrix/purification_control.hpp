// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include <tessera/algorithms/density_matrix/trace_history.hpp>

/// What purifications decide by their traces, whatever their matrices are stored in.
namespace tessera::detail {

/// Traces of an iterate X.
struct Traces {
  double trace = 0;   ///< trace(X)
  double square = 0;  ///< ||X||_F^2 = trace(X^2)
};

/// What a purification begins with.
struct PurificationStart {
  const char* stage = "";       ///< its name in the table
  SpectralInterval spectrum{};  ///< of H', holds all eigenvalues
  double states = 0;            ///< occupied ones, a whole number
  double filter_eps = 0;        ///< of its products
  double precision = 0;         ///< rounding unit of its iterates
  double tolerance = 0;         ///< idempotency ||X^2 - X||_F / ||X||_F that is asked for
  Index iterations = 0;         ///< at most
};

/// The decisions, and the history that they follow from.
class PurificationControl {
 public:
  explicit PurificationControl(const PurificationStart& start) : start_(start), history_(start.spectrum) {}

  /// @param dot trace(X^3)  @param fourth trace(X^4)
  Idempotency idempotency_of(const Traces& x, double dot, double fourth) const {
    // Sums of this size carry their rounding, in double, into their difference; the elements of X^2 that of their type.
    const double rounding = (8e-16 + start_.precision * start_.precision) * x.square;
    return {x.square - 2 * dot + fourth, x.trace - x.square, rounding};
  }
  /// The same of an X of this order before a step of second order, X_next = c I + b X + a X^2, from what is known after it.
  /// @param dot trace(X X_next)
  Idempotency idempotency_before(const Traces& x, const StepPolynomial& step, const Traces& next, double dot,
                                 Index order) const;
  /// McWeeny's step would be the last one: it leaves three times the square. `grows`: by how much at most the step
  /// after `found` has moved X from idempotent. Also where the filter, or rounding, lets X come no nearer.
  /// `patience`: steps for which X may seem to come no nearer on its way.
  bool nearly_idempotent(const Traces& x, const Idempotency& found, double grows, int patience);
  /// A step that began with `found`.
  void add(const Idempotency& found, const StepPolynomial& polynomial, bool keeps_order = true) {
    history_.add(found, polynomial, keeps_order);
    ++iteration_;
  }
  /// The iteration goes on from X.
  /// @throws IterationEnded if it must not
  void expect_next_step(const Traces& x, const Idempotency& found) const;
  /// X, nearly idempotent, is the result; `found` is of the iterate before it.
  /// @throws IterationEnded if it must not be
  void expect_result(const Traces& x, const Idempotency& found) const;
  /// The gap, if each product has moved an eigenvalue of X, of this order, by `moved`.
  GapBounds gap(double moved, Index order) const;
  double chemical_potential() const { return history_.chemical_potential(); }
  Index iteration() const noexcept { return iteration_; }

 private:
  double width() const noexcept { return start_.spectrum.upper - start_.spectrum.lower; }
  [[noreturn]] void fail(StatusCode code, const Traces& x, const Idempotency& found,
                         const std::string& what) const;
  const PurificationStart start_;
  TraceHistory history_;
  Index iteration_ = 0;
  double least_v_ = 1e300;
  int still_ = 0;  ///< steps for which v has not fallen
};

/// A step of second order, and how it is stretched.
struct StretchedStep {
  bool squares;
  double stretch;
  StepPolynomial polynomial() const {
    const double a = stretch;
    if (squares) return {(1 - a) * (1 - a), 2 * a * (1 - a), a * a, 0, 0};
    return {0, 2 * a, -a * a, 0, 0};
  }
};

/// Chooses the steps of second order: by the trace, and as long as the gap is known and far from closed by the
/// states next to it, which are stretched over the whole of [0, 1].
class StepChoice {
 public:
  StepChoice(const SpectralInterval& spectrum, const std::optional<GapBounds>& gap);
  StretchedStep next(const Traces& x, double states);

 private:
  bool known_ = false;
  double homo_ = 1, lumo_ = 0;  ///< of x: the lowest occupied state, the highest other one
};

}  // namespace tessera::detail
