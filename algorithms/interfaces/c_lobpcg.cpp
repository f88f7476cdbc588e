// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/algorithms/interfaces/c_operators.hpp>

using namespace tessera;
using namespace tessera::c_interface;

namespace {

LobpcgOptions options_of(const tessera_lobpcg_options* given) {
  if (!given) return {};
  if (given->norm < TESSERA_NORM_BACKWARD || given->norm > TESSERA_NORM_ABSOLUTE)
    throw InvalidArgument("norm", std::to_string(given->norm), "one of enum tessera_lobpcg_norm");
  if (given->method < TESSERA_METHOD_LOBPCG || given->method > TESSERA_METHOD_LANCZOS)
    throw InvalidArgument("method", std::to_string(given->method), "one of enum tessera_eigen_method");
  LobpcgOptions options{.count = given->count,
                        .method = static_cast<EigenMethod>(given->method),
                        .block = given->block,
                        .basis = given->basis,
                        .end = given->largest ? EigenEnd::largest : EigenEnd::smallest,
                        .tolerance = given->tolerance,
                        .norm = static_cast<LobpcgNorm>(given->norm),
                        .variant = given->basic ? LobpcgVariant::basic : LobpcgVariant::orthonormal,
                        .iterations = given->iterations,
                        .lock = given->lock != 0,
                        .seed = given->seed};
  const auto text = [](const char* of) { return std::string(of ? of : ""); };
  options.checkpoint = {.path = text(given->checkpoint),
                        .iterations = given->checkpoint_iterations,
                        .seconds = given->checkpoint_seconds,
                        .label = text(given->checkpoint_label)};
  options.resume = text(given->resume);
  if (given->monitor)
    options.monitor = [monitor = given->monitor, user = given->monitor_user](const LobpcgStep& step) {
      const tessera_lobpcg_step told{.iteration = step.iteration,
                                     .converged = step.converged,
                                     .active = step.active,
                                     .largest_residual = step.largest_residual,
                                     .block = static_cast<Index>(step.values.size()),
                                     .values = step.values.data(),
                                     .residuals = step.residuals.data(),
                                     .seconds = step.seconds};
      return monitor(&told, user) == 0;
    };
  return options;
}

static_assert(static_cast<int>(LobpcgNorm::absolute) == TESSERA_NORM_ABSOLUTE);
static_assert(static_cast<int>(EigenMethod::lobpcg) == TESSERA_METHOD_LOBPCG);
static_assert(static_cast<int>(EigenMethod::generalized_davidson) == TESSERA_METHOD_GENERALIZED_DAVIDSON);
static_assert(static_cast<int>(EigenMethod::automatic) == TESSERA_METHOD_AUTOMATIC);
static_assert(static_cast<int>(EigenMethod::lanczos) == TESSERA_METHOD_LANCZOS);

/// The caller's row-major array as vectors that the computation keeps; null for none.
template <class T>
std::shared_ptr<const BlockVectors<T>> vectors_of(Runtime& runtime, const SymmetricOperator<T>& a,
                                                  const void* values, Index count, std::string_view name) {
  if (count == 0) return nullptr;
  if (count < 0) throw InvalidArgument(name, std::to_string(count), "a number of vectors, at least 0");
  required(values, name, count);
  auto made = std::make_shared<BlockVectors<T>>(runtime, a.segments(), count);
  made->set(static_cast<const T*>(values), count, count);
  return made;
}

template <class T>
const SymmetricOperator<T>* operator_as(const tessera_operator* a, std::string_view name) {
  if (!a) return nullptr;
  const auto* typed = std::get_if<TypedOperator<T>>(&a->typed);
  if (!typed) throw InvalidArgument(name, "of another scalar type", "that of a");
  return typed->linear.get();
}

struct Outputs {
  double *values, *residuals;
  void* vectors;
  Index ldv;
  tessera_lobpcg_result* result;
};

/// Numbers of pairs; NaN for those that a solve in groups has not come to.
void fill(const std::vector<double>& numbers, Index count, double* to) {
  if (numbers.empty()) return;
  to = std::copy(numbers.begin(), numbers.end(), to);
  std::fill_n(to, count - static_cast<Index>(numbers.size()), std::numeric_limits<double>::quiet_NaN());
}

template <class T>
int solve(const tessera_lobpcg_problem& given, const tessera_lobpcg_options* options, const Outputs& to,
          tessera_completion** completion) {
  Runtime& runtime = *given.a->runtime;
  const SymmetricOperator<T>& a = *operator_as<T>(given.a, "a");
  const LobpcgOptions made = options_of(options);
  required(to.values, "values", made.count);
  if (to.vectors && to.ldv < made.count)
    throw InvalidArgument("ldv", std::to_string(to.ldv), "at least count: " + std::to_string(made.count));
  std::shared_ptr<Preconditioner<T>> preconditioner;
  if (given.preconditioner) {
    const auto* typed = std::get_if<std::shared_ptr<Preconditioner<T>>>(&given.preconditioner->typed);
    if (!typed) throw InvalidArgument("preconditioner", "of another scalar type", "that of a");
    preconditioner = *typed;
  }
  const LobpcgProblem<T> problem{
      .a = &a,
      .b = operator_as<T>(given.b, "b"),
      .preconditioner = std::move(preconditioner),
      .constraints = vectors_of(runtime, a, given.constraints, given.constraint_count, "constraints"),
      .constraint_count = given.constraint_count,
      .guess = vectors_of(runtime, a, given.guess, given.guess_count, "guess"),
      .guess_count = given.guess_count};
  return deliver(submit_lobpcg<T>(runtime, problem, made), completion,
                 [to, count = made.count](Completion<LobpcgResult<T>>& done) {
                   const LobpcgResult<T>& found = done.result();
                   fill(found.values, count, to.values);
                   if (to.residuals) fill(found.residuals, count, to.residuals);
                   if (to.vectors && !found.values.empty())
                     found.vectors.get(static_cast<T*>(to.vectors), to.ldv,
                                       static_cast<Index>(found.values.size()));
                   if (to.result)
                     *to.result = {.converged = found.converged,
                                   .iterations = found.iterations,
                                   .restarts = found.restarts,
                                   .columns_multiplied = found.columns_multiplied,
                                   .multiplications = found.multiplications,
                                   .seconds = found.statistics.total_seconds,
                                   .iterations_before = found.iterations_before,
                                   .checkpoints = found.checkpoints,
                                   .checkpoint_failed = !found.checkpoint_failure.empty()};
                   return code_of(done.status());
                 });
}

int solve_in_type(const tessera_lobpcg_problem* problem, const tessera_lobpcg_options* options,
                  const Outputs& to, tessera_completion** completion) {
  const tessera_lobpcg_problem& given = required(problem, "problem");
  return with_operator(given.a, "a", [&](const auto&, auto t) {
    return solve<typename decltype(t)::type>(given, options, to, completion);
  });
}

}  // namespace

