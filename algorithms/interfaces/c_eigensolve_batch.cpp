// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/eigensolve_batch.hpp>
#include <tessera/runtime/caller_streams.hpp>

using namespace tessera;
using namespace tessera::c_interface;

static_assert(max_batch_order == TESSERA_MAX_BATCH_ORDER);

namespace {

/// What has become of each matrix, as numbers.
void write_info(const std::vector<BatchFailure>& failures, int* info, Index count) {
  std::fill_n(info, count, 0);
  for (const BatchFailure& failure : failures) {
    const int number = static_cast<int>(failure.index);
    info[failure.matrix] = failure.code == StatusCode::not_finite ? -number : number;
  }
}

template <class T>
int solve(Runtime& runtime, const tessera_eigen_batch_problem& problem,
          const tessera_eigen_batch_options* options, tessera_eigen_batch_result* result,
          tessera_completion** completion) {
  const tessera_batch_in& a = problem.a;
  const tessera_batch_out& z = problem.vectors;
  const EigenBatchProblem<T> solved{
      .a = {static_cast<const T*>(a.data), a.order, a.count, a.ld, a.stride, uplo_of(a.uplo)},
      .vectors_to = {static_cast<T*>(z.data), z.ld, z.stride},
      .values_to = static_cast<RealOf<T>*>(problem.values)};
  required(problem.values, "values", std::min(a.order, a.count));
  if (problem.use_stream) detail::wait_for_caller_stream(problem.stream);
  if (problem.wait_event) detail::wait_for_caller_event(problem.wait_event);
  const EigensolveBatchOptions chosen{.vectors = z.data != nullptr, .chunk = options ? options->chunk : 0};
  return deliver(submit_eigensolve_batch<T>(runtime, solved, chosen), completion,
                 [problem, result](Completion<EigenBatchResult<T>>& done) {
                   const EigenBatchResult<T>& found = done.result();
                   if (problem.info) write_info(found.failures, problem.info, problem.a.count);
                   if (problem.done_event) detail::record_caller_event(problem.done_event, problem.stream);
                   if (result)
                     *result = {.failed = static_cast<Index>(found.failures.size()),
                                .seconds = done.statistics().total_seconds};
                   return code_of(done.status());
                 });
}

}  // namespace

tessera_batch_in tessera_batch_array(const void* data, tessera_index order, tessera_index count, int uplo) {
  return {.data = data, .order = order, .count = count, .ld = order, .stride = order * order, .uplo = uplo};
}

tessera_batch_out tessera_batch_array_out(void* data, tessera_index order) {
  return {.data = data, .ld = order, .stride = order * order};
}

void tessera_eigen_batch_problem_init(tessera_eigen_batch_problem* problem) {
  if (!problem) return;
  *problem = {};
  problem->type = TESSERA_DOUBLE;
  problem->a.uplo = 'L';
}

void tessera_eigen_batch_options_init(tessera_eigen_batch_options* options) {
  if (options) *options = {.chunk = EigensolveBatchOptions{}.chunk};
}

int tessera_eigensolve_batch(tessera_runtime* runtime, const tessera_eigen_batch_problem* problem,
                             const tessera_eigen_batch_options* options, tessera_eigen_batch_result* result) {
  return call_on(runtime, [&] {
    const tessera_eigen_batch_problem& given = required(problem, "problem");
    return for_type(given.type, [&](auto t) {
      return solve<typename decltype(t)::type>(runtime_of(runtime), given, options, result, nullptr);
    });
  });
}

int tessera_submit_eigensolve_batch(tessera_runtime* runtime, const tessera_eigen_batch_problem* problem,
                                    const tessera_eigen_batch_options* options,
                                    tessera_eigen_batch_result* result, tessera_completion** completion) {
  return call_on(runtime, [&] {
    required(completion, "completion") = nullptr;
    const tessera_eigen_batch_problem& given = required(problem, "problem");
    return for_type(given.type, [&](auto t) {
      return solve<typename decltype(t)::type>(runtime_of(runtime), given, options, result, completion);
    });
  });
}
