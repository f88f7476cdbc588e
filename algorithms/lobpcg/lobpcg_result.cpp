// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include <tessera/algorithms/lobpcg/lobpcg_result.hpp>

namespace tessera::detail {

template <class T>
LobpcgStep history_step(const LobpcgState<T>& s, const ConvergenceTest& test, Index count,
                        const Sequence& sequence, double seconds) {
  LobpcgStep step;
  step.iteration = s.iteration;
  step.converged = std::min(test.converged(s.residuals), count);
  step.active = s.x.columns - s.locked;
  step.largest_residual = test.largest(s.residuals, count);
  step.values = s.ritz_values;
  step.residuals = s.residuals.scaled;
  step.seconds = seconds;
  step.multiply_seconds = sequence.busy_seconds("multiply");
  step.preconditioner_seconds = sequence.busy_seconds("preconditioner");
  step.dense_seconds = sequence.busy_seconds("dense");
  step.waiting_seconds =
      std::max(0.0, step.seconds - step.multiply_seconds - step.preconditioner_seconds - step.dense_seconds);
  return step;
}

template <class T>
void fill_result(LobpcgState<T>& s, const ConvergenceTest& test, Index count, LobpcgResult<T>& result) {
  // Numbers after a task that could not be carried out are none.
  const bool known = result.status().code != StatusCode::task_failed;
  const auto wanted = known ? static_cast<std::size_t>(std::min(count, s.x.columns)) : 0;
  const auto first_wanted = [&](const std::vector<double>& all) {
    return std::vector<double>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(wanted));
  };
  result.iterations = s.iteration;
  result.restarts = s.restarts;
  result.columns_multiplied = s.multiplications.columns;
  result.multiplications = s.multiplications.calls;
  result.values = first_wanted(s.ritz_values);
  if (result.status().code == StatusCode::not_finite) {
    result.residuals.assign(wanted, std::numeric_limits<double>::quiet_NaN());
    result.scaled_residuals = result.residuals;
  } else if (wanted > 0) {
    result.converged = std::min(test.converged(s.residuals), count);
    result.residuals = first_wanted(s.residuals.norms);
    result.scaled_residuals = first_wanted(s.residuals.scaled);
  }
  result.vectors = std::move(s.x.v);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template LobpcgStep history_step(const LobpcgState<T>&, const ConvergenceTest&, Index, const Sequence&, \
                                   double);                                                               \
  template void fill_result(LobpcgState<T>&, const ConvergenceTest&, Index, LobpcgResult<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
