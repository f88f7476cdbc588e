// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/function_call.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_purify{};

/// P S P - P, and P S in `ps` (empty if S is the identity).
template <class T>
BlockSparseMatrix<T> idempotency_residual(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& p,
                                          const BlockSparseMatrix<T>* s, BlockSparseMatrix<T>& ps) {
  auto rest = algebra.copied(p);
  if (s) {
    ps = algebra.product(1, p, *s, full_layout(p.layout()));
    algebra.product(1, ps, p, -1, rest);
  } else {
    algebra.product(1, p, p, -1, rest);
  }
  return rest;
}

}  // namespace

template <class T>
MatrixFunctionResult<T> solve_purify(Runtime& runtime, const PurificationProblem<T>& problem,
                                     const MatrixFunctionOptions& options) {
  constexpr const char* stage = "purify";
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    auto& p = result.value = algebra.copied(problem.density);
    const double norm = frobenius_norm(p);
    const double tolerance =
        options.tolerance > 0 ? options.tolerance
                              : std::max(0.01 * options.filter_eps, 10 * static_cast<double>(precision<T>));
    BlockSparseMatrix<T> ps;
    double convergence = 1;
    // McWeeny's step leaves three times the square.
    for (Index iteration = 1; norm > 0 && 3 * convergence * convergence > tolerance; ++iteration) {
      auto rest = idempotency_residual(algebra, p, problem.overlap, ps);
      convergence = frobenius_norm(rest) / norm;
      // P <- P - 2 (PS - I/2) (PSP - P) = (P + R) - 2 PS R with R = PSP - P
      algebra.add(1, p, 1, rest);
      const auto& left = problem.overlap ? ps : problem.density;
      if (problem.overlap)
        algebra.product(-2, left, rest, 1, p);
      else
        algebra.product(-2, algebra.sum({{1, &p}, {-1, &rest}}), rest, 1, p);
      algebra.end_step(
          {.stage = stage,
           .iteration = iteration,
           .convergence = convergence,
           .electrons = problem.overlap ? real_part(dot(p, *problem.overlap)) : real_part(trace(p))},
          p);
      if (iteration >= options.iterations && 3 * convergence * convergence > tolerance)
        throw IterationEnded{{StatusCode::iterations_exhausted, stage, iteration,
                              fmt::format("||PSP - P|| / ||P|| = {:.2e}", convergence)}};
    }
    result.error = 3 * convergence * convergence;
    if (!options.check || !(norm > 0)) return;
    algebra.set_filter_eps(0);
    result.error = frobenius_norm(idempotency_residual(algebra, p, problem.overlap, ps)) / norm;
    algebra.count_products();
  });
  return result;
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(purify, MatrixFunctionResult<T>, PurificationProblem)
#define TESSERA_INSTANTIATE(T) \
  TESSERA_INSTANTIATE_FUNCTION(T, purify, MatrixFunctionResult<T>, PurificationProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
