// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/matrix_sign.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_matrix_sign{.least_order = 2, .most_order = 7};

/// Of X, ||X||_2 at most 1, given T = X^2.
/// @throws IterationEnded where an eigenvalue of X is nearer to 0 than the filter, or rounding, tells from it
template <class T>
Contraction sign_contraction(Runtime& runtime, const BlockSparseMatrix<T>& square, int order,
                             double filter_eps) {
  double lowest = 0;
  const PositiveInterval found = positive_interval_of(runtime, square, lowest);
  // Eigenvalues of X^2 are known to the rounding of its norm, those of X to the root of that.
  const double rounding =
      (100 + 10 * std::sqrt(static_cast<double>(square.rows()))) * static_cast<double>(precision<T>);
  const double blind = std::max(filter_eps, std::sqrt(rounding));
  if (lowest < blind * blind)
    throw IterationEnded{{StatusCode::no_gap, "matrix_sign", 0,
                          fmt::format("an eigenvalue within {:.1e} of 0, relative to the norm", blind)}};
  return {inverse_root_map(order), found};
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
      contraction = sign_contraction(algebra.runtime(), square, order, options.filter_eps);
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
