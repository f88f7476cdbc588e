// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/purification.hpp>
#include <tessera/algorithms/density_matrix/purification_control.hpp>

namespace tessera::detail {

namespace {

/// What the purifications share: the first iterate, the table, and the end.
template <class T>
class Purification {
 public:
  Purification(const char* stage, BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
               const DensityOptions& options)
      : control({.stage = stage,
                 .spectrum = problem.spectrum,
                 .states = problem.states,
                 .filter_eps = options.filter_eps,
                 .precision = static_cast<double>(precision<T>),
                 .tolerance = idempotency_tolerance<T>(options),
                 .iterations = options.iterations}),
        stage_(stage),
        algebra_(algebra),
        problem_(problem),
        options_(options) {
    const double width = problem.spectrum.upper - problem.spectrum.lower;
    x = algebra.sum({{-1 / width, &problem.hamiltonian},
                     {problem.spectrum.upper / width, &algebra.identity(problem.hamiltonian.layout())}});
    traces = {real_part(trace(x)), std::pow(frobenius_norm(x), 2)};
  }

  BlockSparseMatrix<T> x;
  Traces traces;
  PurificationControl control;

  /// Ends a step that began with `found`.
  void end_step(const Idempotency& found, const StepPolynomial& polynomial, double norm,
                bool keeps_order = true) {
    control.add(found, polynomial, keeps_order);
    algebra_.end_step({.stage = stage_,
                       .iteration = control.iteration(),
                       .convergence = norm > 0 ? found.v() / norm : 0,
                       .electrons = problem_.occupation * traces.trace,
                       .energy = std::numeric_limits<double>::quiet_NaN()},
                      x);
  }
  /// X, nearly idempotent; `found` is of the iterate before it.
  Projector<T> result(const Idempotency& found) {
    control.expect_result(traces, found);
    // A product's filter moves an eigenvalue by about eps for each block of a row, their signs at random.
    const double rows = std::max<double>(static_cast<double>(x.block_rows()), 1);
    const double moved =
        options_.filter_eps * std::sqrt(2 * static_cast<double>(x.pattern().blocks()) / rows);
    const GapBounds bounds = control.gap(moved, x.rows());
    return {std::move(x), control.chemical_potential(), bounds};
  }

 private:
  const char* stage_;
  BlockAlgebra<T>& algebra_;
  const OrthonormalProblem<T>& problem_;
  const DensityOptions& options_;
};

}  // namespace

template <class T>
Projector<T> purify_trs4(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                         const DensityOptions& options) {
  Purification<T> state("trs4", algebra, problem, options);
  auto& x = state.x;
  for (;;) {
    BlockSparseMatrix<T> square(empty_pattern(algebra.runtime(), x.layout()));
    const ProductSums sums = algebra.product(1, x, x, 0, square, &x);
    const double dot = sums.dot, fourth = sums.frobenius_norm * sums.frobenius_norm;
    const Traces before = state.traces;
    const Idempotency found = state.control.idempotency_of(before, dot, fourth);
    // F(x) = x^2 (4 x - 3 x^2), G(x) = x^2 (1 - x)^2
    const double f = 4 * dot - 3 * fourth, g = sums.trace - 2 * dot + fourth;
    const double missing = problem.states - f;
    double gamma = missing / std::max(g, std::abs(missing) / 100);
    // Of so many states, all nearly full or empty, what is missing may be rounding: 0 to 6 all square their errors.
    const bool counted = std::abs(missing) < 0.5;
    if (counted && found.v() < 0.1 && (gamma < 0 || gamma > 6)) gamma = 3;
    // The last step leaves three times the square of what it finds, for the step in T that follows.
    const bool last =
        counted && state.control.nearly_idempotent(state.traces, found, std::min(1.0, 3 * found.v()), 1);
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
    state.control.expect_next_step(state.traces, found);
  }
}

template <class T>
Projector<T> purify_tc2(BlockAlgebra<T>& algebra, const OrthonormalProblem<T>& problem,
                        const DensityOptions& options) {
  Purification<T> state(problem.gap ? "sp2" : "tc2", algebra, problem, options);
  StepChoice choice(problem.spectrum, problem.gap);
  auto& x = state.x;
  for (;;) {
    const Traces before = state.traces;
    const StretchedStep step = choice.next(before, problem.states);
    const auto polynomial = step.polynomial();
    const double a = polynomial[2], b = polynomial[1], c = polynomial[0];
    ProductSums sums;
    if (b != 0 && c == 0) {
      sums = algebra.product(a, x, x, b, x, &x);
    } else {
      BlockSparseMatrix<T> next(empty_pattern(algebra.runtime(), x.layout()));
      if (c != 0) next = algebra.sum({{b, &x}, {c, &algebra.identity(x.layout())}});
      sums = algebra.product(a, x, x, c != 0 ? 1 : 0, next, &x);
      x = std::move(next);
    }
    state.traces = {sums.trace, sums.frobenius_norm * sums.frobenius_norm};
    const Idempotency found =
        state.control.idempotency_before(before, polynomial, state.traces, sums.dot, x.rows());
    state.end_step(found, polynomial, std::sqrt(before.square), step.stretch == 1);
    // A step of second order doubles at most what one side lacks.
    if (state.control.nearly_idempotent(state.traces, found, 2, 3) &&
        std::abs(state.traces.trace - problem.states) < 0.5)
      return state.result(found);
    state.control.expect_next_step(state.traces, found);
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
                          return zero_matrix<T>(sequence, empty_pattern(algebra.runtime(), layout));
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
