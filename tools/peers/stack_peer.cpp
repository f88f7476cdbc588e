// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <barrier>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <vector>

#include <fmt/format.h>

#if TESSERA_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

#include <tessera/codelets/blas.hpp>
#include <tessera/runtime/cpu_workers.hpp>
#include <tessera/runtime/error.hpp>

#include "bench_stack.hpp"
#include "process.hpp"
#include "stack_peer.hpp"

namespace tessera::program {

namespace {

int threads_of(const Runtime& runtime) {
  return std::max(1, runtime.info().cpu_workers);
}

/// Runs `work(thread)` on all CPU workers; seconds from the first's start, for which all wait, until the last
/// is done.
double time_on_workers(Runtime& runtime, const std::function<void(int)>& work) {
  const auto threads = static_cast<std::size_t>(threads_of(runtime));
  std::vector<double> start(threads), end(threads);
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  run_on_cpu_workers(runtime, [&](int thread) {
    together.arrive_and_wait();
    start[static_cast<std::size_t>(thread)] = now();
    work(thread);
    end[static_cast<std::size_t>(thread)] = now();
  });
  return *std::max_element(end.begin(), end.end()) - *std::min_element(start.begin(), start.end());
}

/// C := C + A B on one set of blocks, `count` times.
template <class T>
using Repeat = std::function<void(Index count, const T* a, const T* b, T* c)>;

template <class T>
Repeat<T> libxsmm_products([[maybe_unused]] Index m, [[maybe_unused]] Index n, [[maybe_unused]] Index k) {
#if TESSERA_HAVE_LIBXSMM
  const T one(1);
  const int rows = static_cast<int>(m), cols = static_cast<int>(n), inner = static_cast<int>(k);
  const auto repeat = [](auto kernel) -> Repeat<T> {
    if (!kernel) return {};
    return [kernel](Index count, const T* a, const T* b, T* c) {
      for (Index i = 0; i < count; ++i) kernel(a, b, c);
    };
  };
  if constexpr (std::is_same_v<T, double>)
    return repeat(
        libxsmm_dmmdispatch(rows, cols, inner, nullptr, nullptr, nullptr, &one, &one, nullptr, nullptr));
  else if constexpr (std::is_same_v<T, float>)
    return repeat(
        libxsmm_smmdispatch(rows, cols, inner, nullptr, nullptr, nullptr, &one, &one, nullptr, nullptr));
  else
#endif
    return {};
}

template <class T>
Repeat<T> blas_products(Index m, Index n, Index k) {
  return [=](Index count, const T* a, const T* b, T* c) {
    for (Index i = 0; i < count; ++i) blas::gemm(Op::none, Op::none, m, n, k, T(1), a, m, b, k, T(1), c, m);
  };
}

}  // namespace

template <class T>
double time_resident_products(Runtime& runtime, const std::string& library, Index m, Index n, Index k,
                              Index products, std::string& name) {
  const bool xsmm = library == "libxsmm";
  const Repeat<T> repeat = xsmm ? libxsmm_products<T>(m, n, k) : blas_products<T>(m, n, k);
  if (!repeat)
    throw InvalidArgument("--peer", library,
                          fmt::format("blas ({} has no product {} x {} x {} of type {} here)", library, m, n,
                                      k, type_letter<T>));
  name =
      fmt::format("{}, operands in the cache", xsmm ? "libxsmm" : fmt::format("BLAS {}gemm", type_letter<T>));
  const int threads = threads_of(runtime);
  const auto share = [&](int thread) {
    return products * (thread + 1) / threads - products * thread / threads;
  };
  const auto work = [&](int thread, Index count) {
    // Values that keep the sums finite, however many they are.
    const std::vector<T> a(static_cast<std::size_t>(m * k), T(RealOf<T>(0.5))),
        b(static_cast<std::size_t>(k * n), T(RealOf<T>(0.25)));
    std::vector<T> c(static_cast<std::size_t>(m * n), T(static_cast<RealOf<T>>(thread)));
    repeat(count, a.data(), b.data(), c.data());
  };
  time_on_workers(runtime, [&](int thread) { work(thread, std::max<Index>(1, share(thread) / 10)); });
  return time_on_workers(runtime, [&](int thread) { work(thread, share(thread)); });
}

double measure_copy(Runtime& runtime) {
  const auto threads = static_cast<std::size_t>(threads_of(runtime));
  // For each thread two arrays; together larger than what caches hold.
  const std::size_t bytes = std::max<std::size_t>(std::size_t(32) << 20, (std::size_t(512) << 20) / threads);
  double best = HUGE_VAL;
  std::vector<std::vector<char>> from(threads), to = from;
  run_on_cpu_workers(runtime, [&](int thread) {
    from[static_cast<std::size_t>(thread)].assign(bytes, 1);
    to[static_cast<std::size_t>(thread)].assign(bytes, 2);
  });
  for (int round = 0; round < 3; ++round)
    best = std::min(best, time_on_workers(runtime, [&](int thread) {
                      const auto t = static_cast<std::size_t>(thread);
                      std::memcpy(to[t].data(), from[t].data(), bytes);
                    }));
  return 2 * static_cast<double>(bytes * threads) / best;
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template double time_resident_products<T>(Runtime&, const std::string&, Index, Index, Index, Index, \
                                            std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
