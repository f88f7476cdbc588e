// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/trace_history.hpp>

namespace tessera::detail {

namespace {

/// Traces of an iterate X.
struct Traces {
  double trace = 0;   ///< trace(X)
  double square = 0;  ///< ||X||_F^2 = trace(X^2)
};

/// @param dot trace(X^3)  @param fourth trace(X^4)
template <class T>
Idempotency idempotency_of(const Traces& x, double dot, double fourth) {
  // Sums of this size carry their rounding, in double, into their difference; the elements of X^2 that of T.
  const double rounding = (8e-16 + std::pow(static_cast<double>(precision<T>), 2)) * x.square;
  return {x.square - 2 * dot + fourth, x.trace - x.square, rounding};
}

/// What the purifications share: the first iterate, the table, and the end.
template <class T>
class Purification {
 public:
  Purification(const char* stage, BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
               const DensityOptions& options)
      : stage_(stage),
        algebra_(algebra),
        problem_(problem),
        options_(options),
        tolerance_(idempotency_tolerance<T>(options)),
        history_(problem.spectrum) {
    const double width = problem.spectrum.upper - problem.spectrum.lower;
    x = algebra.sum({{-1 / width, &problem.hamiltonian},
                     {problem.spectrum.upper / width, &algebra.identity(problem.hamiltonian.layout())}});
    traces = {real_part(trace(x)), std::pow(frobenius_norm(x), 2)};
  }

  BlockSparseMatrix<T> x;
  Traces traces;

  /// McWeeny's step would be the last one: it leaves three times the square. `grows`: by how much at most the step
  /// after `found` has moved X from idempotent. Also where the filter, or rounding, lets X come no nearer.
  /// `patience`: steps for which X may seem to come no nearer on its way.
  bool nearly_idempotent(const Idempotency& found, double grows, int patience) {
    const double v = found.v();
    still_ = v < 0.1 && v > 0.5 * least_v_ ? still_ + 1 : 0;
    least_v_ = std::min(least_v_, v);
    const double left = grows * v;
    return left < 0.1 && (3 * left * left <= tolerance_ * traces.square ||
                          found.v_squared <= 4 * found.rounding || still_ >= patience);
  }

  /// Ends a step that began with `found`.
  void end_step(const Idempotency& found, const StepPolynomial& polynomial, double norm,
                bool keeps_order = true) {
    history_.add(found, polynomial, keeps_order);
    algebra_.end_step({.stage = stage_,
                       .iteration = ++iteration_,
                       .convergence = norm > 0 ? found.v() / norm : 0,
                       .electrons = problem_.occupation * traces.trace,
                       .energy = std::numeric_limits<double>::quiet_NaN()},
                      x);
  }
  /// The iteration goes on.
  void expect_next_step(const Idempotency& found) const {
    // States nearer to each other than the filter, or rounding, tells apart.
    const double width = problem_.spectrum.upper - problem_.spectrum.lower,
                 resolution = history_.resolution();
    const double blind = std::max(options_.filter_eps, 1e3 * static_cast<double>(precision<T>)) * width;
    const bool exhausted = iteration_ >= options_.iterations, seen = found.v() < 0.2;
    if (!seen && (resolution < 0.1 * blind || (exhausted && resolution < 1e-4 * width)))
      fail(StatusCode::no_gap, found, fmt::format("no gap above {:.1e} is seen after", resolution));
    if (exhausted) fail(StatusCode::iterations_exhausted, found, "after");
  }

  /// X, nearly idempotent; `found` is of the iterate before it.
  Projector<T> result(const Idempotency& found) {
    if (found.v() > 0.2 || std::abs(traces.trace - problem_.states) > 0.5)
      fail(StatusCode::no_gap, found, "the projector has another number of states after");
    const GapBounds bounds = gap();
    return {std::move(x), history_.chemical_potential(), bounds};
  }

