// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/matrix_functions.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/thread_work.hpp>

/// What the functions of a matrix have in common: checks, the call, the end of an iteration.
namespace tessera::detail {

/// What a function asks of its matrix and its options.
struct FunctionNeeds {
  bool half_stored = false;  ///< Hermitian, half-stored
  int least_order = 2, most_order = 2;
  bool takes_start = false;
};

/// @throws InvalidArgument
void require_options(const MatrixFunctionOptions& options, const FunctionNeeds& needs);
std::uint64_t options_hash(const MatrixFunctionOptions& options);

/// @throws InvalidArgument
template <class T>
void require_operand(const char* name, const Runtime& runtime, const BlockSparseMatrix<T>& a,
                     bool half_stored) {
  require_made(name, a);
  if (&runtime != &a.runtime()) throw InvalidArgument(name, "a matrix of another Runtime", "the call's");
  require_blocks(name, *a.layout().cols, "its rows", *a.layout().rows);
  const Symmetry wanted = hermitian_layout<T>(a.layout()).symmetry;
  if (kind_of<T>(a.symmetry()) == wanted || (!half_stored && a.symmetry() == Symmetry::none)) return;
  throw InvalidArgument(
      name, "of symmetry " + text_of(a.symmetry()),
      half_stored ? "a half-stored Hermitian matrix" : "a Hermitian matrix, or one without symmetry");
}

/// A public call that is submitted: in one process the work goes on in a thread of its own; on several ranks it is over when
/// the call returns.
template <class Result, class Check, class Work>
Completion<Result> submit_call(std::string_view name, Runtime& runtime, std::uint64_t hash,
                               const Check& check, const Work& work) {
  if (runtime.size() > 1) {
    auto result = std::make_shared<Result>(collectively(runtime, name, hash, check, work));
    return {std::make_unique<FinishedWork<Result>>(result), result};
  }
  return collectively(runtime, name, hash, check, [&] {
    auto result = std::make_shared<Result>();
    auto thread = std::make_unique<ThreadWork<Result>>(runtime, work, result);
    return Completion<Result>(std::move(thread), std::move(result));
  });
}

/// When an iteration of some order has done enough. Its convergence is ||I - T||_F / sqrt(n), T the matrix that is
/// to become the identity.
template <class T>
class ConvergenceTest {
 public:
  ConvergenceTest(const char* stage, const MatrixFunctionOptions& options, int order, Index n)
      : stage_(stage),
        order_(order),
        iterations_(options.iterations),
        root_(std::sqrt(static_cast<double>(n))),
        tolerance_(options.tolerance > 0
                       ? options.tolerance
                       : std::max(0.01 * options.filter_eps, 10 * static_cast<double>(precision<T>))) {}

  /// Whether the step that begins with this convergence, of the iterate before it, is the last one.
  /// @param near_one  it is known that no eigenvalue of T is far from 1
  /// @throws IterationEnded where no further step can help
  bool last_step(Index iteration, double convergence, bool near_one = false) {
    // A mean hides a single eigenvalue that still has its way to go.
    const bool single = !near_one && convergence * root_ > 0.5;
    if (!single && estimate(convergence) <= tolerance_) return true;
    worse_ = convergence < 0.9 * best_ ? 0 : worse_ + 1;
    best_ = std::min(best_, convergence);
    // As near as the filter lets it come: all eigenvalues are near 1, and no step brings them nearer.
    if (!single && worse_ >= 2 && convergence < 0.5) return true;
    if (iteration < iterations_ && (worse_ < 12 || best_ * root_ > 1)) return false;
    const bool exhausted = iteration >= iterations_;
    throw IterationEnded{{exhausted ? StatusCode::iterations_exhausted : StatusCode::stagnated, stage_,
                          iteration,
                          fmt::format("convergence {:.2e} after {} steps; the tolerance is {:.2e}",
                                      convergence, iteration, tolerance_)}};
  }
  /// What the step leaves: of an eigenvalue near 1 at most the p-th power, p its order. All of I - T may be that of a
  /// single eigenvalue, unless it is too much for one near 1.
  double estimate(double convergence) const {
    const double all = convergence * root_;
    if (all < 0.5) return std::pow(all, order_) / std::max(root_, 1.0);
    return convergence < 0.5 ? std::pow(convergence, order_) : convergence;
  }

