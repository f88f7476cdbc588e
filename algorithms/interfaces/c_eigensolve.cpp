// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_eigen_options.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/runtime/caller_streams.hpp>

struct tessera_cholesky_factor {
  std::variant<tessera::CholeskyFactor<float>, tessera::CholeskyFactor<double>,
               tessera::CholeskyFactor<std::complex<float>>, tessera::CholeskyFactor<std::complex<double>>>
      factor;
};

using namespace tessera;
using namespace tessera::c_interface;

namespace {

TileLayout layout_of(const tessera_distribution& distribution, Index rows, Index cols, Uplo uplo) {
  return {.rows = rows,
          .cols = cols,
          .tile_rows = distribution.block_rows,
          .tile_cols = distribution.block_cols,
          .grid = {distribution.grid_rows, distribution.grid_cols, distribution.column_major != 0},
          .uplo = uplo,
          .first_row = distribution.first_row,
          .first_col = distribution.first_col};
}

template <class T>
MatrixInput<T> input_of(const tessera_matrix_in& in) {
  if (!in.data && in.order == 0 && !in.distribution) return {};
  const Uplo uplo = uplo_of(in.uplo);
  const T* data = static_cast<const T*>(in.data);
  if (!in.distribution) return MatrixInput<T>(data, in.order, in.ld, uplo);
  const TileLayout layout = layout_of(*in.distribution, in.array_rows, in.array_cols, uplo);
  if (in.row == 0 && in.col == 0 && in.array_rows == in.order && in.array_cols == in.order)
    return MatrixInput<T>(data, in.ld, layout);
  return MatrixInput<T>(data, in.ld, layout, in.row, in.col, in.order);
}

template <class T>
MatrixOutput<T> output_of(const tessera_matrix_out& out) {
  T* data = static_cast<T*>(out.data);
  if (!out.distribution) return data ? MatrixOutput<T>(data, out.ld) : MatrixOutput<T>();
  return MatrixOutput<T>(data, out.ld,
                         layout_of(*out.distribution, out.array_rows, out.array_cols, Uplo::general), out.row,
                         out.col);
}

template <class T>
int solve(Runtime& runtime, const tessera_eigen_problem& problem, const tessera_eigen_options* options,
          tessera_eigen_result* result, tessera_completion** completion) {
  EigenProblem<T> solved{
      .a = input_of<T>(problem.a), .b = input_of<T>(problem.b), .vectors_to = output_of<T>(problem.vectors)};
  if (problem.b_factor) {
    const auto* factor = std::get_if<CholeskyFactor<T>>(&problem.b_factor->factor);
    if (!factor) throw InvalidArgument("b_factor", "of another scalar type", "that of the problem");
    solved.b_factor = *factor;
  }
  required(problem.values, "values", solved.a.order());
  if (problem.use_stream) detail::wait_for_caller_stream(problem.stream);
  if (problem.wait_event) detail::wait_for_caller_event(problem.wait_event);
  return deliver(submit_eigensolve<T>(runtime, solved, eigen_options_of(options, bool(solved.vectors_to))),
                 completion, [problem, result](Completion<EigenResult<T>>& done) {
                   const EigenResult<T>& found = done.result();
                   std::copy(found.values.begin(), found.values.end(),
                             static_cast<RealOf<T>*>(problem.values));
                   if (problem.done_event) detail::record_caller_event(problem.done_event, problem.stream);
                   if (result)
                     *result = {.count = static_cast<Index>(found.values.size()),
                                .first = found.first,
                                .seconds = done.statistics().total_seconds,
                                .used = eigen_options_from(found.used)};
                   return code_of(done.status());
                 });
}

int make_factor(tessera_runtime* runtime, int type, const tessera_matrix_in* b, bool factorized,
                tessera_cholesky_factor** factor) {
  return call_on(runtime, [&] {
    required(factor, "factor") = nullptr;
    const tessera_matrix_in& given = required(b, "b");
    return for_type(type, [&](auto t) {
      using T = typename decltype(t)::type;
      const CholeskyResult<T> made =
          cholesky_factor<T>(runtime_of(runtime), {.b = input_of<T>(given), .factorized = factorized});
      if (made) *factor = new tessera_cholesky_factor{made.factor};
      return code_of(made.status());
    });
  });
}

}  // namespace

tessera_matrix_in tessera_array(const void* data, tessera_index order, tessera_index ld, int uplo) {
  return {.data = data,
          .order = order,
          .ld = ld,
          .uplo = uplo,
          .distribution = nullptr,
          .array_rows = order,
          .array_cols = order,
          .row = 0,
          .col = 0};
}

tessera_matrix_in tessera_block_cyclic(const void* local, tessera_index order, tessera_index ld, int uplo,
                                       const tessera_distribution* distribution) {
  tessera_matrix_in in = tessera_array(local, order, ld, uplo);
  in.distribution = distribution;
  return in;
}

tessera_matrix_out tessera_array_out(void* data, tessera_index ld) {
  return {
      .data = data, .ld = ld, .distribution = nullptr, .array_rows = 0, .array_cols = 0, .row = 0, .col = 0};
}

tessera_matrix_out tessera_block_cyclic_out(void* local, tessera_index rows, tessera_index cols,
                                            tessera_index ld, const tessera_distribution* distribution) {
  tessera_matrix_out out = tessera_array_out(local, ld);
  out.distribution = distribution;
  out.array_rows = rows;
  out.array_cols = cols;
  return out;
}

int tessera_cholesky_factor_create(tessera_runtime* runtime, int type, const tessera_matrix_in* b,
                                   tessera_cholesky_factor** factor) {
  return make_factor(runtime, type, b, false, factor);
}

int tessera_cholesky_factor_from(tessera_runtime* runtime, int type, const tessera_matrix_in* factored,
                                 tessera_cholesky_factor** factor) {
  return make_factor(runtime, type, factored, true, factor);
}

void tessera_cholesky_factor_free(tessera_cholesky_factor* factor) {
  delete factor;
}

void tessera_eigen_problem_init(tessera_eigen_problem* problem) {
  if (!problem) return;
  *problem = {};
  problem->type = TESSERA_DOUBLE;
  problem->a.uplo = problem->b.uplo = 'L';
}

void tessera_eigen_options_init(tessera_eigen_options* options) {
  if (options) *options = eigen_options_from(EigensolveOptions{});
}

int tessera_eigensolve(tessera_runtime* runtime, const tessera_eigen_problem* problem,
                       const tessera_eigen_options* options, tessera_eigen_result* result) {
  return call_on(runtime, [&] {
    const tessera_eigen_problem& given = required(problem, "problem");
    return for_type(given.type, [&](auto t) {
      return solve<typename decltype(t)::type>(runtime_of(runtime), given, options, result, nullptr);
    });
  });
}

int tessera_submit_eigensolve(tessera_runtime* runtime, const tessera_eigen_problem* problem,
                              const tessera_eigen_options* options, tessera_eigen_result* result,
                              tessera_completion** completion) {
  return call_on(runtime, [&] {
    required(completion, "completion") = nullptr;
    const tessera_eigen_problem& given = required(problem, "problem");
    return for_type(given.type, [&](auto t) {
      return solve<typename decltype(t)::type>(runtime_of(runtime), given, options, result, completion);
    });
  });
}
