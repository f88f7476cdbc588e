// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/purify.hpp>

namespace tessera::detail {

namespace {

constexpr FunctionNeeds needs_purify{};

/// P S; of the identity P.
template <class T>
BlockSparseMatrix<T> times_overlap(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& p,
                                   const BlockSparseMatrix<T>* s) {
  return s ? algebra.product(1, p, *s, full_layout(p.layout())) : algebra.copied(p);
}

/// (P S) P - P
template <class T>
BlockSparseMatrix<T> idempotency_residual(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& ps,
                                          const BlockSparseMatrix<T>& p) {
  auto rest = algebra.copied(p);
  algebra.product(1, ps, p, -1, rest);
  return rest;
}

template <class T>
double relative_to(const BlockSparseMatrix<T>& rest, double norm) {
  return norm > 0 ? frobenius_norm(rest) / norm : 0;
}

}  // namespace

template <class T>
double mcweeny_step(BlockAlgebra<T>& algebra, BlockSparseMatrix<T>& p, const BlockSparseMatrix<T>* s) {
  const double norm = frobenius_norm(p);
  const auto ps = times_overlap(algebra, p, s);
  const auto rest = idempotency_residual(algebra, ps, p);
  const double before = relative_to(rest, norm);
  // With R = P S P - P: (P + R) - 2 P S R
  algebra.add(1, p, 1, rest);
  algebra.product(-2, ps, rest, 1, p);
  return before;
}

template <class T>
double idempotency_error(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& p,
                         const BlockSparseMatrix<T>* s) {
  const double norm = frobenius_norm(p);
  if (norm == 0) return 0;
  double left_out = 0;
  BlockSparseMatrix<T> ps;
  if (s) {
    ps = BlockSparseMatrix<T>(empty_pattern(algebra.runtime(), full_layout(p.layout())));
    left_out = algebra.product(1, p, *s, 0, ps).left_out;
    // The difference D of P S changes the residual by D P.
    if (left_out > 0) left_out *= gershgorin_norm(p);
  } else {
    ps = algebra.copied(p);
  }
  auto rest = algebra.copied(p);
  left_out += algebra.product(1, ps, p, -1, rest).left_out;
  return (frobenius_norm(rest) + left_out) / norm;
}

template <class T>
double commutator_error(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& h,
                        const BlockSparseMatrix<T>* s, const BlockSparseMatrix<T>& p) {
  const BlockLayout full = full_layout(p.layout());
  const auto ph = algebra.product(1, p, h, full);
  auto commutator = s ? algebra.product(1, *s, ph, full) : algebra.copied(ph);
  const auto adjoint = algebra.in_layout(
      algebra.in_sequence([&](Sequence& sequence) { return transpose(sequence, commutator, true); }), full);
  algebra.add(1, commutator, -1, adjoint);
  algebra.finish();
  return relative_norm(commutator);
}

template <class T>
MatrixFunctionResult<T> solve_purify(Runtime& runtime, const PurificationProblem<T>& problem,
                                     const MatrixFunctionOptions& options) {
  constexpr const char* stage = "purify";
  const BlockSparseMatrix<T>* const s = problem.overlap;
  MatrixFunctionResult<T> result;
  report_iteration(result, [&] {
    BlockAlgebra<T> algebra(runtime, options.filter_eps, options.monitor, result);
    auto& p = result.value = algebra.copied(problem.density);
    const double tolerance =
        options.tolerance > 0 ? options.tolerance
                              : std::max(0.01 * options.filter_eps, 10 * static_cast<double>(precision<T>));
    // A step leaves three times the square.
    double convergence = 1;
    for (Index iteration = 1; 3 * convergence * convergence > tolerance; ++iteration) {
      if (iteration > options.iterations)
        throw IterationEnded{{StatusCode::iterations_exhausted, stage, iteration - 1,
                              fmt::format("||PSP - P||_F / ||P||_F = {:.2e}", convergence)}};
      convergence = mcweeny_step(algebra, p, s);
      algebra.finish();
      algebra.end_step({.stage = stage,
                        .iteration = iteration,
                        .convergence = convergence,
                        .electrons = s ? real_part(dot(p, *s)) : real_part(trace(p))},
                       p);
    }
    result.error = 3 * convergence * convergence;
    if (!options.check) return;
    algebra.set_filter_eps(0);
    result.error = idempotency_error(algebra, p, s);
    algebra.count_products();
  });
  return result;
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template double mcweeny_step<T>(BlockAlgebra<T>&, BlockSparseMatrix<T>&, const BlockSparseMatrix<T>*); \
  template double idempotency_error<T>(BlockAlgebra<T>&, const BlockSparseMatrix<T>&,                    \
                                       const BlockSparseMatrix<T>*);                                     \
  template double commutator_error<T>(BlockAlgebra<T>&, const BlockSparseMatrix<T>&,                     \
                                      const BlockSparseMatrix<T>*, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

TESSERA_DEFINE_FUNCTION(purify, MatrixFunctionResult<T>, PurificationProblem)
#define TESSERA_INSTANTIATE(T) \
  TESSERA_INSTANTIATE_FUNCTION(T, purify, MatrixFunctionResult<T>, PurificationProblem)
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
