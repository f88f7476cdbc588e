// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/format.h>

#if TESSERA_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

#include <tessera/codelets/blas.hpp>
#include <tessera/runtime/error.hpp>

#include "bench_stack.hpp"
#include "process.hpp"

namespace tessera::program {

namespace {

/// Runs `work(thread)` on so many threads at once; seconds until the last is done.
double run_threads(int threads, const std::function<void(int)>& work) {
  const double start = now();
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  for (std::thread& other : others) other.join();
  return now() - start;
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
                              Index products, int threads, std::string& name) {
  const bool xsmm = library == "libxsmm";
  const Repeat<T> repeat = xsmm ? libxsmm_products<T>(m, n, k) : blas_products<T>(m, n, k);
  if (!repeat)
    throw InvalidArgument("--peer", library,
                          fmt::format("blas ({} has no product {} x {} x {} of type {} here)", library, m, n,
                                      k, type_letter<T>));
  name =
      fmt::format("{}, operands in the cache", xsmm ? "libxsmm" : fmt::format("BLAS {}gemm", type_letter<T>));
  double seconds = 0;
  runtime.run_exclusively(1, [&] {
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
    run_threads(threads, [&](int thread) { work(thread, std::max<Index>(1, share(thread) / 10)); });
    seconds = run_threads(threads, [&](int thread) { work(thread, share(thread)); });
  });
  return seconds;
}

double measure_copy(Runtime& runtime, int threads) {
  // For each thread two arrays; together larger than what caches hold.
  const std::size_t bytes = std::max<std::size_t>(std::size_t(32) << 20, (std::size_t(512) << 20) / threads);
  double best = HUGE_VAL;
  runtime.run_exclusively(threads, [&] {
    std::vector<std::vector<char>> from(static_cast<std::size_t>(threads)), to = from;
    const auto touch = [&](int t) {
      from[static_cast<std::size_t>(t)].assign(bytes, 1);
      to[static_cast<std::size_t>(t)].assign(bytes, 2);
    };
    run_threads(threads, touch);
    for (int round = 0; round < 3; ++round)
      best = std::min(best, run_threads(threads, [&](int t) {
                        std::memcpy(to[static_cast<std::size_t>(t)].data(),
                                    from[static_cast<std::size_t>(t)].data(), bytes);
                      }));
  });
  return 2 * static_cast<double>(bytes) * threads / best;
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template double time_resident_products<T>(Runtime&, const std::string&, Index, Index, Index, Index, int, \
                                            std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
