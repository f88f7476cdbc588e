// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_problem.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "machine_limits.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Operations that the check of a batch may take.
constexpr double check_flops = 2e10;

/// The larger one; NaN counts as infinite, because in a record it means that nothing was computed.
double larger(double worst, double x) {
  return std::isnan(x) ? HUGE_VAL : std::max(worst, x);
}

template <class T>
double one_norm(const T* a, Index n) {
  double most = 0;
  for (Index j = 0; j < n; ++j) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += std::abs(std::complex<double>(a[i + j * n]));
    most = larger(most, sum);
  }
  return most;
}

struct PairErrors {
  double residual = 0, orthogonality = 0;
};

/// Of one matrix, in its scalar type. `product`: room for n x n.
template <class T>
PairErrors pair_errors(const T* a, Index n, double norm, const RealOf<T>* values, const T* z,
                       std::vector<T>& product) {
  const double unit = static_cast<double>(n) * static_cast<double>(precision<T>);
  PairErrors errors;
  T* const x = product.data();
  blas::gemm<T>(Op::none, Op::none, n, n, n, T(1), a, n, z, n, T(0), x, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) x[i + j * n] -= z[i + j * n] * values[j];
  const double residual = one_norm(x, n);
  errors.residual = residual == 0 ? 0 : residual / (unit * norm);
  blas::gemm<T>(Op::adjoint, Op::none, n, n, n, T(1), z, n, z, n, T(0), x, n);
  for (Index j = 0; j < n; ++j) x[j + j * n] -= T(1);
  errors.orthogonality = one_norm(x, n) / unit;
  return errors;
}

}  // namespace

template <class T>
BatchMatrices<T> measured_batch(Runtime& runtime, Index n, Index count, std::vector<T> a) {
  BatchMatrices<T> batch{n, count, std::move(a), {}, {}};
  batch.norms.resize(static_cast<std::size_t>(count));
  batch.traces.resize(static_cast<std::size_t>(count));
  if (n == 0) return batch;
  parallel_for(cpu_threads(runtime), count, [&](Index k, int) {
    const T* const one = batch.a.data() + k * n * n;
    double trace = 0;
    for (Index i = 0; i < n; ++i) trace += static_cast<double>(real_part(one[i + i * n]));
    batch.norms[static_cast<std::size_t>(k)] = one_norm(one, n);
    batch.traces[static_cast<std::size_t>(k)] = trace;
  });
  return batch;
}

template <class T>
BatchMatrices<T> generate_batch(Runtime& runtime, const std::string& kind, Index n, Index count,
                                std::uint64_t seed) {
  std::vector<T> a(static_cast<std::size_t>(n * n * count));
  if (n > 0)
    parallel_for(cpu_threads(runtime), count, [&](Index k, int) {
      MatrixGenerator<T>::make(kind, n, seed + static_cast<std::uint64_t>(k))
          .fill(0, 0, n, n, a.data() + k * n * n, n);
    });
  return measured_batch(runtime, n, count, std::move(a));
}

BatchSample batch_sample(Index n, Index count, double flop_factor) {
  const double order = static_cast<double>(n), of_one = flop_factor * 4 * order * order * order;
  const Index least = std::min<Index>(count, 2);
  if (of_one == 0 || count == 0) return {1, count};
  const Index number = std::clamp(static_cast<Index>(check_flops / of_one), least, count);
  const Index step = ceil_div(count, std::max<Index>(number, 1));
  return {step, ceil_div(count, step)};
}

namespace {

/// Which matrices have results: 1, or 0 for those that have failed.
template <class T>
std::vector<char> solved(const BatchResults<T>& results, Index count) {
  std::vector<char> good(static_cast<std::size_t>(count), 1);
  for (const BatchFailure& failure : results.failures) good[static_cast<std::size_t>(failure.matrix)] = 0;
  return good;
}

template <class T>
double trace_error(const BatchMatrices<T>& matrices, const BatchResults<T>& results,
                   const std::vector<char>& good) {
  const auto n = static_cast<std::size_t>(matrices.n);
  double worst = 0;
  for (std::size_t k = 0; k < good.size(); ++k) {
    if (!good[k]) continue;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(results.values[k * n + i]);
    const double difference = std::abs(sum - matrices.traces[k]);
    const double unit = static_cast<double>(n) * matrices.norms[k] * static_cast<double>(precision<T>);
    worst = larger(worst, difference == 0 ? 0 : difference / unit);
  }
  return worst;
}

}  // namespace

template <class T>
CheckRecord check_batch(Runtime& runtime, const BatchMatrices<T>& matrices, const BatchResults<T>& results,
                        const BatchSample& sample) {
  const Index n = matrices.n;
  CheckRecord check;
  if (n == 0 || std::ssize(results.failures) == matrices.count) return check;
  const std::vector<char> good = solved(results, matrices.count);
  check.trace = trace_error(matrices, results, good);
  if (results.vectors.empty()) return check;
  const int threads = cpu_threads(runtime);
  std::vector<PairErrors> worst(static_cast<std::size_t>(threads));
  std::vector<std::vector<T>> products(worst.size(), std::vector<T>(static_cast<std::size_t>(n * n)));
  parallel_for(threads, sample.number, [&](Index i, int thread) {
    const Index k = i * sample.step;
    if (!good[static_cast<std::size_t>(k)]) return;
    const auto t = static_cast<std::size_t>(thread);
    const PairErrors errors =
        pair_errors(matrices.a.data() + k * n * n, n, matrices.norms[static_cast<std::size_t>(k)],
                    results.values.data() + k * n, results.vectors.data() + k * n * n, products[t]);
    worst[t].residual = larger(worst[t].residual, errors.residual);
    worst[t].orthogonality = larger(worst[t].orthogonality, errors.orthogonality);
  });
  check.residual = check.orthogonality = 0;
  for (const PairErrors& errors : worst) {
    check.residual = larger(check.residual, errors.residual);
    check.orthogonality = larger(check.orthogonality, errors.orthogonality);
  }
  return check;
}

template <class T>
void compare_batch_values(CheckRecord& check, const BatchMatrices<T>& matrices,
                          const std::vector<RealOf<T>>& values, const std::vector<RealOf<T>>& reference,
                          const std::string& name) {
  check.values = check.values_difference = 0;
  check.values_against = name;
  const auto n = static_cast<std::size_t>(matrices.n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = std::abs(static_cast<double>(values[i]) - static_cast<double>(reference[i]));
    const double unit = static_cast<double>(n) * matrices.norms[i / n] * static_cast<double>(precision<T>);
    check.values_difference = larger(check.values_difference, difference);
    check.values = larger(check.values, difference == 0 ? 0 : difference / unit);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template BatchMatrices<T> measured_batch<T>(Runtime&, Index, Index, std::vector<T>);                    \
  template BatchMatrices<T> generate_batch<T>(Runtime&, const std::string&, Index, Index, std::uint64_t); \
  template CheckRecord check_batch<T>(Runtime&, const BatchMatrices<T>&, const BatchResults<T>&,          \
                                      const BatchSample&);                                                \
  template void compare_batch_values<T>(CheckRecord&, const BatchMatrices<T>&,                            \
                                        const std::vector<RealOf<T>>&, const std::vector<RealOf<T>>&,     \
                                        const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