 private:
  const char* stage_;
  const int order_;
  const Index iterations_;
  const double root_, tolerance_;
  double best_ = 1e300;
  int worse_ = 0;
};

/// ||A||_F / sqrt(n), waiting for A.
template <class T>
double relative_norm(const BlockSparseMatrix<T>& a) {
  return a.rows() > 0 ? frobenius_norm(a) / std::sqrt(static_cast<double>(a.rows())) : 0;
}

/// The public entries of a function `name` of a matrix: solve_##name(runtime, problem, options) does it, what it
/// needs is needs_##name, and problem_hash and require_problem know its problem.
#define TESSERA_DEFINE_FUNCTION(name, Result, Problem)                                             \
  template <class T>                                                                               \
  Completion<Result> submit_##name(Runtime& runtime, const Problem<T>& problem,                    \
                                   const MatrixFunctionOptions& options) {                         \
    return submit_call<Result>(                                                                    \
        "submit_" #name, runtime, problem_hash(problem, options),                                  \
        [&] { require_problem(runtime, problem, options, needs_##name); },                         \
        [&runtime, problem, options] { return solve_##name<T>(runtime, problem, options); });      \
  }                                                                                                \
  template <class T>                                                                               \
  Result name(Runtime& runtime, const Problem<T>& problem, const MatrixFunctionOptions& options) { \
    return collectively(                                                                           \
        runtime, #name, problem_hash(problem, options),                                            \
        [&] { require_problem(runtime, problem, options, needs_##name); },                         \
        [&] { return solve_##name<T>(runtime, problem, options); });                               \
  }
#define TESSERA_INSTANTIATE_FUNCTION(T, name, Result, Problem)                                             \
  template Completion<Result> submit_##name<T>(Runtime&, const Problem<T>&, const MatrixFunctionOptions&); \
  template Result name<T>(Runtime&, const Problem<T>&, const MatrixFunctionOptions&);

template <class T>
std::uint64_t problem_hash(const MatrixFunctionProblem<T>& problem, const MatrixFunctionOptions& options) {
  return argument_hash(shape_hash(problem.a), problem.start ? shape_hash(*problem.start) : 1,
                       options_hash(options));
}
template <class T>
std::uint64_t problem_hash(const PurificationProblem<T>& problem, const MatrixFunctionOptions& options) {
  return argument_hash(shape_hash(problem.density), problem.overlap ? shape_hash(*problem.overlap) : 1,
                       options_hash(options));
}

/// @throws InvalidArgument
template <class T>
void require_problem(const Runtime& runtime, const MatrixFunctionProblem<T>& problem,
                     const MatrixFunctionOptions& options, const FunctionNeeds& needs) {
  require_options(options, needs);
  require_operand("a", runtime, problem.a, needs.half_stored);
  if (!problem.start) return;
  if (!needs.takes_start)
    throw InvalidArgument("start", "a matrix", "none: this function cannot refine a result");
  require_operand("start", runtime, *problem.start, false);
  require_sizes("start", problem.start->layout(), problem.a.layout());
}
/// @throws InvalidArgument
template <class T>
void require_problem(const Runtime& runtime, const PurificationProblem<T>& problem,
                     const MatrixFunctionOptions& options, const FunctionNeeds& needs) {
  require_options(options, needs);
  require_operand("density", runtime, problem.density, true);
  if (!problem.overlap) return;
  require_operand("overlap", runtime, *problem.overlap, true);
  require_sizes("overlap", problem.overlap->layout(), problem.density.layout());
}

}  // namespace tessera::detail
