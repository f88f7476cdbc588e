// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/purification_control.hpp>

namespace tessera::detail {

Idempotency PurificationControl::idempotency_before(const Traces& x, const StepPolynomial& step,
                                                    const Traces& next, double dot, Index order) const {
  const double a = step[2], b = step[1], c = step[0], n = static_cast<double>(order);
  // X^2 = (X_next - b X - c I) / a
  const double cube = (dot - b * x.square - c * x.trace) / a;
  const double fourth =
      (next.square + b * b * x.square + c * c * n - 2 * b * dot - 2 * c * next.trace + 2 * b * c * x.trace) /
      (a * a);
  return idempotency_of(x, cube, fourth);
}

bool PurificationControl::nearly_idempotent(const Traces& x, const Idempotency& found, double grows,
                                            int patience) {
  const double v = found.v();
  still_ = v < 0.1 && v > 0.5 * least_v_ ? still_ + 1 : 0;
  least_v_ = std::min(least_v_, v);
  const double left = grows * v;
  return left < 0.1 && (3 * left * left <= start_.tolerance * x.square ||
                        found.v_squared <= 4 * found.rounding || still_ >= patience);
}

void PurificationControl::expect_next_step(const Traces& x, const Idempotency& found) const {
  // States nearer to each other than the filter, or rounding, tells apart.
  const double resolution = history_.resolution();
  const double blind = std::max(start_.filter_eps, 1e3 * start_.precision) * width();
  const bool exhausted = iteration_ >= start_.iterations, seen = found.v() < 0.2;
  if (!seen && (resolution < 0.1 * blind || (exhausted && resolution < 1e-4 * width())))
    fail(StatusCode::no_gap, x, found, fmt::format("no gap above {:.1e} is seen after", resolution));
  if (exhausted) fail(StatusCode::iterations_exhausted, x, found, "after");
}

void PurificationControl::expect_result(const Traces& x, const Idempotency& found) const {
  if (!(found.v() <= 0.2) || !(std::abs(x.trace - start_.states) <= 0.5))
    fail(StatusCode::no_gap, x, found, "the projector has another number of states after");
}

GapBounds PurificationControl::gap(double moved, Index order) const {
  const double slack = (static_cast<double>(iteration_ + 1) * moved + 100 * start_.precision) * width();
  return history_.gap(slack, 10 * static_cast<double>(order) * moved * moved);
}

void PurificationControl::fail(StatusCode code, const Traces& x, const Idempotency& found,
                               const std::string& what) const {
  throw IterationEnded{{code, start_.stage, iteration_,
                        fmt::format("{} {} steps: {:.6f} states of {:.0f}, ||X - X^2||_F = {:.2e}", what,
                                    iteration_, x.trace, start_.states, found.v())}};
}

StepChoice::StepChoice(const SpectralInterval& spectrum, const std::optional<GapBounds>& gap) {
  if (!gap) return;
  const double width = spectrum.upper - spectrum.lower;
  homo_ = (spectrum.upper - gap->homo.upper) / width;
  lumo_ = (spectrum.upper - gap->lumo.lower) / width;
  known_ = lumo_ >= 0 && homo_ <= 1 && lumo_ < homo_;
}

StretchedStep StepChoice::next(const Traces& x, double states) {
  constexpr double near = 0.01;
  if (known_ && (lumo_ > near || homo_ < 1 - near)) {
    const bool squares = lumo_ + homo_ > 1;
    const StretchedStep step{squares, squares ? 2 / (2 - lumo_) : 2 / (1 + homo_)};
    const StepPolynomial c = step.polynomial();
    for (double* const end : {&homo_, &lumo_}) *end = c[0] + *end * (c[1] + *end * c[2]);
    return step;
  }
  const double squared = x.square, doubled = 2 * x.trace - x.square;
  return {std::abs(squared - states) < std::abs(doubled - states), 1};
}

}  // namespace tessera::detail
