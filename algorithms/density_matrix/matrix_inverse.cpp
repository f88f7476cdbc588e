// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_matrix_inverse{.least_order = 2, .most_order = 3, .takes_start = true};
constexpr FunctionNeeds needs_matrix_inverse_root{.half_stored = true};

/// t := A X of a Newton step of order p: 1 - (1 - t)^p.
SpectralMap inverse_map(int order) {
  return [order](double t) { return 1 - std::pow(1 - t, order); };  // negative beyond convergence
}

/// Where the inverse begins, and of a half-stored A what the spectrum of A X is.
template <class T>
BlockSparseMatrix<T> start_of_inverse(BlockAlgebra<T>& algebra, const MatrixFunctionProblem<T>& problem,
                                      int order, bool scaled, Contraction& contraction) {
  const BlockSparseMatrix<T>& a = problem.a;
  if (problem.start) return algebra.in_layout(*problem.start, a.layout());
  if (a.symmetry() != Symmetry::none) {
    const PositiveInterval ends = positive_interval(algebra.runtime(), a, "matrix_inverse");
    const double c = (ends.lower + ends.upper) / 2;
    if (scaled) contraction = {inverse_map(order), ends.over(c)};
    return algebra.sum({{1 / c, &algebra.identity(a.layout())}});
  }
  // ||A||_1 ||A||_inf is at least ||A||_2^2.
  auto adjoint = algebra.in_sequence([&](Sequence& sequence) { return transpose(sequence, a, true); });
  adjoint = algebra.in_layout(adjoint, a.layout());
  algebra.scale(1 / (gershgorin_norm(a) * gershgorin_norm(adjoint)), adjoint);
  return adjoint;
}

/// ||I - B||_F / sqrt(n)
template <class T>
double distance_to_identity(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& b) {
  const auto rest = algebra.sum({{-1, &b}, {1, &algebra.identity(b.layout())}});
  return relative_norm(rest);
}

}  // namespace

template <class T>
MatrixFunctionResult<T> solve_matrix_inverse(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                             const MatrixFunctionOptions& options) {
  constexpr const char* stage = "matrix_inverse";
  const BlockSparseMatrix<T>& a = problem.a;
  const int order = options.order > 0 ? options.order : 2;
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    if (a.rows() > 0 && !(gershgorin_norm(a) > 0))
      throw IterationEnded{{std::isnan(gershgorin_norm(a)) ? StatusCode::not_finite : StatusCode::breakdown,
                            stage, 0, "a matrix of zeros, or with NaN, has no inverse"}};
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    ConvergenceTest<T> test(stage, options, order, a.rows());
    Contraction contraction;
    if (a.rows() == 0) {
      result.value = algebra.copied(a);
      return;
    }
    auto& x = result.value = start_of_inverse(algebra, problem, order, options.scaled, contraction);
    // A X in both halves: X A X is exactly Hermitian for a Hermitian X, X (A X)_half is not.
    const BlockLayout full = full_layout(a.layout());
    bool last = false;
    for (Index iteration = 1; !last; ++iteration) {
      const auto b = algebra.product(1, a, x, full);
      const double convergence = distance_to_identity(algebra, b);
      last = test.last_step(iteration, convergence, contraction.near_one());
      const double scale = last ? 1 : contraction.next_scale(), square = scale * scale;
      if (order == 2) {
        // 2 s X - s^2 X A X
        auto next = algebra.sum({{2 * scale, &x}});
        algebra.product(-square, x, b, 1, next);
        x = std::move(next);
      } else {
        // 3 s X - 3 s^2 X A X + s^3 X A X A X
        const auto xb = algebra.product(1, x, b, a.layout());
        auto next = algebra.sum({{3 * scale, &x}, {-3 * square, &xb}});
        algebra.product(square * scale, xb, b, 1, next);
        x = std::move(next);
      }
      algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, x);
      result.error = test.estimate(convergence);
    }
    if (!options.check) return;
    algebra.set_filter_eps(0);
    result.error = distance_to_identity(algebra, algebra.product(1, a, x, full));
    algebra.count_products();
  });
  return result;
}

namespace {

/// B A^p by squares; B may be anything that commutes with A.
template <class T>
BlockSparseMatrix<T> times_power(BlockAlgebra<T>& algebra, BlockSparseMatrix<T> b, BlockSparseMatrix<T> a,
                                 int p) {
  for (;;) {
    if (p % 2 == 1) b = algebra.product(1, a, b, b.layout());
    if ((p /= 2) == 0) return b;
    a = algebra.product(1, a, a, a.layout());
  }
}

}  // namespace

template <class T>
MatrixFunctionResult<T> solve_matrix_inverse_root(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                                  const MatrixFunctionOptions& options) {
  constexpr const char* stage = "matrix_inverse_root";
  const BlockSparseMatrix<T>& a = problem.a;
  const int p = options.root;
  const auto map = [p](double t) { return t < p + 1 ? t * std::pow((p + 1 - t) / p, p) : -1; };
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    // Both halves are stored: see coupled_square_roots.
    const BlockLayout layout = full_layout(a.layout());
    if (a.rows() == 0) {
      result.value = algebra.copied(a);
      return;
    }
    const PositiveInterval ends = positive_interval(runtime, a, stage);
    ConvergenceTest<T> test(stage, options, 2, a.rows());
    const double c = ends.upper;
    Contraction contraction;
    if (options.scaled) contraction = {map, ends.over(c)};
    auto m = algebra.in_layout(a, layout);
    algebra.scale(1 / c, m);
    auto x = algebra.sum({{std::pow(c, -1.0 / p), &algebra.identity(layout)}});
    bool last = false;
    for (Index iteration = 1; !last; ++iteration) {
      const auto& identity = algebra.identity(layout);
      const double convergence = relative_norm(algebra.sum({{-1, &m}, {1, &identity}}));
      last = test.last_step(iteration, convergence, contraction.near_one());
      // s M instead of M, s^{1/p} X instead of X
      const double scale = last ? 1 : contraction.next_scale();
      const auto w = algebra.sum({{-scale / p, &m}, {(p + 1.0) / p, &identity}});
      algebra.product(std::pow(scale, 1.0 / p), x, w, 0, x);
      if (scale != 1) algebra.scale(scale, m);
      if (!last) m = times_power(algebra, std::move(m), algebra.copied(w), p);
      algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, x);
      result.error = test.estimate(convergence);
    }
    result.value = algebra.hermitian_part(x, a.layout());
    algebra.finish();
    if (!options.check) return;
    algebra.set_filter_eps(0);
    const auto full = algebra.in_layout(result.value, layout);
    result.error = distance_to_identity(algebra, times_power(algebra, algebra.in_layout(a, layout), full, p));
    algebra.count_products();
  });
  return result;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(matrix_inverse, MatrixFunctionResult<T>, MatrixFunctionProblem)
TESSERA_DEFINE_FUNCTION(matrix_inverse_root, MatrixFunctionResult<T>, MatrixFunctionProblem)
#define TESSERA_INSTANTIATE(T)                                                                    \
  TESSERA_INSTANTIATE_FUNCTION(T, matrix_inverse, MatrixFunctionResult<T>, MatrixFunctionProblem) \
  TESSERA_INSTANTIATE_FUNCTION(T, matrix_inverse_root, MatrixFunctionResult<T>, MatrixFunctionProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
