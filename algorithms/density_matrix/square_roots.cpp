// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_matrix_square_roots{.half_stored = true, .least_order = 2, .most_order = 5};

/// ||I - Z A Z||_F / sqrt(n) without a filter.
template <class T>
double inverse_root_error(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                          const BlockSparseMatrix<T>& z) {
  algebra.set_filter_eps(0);
  const auto az = algebra.product(1, a, z, full_layout(a.layout()));
  auto rest = algebra.copied(algebra.identity(a.layout()));
  algebra.product(-1, z, az, 1, rest);
  algebra.count_products();
  return relative_norm(rest);
}

}  // namespace

template <class T>
SquareRoots<T> coupled_square_roots(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                                    const MatrixFunctionOptions& options) {
  constexpr const char* stage = "matrix_square_roots";
  const int order = options.order > 0 ? options.order : 3;
  // Y and Z commute but for rounding and the filter. Half of Z Y mirrored is not what both halves are, and the
  // iteration would take that as an error of Y and Z and amplify it: both halves are stored.
  const BlockLayout full = full_layout(a.layout());
  ConvergenceTest<T> test(stage, options, order, a.rows());
  const PositiveInterval ends = positive_interval(algebra.runtime(), a, stage);
  // Y = A / c, Z = I: the first product is Y itself.
  const double c = a.rows() > 0 ? (ends.lower + ends.upper) / 2 : 1;
  SquareRoots<T> found{algebra.in_layout(a, full), algebra.copied(algebra.identity(full)), 0};
  auto &y = found.root, &z = found.inverse_root;
  algebra.scale(1 / c, y);
  Contraction contraction =
      options.scaled && a.rows() > 0 ? Contraction(inverse_root_map(order), ends.over(c)) : Contraction();
  bool last = false;
  for (Index iteration = 1; !last; ++iteration) {
    auto rest = iteration == 1 ? algebra.copied(y) : algebra.product(1, z, y, full);
    algebra.add(-1, rest, 1, algebra.identity(full));
    const double convergence = relative_norm(rest);
    last = test.last_step(iteration, convergence, contraction.near_one());
    const double scale = last ? 1 : contraction.next_scale(), root = std::sqrt(scale);
    // I - scale Z Y
    if (scale != 1) algebra.add(scale, rest, 1 - scale, algebra.identity(full));
    const auto w = inverse_root_terms(algebra, order, std::move(rest));
    algebra.product(root, y, w, root, y);
    if (iteration == 1)
      algebra.add(root, z, root, w);
    else
      algebra.product(root, w, z, root, z);
    algebra.end_step({.stage = stage, .iteration = iteration, .convergence = convergence}, z);
    found.error = test.estimate(convergence);
  }
  algebra.scale(std::sqrt(c), y);
  algebra.scale(1 / std::sqrt(c), z);
  y = algebra.hermitian_part(y, a.layout());
  z = algebra.hermitian_part(z, a.layout());
  return found;
}

template <class T>
SquareRootsResult<T> solve_matrix_square_roots(Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                                               const MatrixFunctionOptions& options) {
  SquareRootsResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    SquareRoots<T> found = coupled_square_roots(algebra, problem.a, options);
    algebra.finish();
    result.error = options.check ? inverse_root_error(algebra, problem.a, found.inverse_root) : found.error;
    result.root = std::move(found.root);
    result.inverse_root = std::move(found.inverse_root);
  });
  return result;
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template SquareRoots<T> coupled_square_roots<T>(BlockAlgebra<T>&, const BlockSparseMatrix<T>&, \
                                                  const MatrixFunctionOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(matrix_square_roots, SquareRootsResult<T>, MatrixFunctionProblem)
#define TESSERA_INSTANTIATE(T) \
  TESSERA_INSTANTIATE_FUNCTION(T, matrix_square_roots, SquareRootsResult<T>, MatrixFunctionProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
