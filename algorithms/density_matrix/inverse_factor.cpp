// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_inverse_factor{
    .half_stored = true, .least_order = 2, .most_order = 5, .takes_start = true};

/// Z^H A Z
template <class T>
BlockSparseMatrix<T> transformed(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                                 const BlockSparseMatrix<T>& z) {
  const auto az = algebra.product(1, a, z, full_layout(a.layout()));
  return algebra.product(1, {z, Op::adjoint}, az, a.layout());
}

}  // namespace

template <class T>
double refine_inverse_factor(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a, BlockSparseMatrix<T>& z,
                             const MatrixFunctionOptions& options,
                             const std::optional<PositiveInterval>& known) {
  constexpr const char* stage = "inverse_factor";
  const int order = options.order > 0 ? options.order : 3;
  ConvergenceTest<T> test(stage, options, order, a.rows());
  Contraction contraction;
  for (Index iteration = 1;; ++iteration) {
    const auto t = transformed(algebra, a, z);
    const auto& identity = algebra.identity(a.layout());
    auto rest = algebra.sum({{-1, &t}, {1, &identity}});
    const double convergence = relative_norm(rest);
    // A refined factor may be near enough.
    const bool far = convergence * std::sqrt(static_cast<double>(a.rows())) > 0.5;
    if (iteration == 1 && options.scaled && far)
      contraction = {inverse_root_map(order),
                     known ? *known : positive_interval(algebra.runtime(), t, stage)};
    const bool last = test.last_step(iteration, convergence, contraction.near_one());
    const double scale = last ? 1 : contraction.next_scale(), root = std::sqrt(scale);
    // I - scale Z^H A Z
    if (scale != 1) algebra.add(scale, rest, 1 - scale, identity);
    const auto w = inverse_root_terms(algebra, order, std::move(rest));
    algebra.product(root, z, w, root, z);
    algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, z);
    if (last) return test.estimate(convergence);
  }
}

template <class T>
MatrixFunctionResult<T> solve_inverse_factor(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                             const MatrixFunctionOptions& options) {
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    result.value = start_of_inverse_factor(algebra, problem.a, problem.start);
    result.error = refine_inverse_factor(algebra, problem.a, result.value, options);
    if (!options.check) return;
    algebra.set_filter_eps(0);
    auto rest = transformed(algebra, problem.a, result.value);
    algebra.add(-1, rest, 1, algebra.identity(problem.a.layout()));
    result.error = relative_norm(rest);
    algebra.count_products();
  });
  return result;
}

template <class T>
BlockSparseMatrix<T> start_of_inverse_factor(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                                             const BlockSparseMatrix<T>* start) {
  if (start) return algebra.in_layout(*start, full_layout(a.layout()));
  return algebra.in_sequence([&](Sequence& sequence) {
    return transpose(sequence, block_diagonal_inverse_cholesky(sequence, a), true);
  });
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template double refine_inverse_factor<T>(BlockAlgebra<T>&, const BlockSparseMatrix<T>&,                 \
                                           BlockSparseMatrix<T>&, const MatrixFunctionOptions&,           \
                                           const std::optional<PositiveInterval>&);                       \
  template BlockSparseMatrix<T> start_of_inverse_factor<T>(BlockAlgebra<T>&, const BlockSparseMatrix<T>&, \
                                                           const BlockSparseMatrix<T>*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(inverse_factor, MatrixFunctionResult<T>, MatrixFunctionProblem)
#define TESSERA_INSTANTIATE(T) \
  TESSERA_INSTANTIATE_FUNCTION(T, inverse_factor, MatrixFunctionResult<T>, MatrixFunctionProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
