// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/matrix_sign.hpp>

#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_matrix_sign{.least_order = 2, .most_order = 7};

/// The smallest share of its norm at which an eigenvalue of X, T = X^2, begins, below 1.
template <class T>
Contraction sign_contraction(Runtime& runtime, const BlockSparseMatrix<T>& square, int order) {
  // An eigenvalue nearer to 0 than this costs some steps more, and no wrong sign.
  constexpr double least = 1e-8;
  const ExtremalResult ends = extremal_eigenvalues<T>(runtime, {.a = square}, {.tolerance = 1e-3});
  if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
  const double lower = std::max({ends.lowest.bound, 0.1 * ends.lowest.value, least});
  return {inverse_root_map(order), {lower, std::max(1.02 * ends.highest.bound, lower)}};
}

}  // namespace

template <class T>
double iterate_sign(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& x, const MatrixFunctionOptions& options) {
  constexpr const char* stage = "matrix_sign";
  const int order = options.order > 0 ? options.order : 2;
  ConvergenceTest<T> test(stage, options, order, x.rows());
  Contraction contraction;
  for (Index iteration = 1;; ++iteration) {
    auto square = algebra.product(1, x, x, x.layout());
    if (iteration == 1 && options.scaled && x.symmetry() != Symmetry::none)
      contraction = sign_contraction(algebra.runtime(), square, order);
    algebra.add(-1, square, 1, algebra.identity(x.layout()));
    const double convergence = relative_norm(square);
    const bool last = test.last_step(iteration, convergence, contraction.near_one());
    const double scale = last ? 1 : contraction.next_scale();
    // Y = I - scale X^2
    if (scale != 1) algebra.add(scale, square, 1 - scale, algebra.identity(x.layout()));
    const auto w = inverse_root_terms(algebra, order, std::move(square));
    algebra.product(std::sqrt(scale), x, w, std::sqrt(scale), x);
    algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, x);
    if (last) return test.estimate(convergence);
  }
}

template <class T>
MatrixFunctionResult<T> solve_matrix_sign(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                          const MatrixFunctionOptions& options) {
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    const double bound = std::min(frobenius_norm(problem.a), gershgorin_norm(problem.a));
    if (!std::isfinite(bound))
      throw IterationEnded{{StatusCode::not_finite, "matrix_sign", 0, "NaN or infinity in the matrix"}};
    result.value = algebra.copied(problem.a);
    if (bound == 0) {
      if (problem.a.rows() > 0)
        throw IterationEnded{{StatusCode::stagnated, "matrix_sign", 0, "a matrix of zeros has no sign"}};
      return;
    }
    algebra.scale(1 / bound, result.value);
    result.error = iterate_sign(algebra, result.value, options);
    if (!options.check) return;
    algebra.set_filter_eps(0);
    auto rest = algebra.copied(algebra.identity(result.value.layout()));
    algebra.product(-1, result.value, result.value, 1, rest);
    result.error = relative_norm(rest);
    algebra.count_products();
  });
  return result;
}

#define TESSERA_INSTANTIATE(T) \
  template double iterate_sign<T>(BlockAlgebra<T>&, BlockSparseMatrix<T>&, const MatrixFunctionOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(matrix_sign, MatrixFunctionResult<T>, MatrixFunctionProblem)
#define TESSERA_INSTANTIATE(T) \
  TESSERA_INSTANTIATE_FUNCTION(T, matrix_sign, MatrixFunctionResult<T>, MatrixFunctionProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
