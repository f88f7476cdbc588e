// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_matrix_exponential{};
constexpr FunctionNeeds needs_log_determinant{.half_stored = true, .least_order = 2, .most_order = 5};

/// A bound of what the Taylor polynomial of degree m of exp(x), |x| <= b <= 1/2, leaves out: the geometric series
/// that begins with the next term.
double remainder(double b, int m) {
  double term = 1;
  for (int k = 1; k <= m + 1; ++k) term *= b / k;
  return term / (1 - b / (m + 2));
}

}  // namespace

template <class T>
MatrixFunctionResult<T> solve_matrix_exponential(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                                 const MatrixFunctionOptions& options) {
  constexpr const char* stage = "matrix_exponential";
  const BlockSparseMatrix<T>& a = problem.a;
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    const double bound = gershgorin_norm(a);
    if (!std::isfinite(bound))
      throw IterationEnded{{StatusCode::not_finite, stage, 0, "NaN or infinity in the matrix"}};
    const int squarings = bound > 0.5 ? std::max(0, std::ilogb(bound) + 2) : 0;
    const double scaled = std::ldexp(bound, -squarings);
    // A relative error of the polynomial doubles with each squaring.
    const double tolerance = options.tolerance > 0
                                 ? options.tolerance
                                 : std::max(0.01 * options.filter_eps, static_cast<double>(precision<T>));
    int degree = 1;
    while (remainder(scaled, degree) > std::ldexp(tolerance, -squarings)) ++degree;
    const auto& identity = algebra.identity(a.layout());
    auto x = algebra.sum({{std::ldexp(1.0 / degree, -squarings), &a}, {1, &identity}});
    Index iteration = 0;
    const auto end_step = [&](double convergence) {
      if (++iteration > options.iterations)
        throw IterationEnded{{StatusCode::iterations_exhausted, stage, iteration - 1,
                              fmt::format("{} terms and {} squarings are needed", degree, squarings)}};
      algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, x);
    };
    // Horner: I + A (I + A / 2 (I + A / 3 (...)))
    for (int k = degree - 1; k >= 1; --k) {
      auto next = algebra.copied(identity);
      algebra.product(std::ldexp(1.0 / k, -squarings), a, x, 1, next);
      x = std::move(next);
      end_step(remainder(scaled, degree - k + 1));
    }
    for (int k = 0; k < squarings; ++k) {
      algebra.product(1, x, x, 0, x);
      end_step(0);
    }
    algebra.finish();
    result.value = std::move(x);
    result.error = std::ldexp(remainder(scaled, degree), squarings);
  });
  return result;
}

namespace {

/// sum_i log L_ii of the Cholesky factors, given their inverses.
template <class T>
double log_of_diagonal(const BlockSparseMatrix<T>& inverse_factor) {
  double sum = 0;
  for (const T x : get_diagonal(inverse_factor)) sum -= std::log(static_cast<double>(real_part(x)));
  return sum;
}

/// trace(log(I - E)), ||E||_2 <= bound < 1, from powers of E; two traces a product.
template <class T>
double trace_of_log(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& e, double bound, double tolerance,
                    const MatrixFunctionOptions& options, double& error) {
  constexpr const char* stage = "log_determinant";
  const double n = static_cast<double>(e.rows());
  // What the terms after E^k can come to.
  const auto rest = [&](Index k) {
    return n * std::pow(bound, static_cast<double>(k + 1)) / (static_cast<double>(k + 1) * (1 - bound));
  };
  double sum = -real_part(trace(e));
  auto power = algebra.copied(e);
  Index k = 1;
  for (Index iteration = 1;; ++iteration) {
    // trace(E^{2k}) and, with the next power, trace(E^{2k + 1})
    error = rest(k);
    if (error <= tolerance) return sum;
    if (iteration > options.iterations)
      throw IterationEnded{
          {StatusCode::iterations_exhausted, stage, iteration - 1,
           fmt::format("the series is known to {:.1e}; the tolerance is {:.1e}", error, tolerance)}};
    auto next = BlockSparseMatrix<T>(empty_pattern(algebra.runtime(), e.layout()));
    const ProductSums sums = algebra.product(1, e, power, 0, next);
    sum -= sums.trace / static_cast<double>(++k);
    power = std::move(next);
    algebra.end_step({.stage = stage, .iteration = iteration, .convergence = rest(k)}, power);
  }
}

}  // namespace

template <class T>
LogDeterminantResult solve_log_determinant(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                           const MatrixFunctionOptions& options) {
  LogDeterminantResult result;
  report_iteration(result, [&] {
    const BlockSparseMatrix<T>& a = problem.a;
    if (a.rows() == 0) return;
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    const auto inverse =
        algebra.in_sequence([&](Sequence& sequence) { return block_diagonal_inverse_cholesky(sequence, a); });
    algebra.finish();
    double value = 2 * log_of_diagonal(inverse);
    auto b = algebra.product(1, algebra.product(1, inverse, a, full_layout(a.layout())),
                             {inverse, Op::adjoint}, a.layout());
    algebra.count_products();
    // log det B = 2^k log det B^(1 / 2^k)
    constexpr double near = 0.3;
    double factor = 1;
    for (;;) {
      const PositiveInterval ends = positive_interval(runtime, b, "log_determinant");
      // Around the middle of the spectrum the series is shortest.
      const double c = (ends.lower + ends.upper) / 2,
                   bound = std::max(ends.upper / c - 1, 1 - ends.lower / c);
      if (bound > near) {
        MatrixFunctionOptions of_roots = options;
        of_roots.tolerance = 0;
        b = coupled_square_roots(algebra, b, of_roots).root;
        factor *= 2;
        continue;
      }
      const double tolerance = options.tolerance > 0
                                   ? options.tolerance
                                   : std::max(0.01 * options.filter_eps, static_cast<double>(precision<T>)) *
                                         static_cast<double>(a.rows());
      const auto e = algebra.sum({{-1 / c, &b}, {1, &algebra.identity(a.layout())}});
      algebra.finish();
      double error = 0;
      value += factor * (static_cast<double>(a.rows()) * std::log(c) +
                         trace_of_log(algebra, e, 1.1 * bound, tolerance / factor, options, error));
      result.value = value;
      result.error = factor * error;
      return;
    }
  });
  return result;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(matrix_exponential, MatrixFunctionResult<T>, MatrixFunctionProblem)
TESSERA_DEFINE_FUNCTION(log_determinant, LogDeterminantResult, MatrixFunctionProblem)
#define TESSERA_INSTANTIATE(T)                                                                        \
  TESSERA_INSTANTIATE_FUNCTION(T, matrix_exponential, MatrixFunctionResult<T>, MatrixFunctionProblem) \
  TESSERA_INSTANTIATE_FUNCTION(T, log_determinant, LogDeterminantResult, MatrixFunctionProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