 private:
  /// By how much a product's filter moves an eigenvalue: by about eps for each block of a row, their signs at random.
  double moved() const {
    const double rows = std::max<double>(static_cast<double>(x.block_rows()), 1);
    return options_.filter_eps * std::sqrt(2 * static_cast<double>(x.pattern().blocks()) / rows);
  }
  /// The gap, with what all products may have moved its bounds.
  GapBounds gap() const {
    const double width = problem_.spectrum.upper - problem_.spectrum.lower;
    const double slack =
        (static_cast<double>(iteration_ + 1) * moved() + 100 * static_cast<double>(precision<T>)) * width;
    return history_.gap(slack, 10 * static_cast<double>(x.rows()) * moved() * moved());
  }
  [[noreturn]] void fail(StatusCode code, const Idempotency& found, const std::string& what) const {
    throw IterationEnded{{code, stage_, iteration_,
                          fmt::format("{} {} steps: {:.6f} states of {:.0f}, ||X - X^2||_F = {:.2e}", what,
                                      iteration_, traces.trace, problem_.states, found.v())}};
  }
  const char* stage_;
  BlockAlgebra<T>& algebra_;
  const OrthonormalProblem<T>& problem_;
  const DensityOptions& options_;
  const double tolerance_;
  TraceHistory history_;
  Index iteration_ = 0;
  double least_v_ = 1e300;
  int still_ = 0;  ///< steps for which v has not fallen
};

}  // namespace

template <class T>
Projector<T> purify_trs4(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                         const DensityOptions& options) {
  Purification<T> state("trs4", algebra, problem, options);
  auto& x = state.x;
  for (;;) {
    BlockSparseMatrix<T> square(BlockPattern::make(algebra.runtime(), x.layout(), {}));
    const ProductSums sums = algebra.product(1, x, x, 0, square, &x);
    const double dot = sums.dot, fourth = sums.frobenius_norm * sums.frobenius_norm;
    const Traces before = state.traces;
    const Idempotency found = idempotency_of<T>(before, dot, fourth);
    // F(x) = x^2 (4 x - 3 x^2), G(x) = x^2 (1 - x)^2
    const double f = 4 * dot - 3 * fourth, g = sums.trace - 2 * dot + fourth;
    const double missing = problem.states - f;
    const double gamma = missing / std::max(g, std::abs(missing) / 100);
    const bool last = std::abs(missing) < 0.5 && state.nearly_idempotent(found, 1, 1);
    StepPolynomial polynomial;
    if (last) {
      // F + 3 G is McWeeny's polynomial.
      auto next = algebra.sum({{3, &square}});
      const ProductSums after = algebra.product(-2, square, x, 1, next);
      x = std::move(next);
      state.traces = {after.trace, after.frobenius_norm * after.frobenius_norm};
      polynomial = {0, 0, 3, -2, 0};
    } else if (gamma > 6) {
      algebra.add(2, x, -1, square);
      state.traces = {2 * before.trace - sums.trace, 4 * before.square - 4 * dot + fourth};
      polynomial = {0, 2, -1, 0, 0};
    } else if (gamma < 0) {
      x = std::move(square);
      state.traces = {sums.trace, fourth};
      polynomial = {0, 0, 1, 0, 0};
    } else {
      // X^2 (gamma I + (4 - 2 gamma) X + (gamma - 3) X^2)
      const auto factor = algebra.sum({{4 - 2 * gamma, &x}, {gamma - 3, &square}});
      auto next = algebra.sum({{gamma, &square}});
      const ProductSums after = algebra.product(1, square, factor, 1, next);
      x = std::move(next);
      state.traces = {after.trace, after.frobenius_norm * after.frobenius_norm};
      polynomial = {0, 0, gamma, 4 - 2 * gamma, gamma - 3};
    }
    state.end_step(found, polynomial, std::sqrt(before.square));
    if (last) return state.result(found);
    state.expect_next_step(found);
  }
}

namespace {

/// The step of second order that follows, and the eigenvalues next to the gap before it.
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
  template <class T>
  explicit StepChoice(const OrthonormalProblem<T>& problem) {
    if (!problem.gap) return;
    const double width = problem.spectrum.upper - problem.spectrum.lower;
    homo_ = (problem.spectrum.upper - problem.gap->homo.upper) / width;
    lumo_ = (problem.spectrum.upper - problem.gap->lumo.lower) / width;
    known_ = lumo_ >= 0 && homo_ <= 1 && lumo_ < homo_;
  }