void tessera_lobpcg_problem_init(tessera_lobpcg_problem* problem) {
  if (problem) *problem = {};
}

void tessera_lobpcg_options_init(tessera_lobpcg_options* options) {
  if (!options) return;
  const LobpcgOptions chosen;
  *options = {};
  options->count = chosen.count;
  options->iterations = chosen.iterations;
  options->lock = chosen.lock;
  options->seed = chosen.seed;
  options->checkpoint_seconds = chosen.checkpoint.seconds;
}

int tessera_lobpcg(const tessera_lobpcg_problem* problem, const tessera_lobpcg_options* options,
                   double* values, double* residuals, void* vectors, tessera_index ldv,
                   tessera_lobpcg_result* result) {
  return call_on(problem ? problem->a : nullptr, [&] {
    return solve_in_type(problem, options, {values, residuals, vectors, ldv, result}, nullptr);
  });
}

int tessera_submit_lobpcg(const tessera_lobpcg_problem* problem, const tessera_lobpcg_options* options,
                          double* values, double* residuals, void* vectors, tessera_index ldv,
                          tessera_lobpcg_result* result, tessera_completion** completion) {
  return call_on(problem ? problem->a : nullptr, [&] {
    required(completion, "completion") = nullptr;
    return solve_in_type(problem, options, {values, residuals, vectors, ldv, result}, completion);
  });
}
