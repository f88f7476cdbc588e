// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <complex>
#include <functional>
#include <vector>

#include <fmt/format.h>

#if TESSERA_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>

#include "machine_limits.hpp"
#include "stack_peer.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Computes C := C + A B with the same blocks, `count` times.
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
  const int threads = cpu_threads(runtime);
  const auto share = [&](int thread) {
    return products * (thread + 1) / threads - products * thread / threads;
  };
  const auto work = [&](int thread, Index count) {
    // With these values the sums stay finite for any number of products.
    const std::vector<T> a(static_cast<std::size_t>(m * k), T(RealOf<T>(0.5))),
        b(static_cast<std::size_t>(k * n), T(RealOf<T>(0.25)));
    std::vector<T> c(static_cast<std::size_t>(m * n), T(static_cast<RealOf<T>>(thread)));
    repeat(count, a.data(), b.data(), c.data());
  };
  time_on_workers(runtime, [&](int thread) { work(thread, std::max<Index>(1, share(thread) / 10)); });
  return time_on_workers(runtime, [&](int thread) { work(thread, share(thread)); });
}

bool has_libxsmm() {
#if TESSERA_HAVE_LIBXSMM
  return true;
#else
  return false;
#endif
}

std::string libxsmm_version() {
#if TESSERA_HAVE_LIBXSMM
  return LIBXSMM_VERSION;
#else
  return {};
#endif
}

template <class T>
std::unique_ptr<StackPeer> make_stack_peer(Runtime& runtime, const std::string& library) {
  if (library == "none") return nullptr;
  const bool xsmm = library == "libxsmm";
  if (!xsmm && library != "blas") throw InvalidArgument("--peer", library, "none, libxsmm or blas");
  PeerTraits traits{
      library, xsmm ? libxsmm_version() : runtime.info().blas,
      first_of({needs_one_process(runtime), needs_build_with(!xsmm || has_libxsmm(), "libxsmm")}),
      cpu_threads(runtime)};
  return std::make_unique<CallPeer<StackPeerProblem, NoResult>>(
      std::move(traits), [&runtime, library](StackPeerProblem& p, NoResult&, std::string& name) {
        return time_resident_products<T>(runtime, library, p.m, p.n, p.k, p.products, name);
      });
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template double time_resident_products<T>(Runtime&, const std::string&, Index, Index, Index, Index, \
                                            std::string&);                                            \
  template std::unique_ptr<StackPeer> make_stack_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