  StretchedStep next(const Traces& x, double states) {
    constexpr double near = 0.01;
    if (known_ && (lumo_ > near || homo_ < 1 - near)) {
      const bool squares = lumo_ + homo_ > 1;
      const StretchedStep step{squares, squares ? 2 / (2 - lumo_) : 2 / (1 + homo_)};
      homo_ = value(step.polynomial(), homo_);
      lumo_ = value(step.polynomial(), lumo_);
      return step;
    }
    const double squared = x.square, doubled = 2 * x.trace - x.square;
    return {std::abs(squared - states) < std::abs(doubled - states), 1};
  }

 private:
  static double value(const StepPolynomial& c, double x) { return c[0] + x * (c[1] + x * c[2]); }
  bool known_ = false;
  double homo_ = 1, lumo_ = 0;  ///< of x: the lowest occupied state, the highest other one
};

}  // namespace

template <class T>
Projector<T> purify_tc2(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                        const DensityOptions& options) {
  Purification<T> state(problem.gap ? "sp2" : "tc2", algebra, problem, options);
  StepChoice choice(problem);
  auto& x = state.x;
  const double n = static_cast<double>(x.rows());
  for (;;) {
    const Traces before = state.traces;
    const StretchedStep step = choice.next(before, problem.states);
    const auto polynomial = step.polynomial();
    const double a = polynomial[2], b = polynomial[1], c = polynomial[0];
    BlockSparseMatrix<T> next(BlockPattern::make(algebra.runtime(), x.layout(), {}));
    if (b != 0)
      next = c != 0 ? algebra.sum({{b, &x}, {c, &algebra.identity(x.layout())}}) : algebra.sum({{b, &x}});
    const ProductSums sums = algebra.product(a, x, x, b != 0 ? 1 : 0, next, &x);
    x = std::move(next);
    const double after = sums.frobenius_norm * sums.frobenius_norm;
    state.traces = {sums.trace, after};
    // Of X^2 = (next - b X - c I) / a.
    const double dot = (sums.dot - b * before.square - c * before.trace) / a;
    const double fourth = (after + b * b * before.square + c * c * n - 2 * b * sums.dot - 2 * c * sums.trace +
                           2 * b * c * before.trace) /
                          (a * a);
    const Idempotency found = idempotency_of<T>(before, dot, fourth);
    state.end_step(found, polynomial, std::sqrt(before.square), step.stretch == 1);
    // A step of second order doubles at most what one side lacks.
    if (state.nearly_idempotent(found, 2, 3) && std::abs(state.traces.trace - problem.states) < 0.5)
      return state.result(found);
    state.expect_next_step(found);
  }
}

template <class T>
std::optional<Projector<T>> trivial_projector(BlockAlgebra<T>& algebra,
                                              const OrthonormalProblem<T>& problem) {
  const BlockLayout& layout = problem.hamiltonian.layout();
  const double n = static_cast<double>(problem.hamiltonian.rows());
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   none = std::numeric_limits<double>::quiet_NaN();
  const SpectralInterval ends = problem.spectrum;
  if (problem.states <= 0)
    return Projector<T>{algebra.in_sequence([&](Sequence& sequence) {
                          return zero_matrix<T>(sequence, BlockPattern::make(algebra.runtime(), layout, {}));
                        }),
                        n > 0 ? ends.lower : 0,
                        {{none, none}, {n > 0 ? ends.lower : none, n > 0 ? infinity : none}}};
  if (problem.states >= n)
    return Projector<T>{
        algebra.copied(algebra.identity(layout)), ends.upper, {{-infinity, ends.upper}, {none, none}}};
  return std::nullopt;
}

#define TESSERA_INSTANTIATE(T)                                                         \
  template Projector<T> purify_trs4<T>(BlockAlgebra<T>&, const OrthonormalProblem<T>&, \
                                       const DensityOptions&);                         \
  template Projector<T> purify_tc2<T>(BlockAlgebra<T>&, const OrthonormalProblem<T>&,  \
                                      const DensityOptions&);                          \
  template std::optional<Projector<T>> trivial_projector<T>(BlockAlgebra<T>&, const OrthonormalProblem<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
