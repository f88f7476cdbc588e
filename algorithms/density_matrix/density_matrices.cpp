// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/concurrently.hpp>
#include <tessera/algorithms/density_matrix/function_call.hpp>
#include <tessera/algorithms/density_matrix/solve_density.hpp>
#include <tessera/algorithms/density_matrix/thermal_density.hpp>
#include <tessera/density_matrices.hpp>

namespace tessera::detail {

namespace {

template <class T>
double weight_of(const DensityBatch<T>& batch, std::size_t k) {
  return batch.weights.empty() ? 1 : batch.weights[k];
}

template <class T>
void require_batch(const Runtime& runtime, const DensityBatch<T>& batch, const DensityOptions& options) {
  if (batch.problems.empty()) throw InvalidArgument("problems", "none", "at least one");
  for (const DensityProblem<T>& problem : batch.problems) require_density(runtime, problem, options);
  if (!batch.weights.empty() && batch.weights.size() != batch.problems.size())
    throw InvalidArgument("weights", fmt::format("{} numbers", batch.weights.size()),
                          fmt::format("one for each of the {} problems, or none", batch.problems.size()));
  for (const double weight : batch.weights)
    if (!(weight >= 0) || std::isinf(weight))
      throw InvalidArgument("weights", fmt::to_string(weight), "numbers of at least 0");
  if (!batch.common_chemical_potential) return;
  const DensityMethod method = chosen_method(batch.problems.front(), options);
  for (const DensityProblem<T>& problem : batch.problems) {
    if (problem.temperature == 0)
      throw InvalidArgument("common_chemical_potential", "true", "false without a temperature");
    if (problem.chemical_potential)
      throw InvalidArgument("common_chemical_potential", "true", "false where chemical potentials are given");
    if (problem.temperature != batch.problems.front().temperature)
      throw InvalidArgument("temperature", fmt::to_string(problem.temperature),
                            fmt::format("{}, that of the first problem", batch.problems.front().temperature));
    if (chosen_method(problem, options) != method)
      throw InvalidArgument("method", to_string(chosen_method(problem, options)), to_string(method));
  }
}

template <class T>
std::uint64_t batch_hash(const DensityBatch<T>& batch, const DensityOptions& options) {
  std::uint64_t hash = argument_hash(batch.problems.size(), batch.common_chemical_potential);
  for (const DensityProblem<T>& problem : batch.problems)
    hash = argument_hash(hash, density_hash(problem, options));
  for (const double weight : batch.weights) hash = argument_hash(hash, weight);
  return hash;
}

/// Sums, and what concerns all.
template <class T>
void sum_up(const DensityBatch<T>& batch, DensityBatchResult<T>& all) {
  constexpr double infinity = std::numeric_limits<double>::infinity(),
                   none = std::numeric_limits<double>::quiet_NaN();
  all.chemical_potential = none;
  const auto failed = std::find_if(all.results.begin(), all.results.end(),
                                   [](const DensityResult<T>& result) { return !result; });
  if (failed != all.results.end()) return all.set_status(failed->status());
  all.gap = {{-infinity, -infinity}, {infinity, infinity}};
  // A comparison with NaN must not forget it.
  const auto higher = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? none : std::max(a, b);
  };
  const auto lower = [](double a, double b) {
    return std::isnan(a) || std::isnan(b) ? none : std::min(a, b);
  };
  for (std::size_t k = 0; k < all.results.size(); ++k) {
    const DensityResult<T>& result = all.results[k];
    const double weight = weight_of(batch, k);
    all.energy += weight * result.energy;
    all.electrons += weight * result.electrons;
    all.entropy += weight * result.entropy;
    all.free_energy += weight * result.free_energy;
    all.gap.homo = {higher(all.gap.homo.lower, result.gap.homo.lower),
                    higher(all.gap.homo.upper, result.gap.homo.upper)};
    all.gap.lumo = {lower(all.gap.lumo.lower, result.gap.lumo.lower),
                    lower(all.gap.lumo.upper, result.gap.lumo.upper)};
  }
  if (batch.common_chemical_potential) all.chemical_potential = all.results.front().chemical_potential;
}

template <class T>
DensityBatchResult<T> solve_batch(Runtime& runtime, const DensityBatch<T>& batch, DensityOptions options) {
  // The caller's monitor need not know of threads.
  std::mutex one_step;
  if (options.monitor)
    options.monitor = [&one_step, monitor = options.monitor](const IterationStep& step) {
      const std::lock_guard lock(one_step);
      return monitor(step);
    };
  DensityBatchResult<T> all;
  all.results.resize(batch.problems.size());
  if (batch.common_chemical_potential)
    solve_thermal_densities<T>(runtime, batch.problems, batch.weights,
                               chosen_method(batch.problems.front(), options), options, all.results);
  else
    concurrently(runtime, batch.problems.size(),
                 [&](std::size_t k) { all.results[k] = solve_density(runtime, batch.problems[k], options); });
  sum_up(batch, all);
  return all;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Completion<DensityBatchResult<T>> submit_density_matrices(Runtime& runtime, const DensityBatch<T>& batch,
                                                          const DensityOptions& options) {
  return submit_call<DensityBatchResult<T>>(
      "submit_density_matrices", runtime, batch_hash(batch, options),
      [&] { require_batch(runtime, batch, options); },
      [&runtime, batch, options] { return solve_batch(runtime, batch, options); });
}

template <class T>
DensityBatchResult<T> density_matrices(Runtime& runtime, const DensityBatch<T>& batch,
                                       const DensityOptions& options) {
  return collectively(
      runtime, "density_matrices", batch_hash(batch, options),
      [&] { require_batch(runtime, batch, options); }, [&] { return solve_batch(runtime, batch, options); });
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template Completion<DensityBatchResult<T>> submit_density_matrices<T>(Runtime&, const DensityBatch<T>&, \
                                                                        const DensityOptions&);           \
  template DensityBatchResult<T> density_matrices<T>(Runtime&, const DensityBatch<T>&, const DensityOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
