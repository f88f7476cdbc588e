// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_peer.hpp"

#include <algorithm>
#include <atomic>
#include <complex>

#include <fmt/format.h>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>

#include "cusolver_batch.hpp"
#include "gpu_libraries.hpp"
#include "machine_limits.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// LAPACK's heevd with the arrays of a thread.
template <class T>
class LapackSolver {
 public:
  LapackSolver(bool vectors, Index n) : job_(vectors ? 'V' : 'N'), n_(n) {
    T a{};
    RealOf<T> w{};
    call(&a, &w, true);
    const Index square = vectors ? 2 * n * n : 0;
    const auto size = [](Index asked, Index least) {
      return static_cast<std::size_t>(std::max(asked, least));
    };
    work_.resize(size(static_cast<Index>(real_part(work_[0])), 1 + 6 * n + square));
    rwork_.resize(size(static_cast<Index>(rwork_[0]), 1 + 5 * n + square));
    iwork_.resize(size(iwork_[0], 3 + 5 * n));
  }
  /// Returns LAPACK's info.
  int operator()(T* a, RealOf<T>* w) { return call(a, w, false); }

 private:
  /// @param query  asks for the sizes of the arrays
  int call(T* a, RealOf<T>* w, bool query) {
    const auto size = [&](const auto& array) { return query ? Index{-1} : static_cast<Index>(array.size()); };
    return blas::heevd<T>(job_, Uplo::lower, n_, a, n_, w, work_.data(), size(work_), rwork_.data(),
                          size(rwork_), iwork_.data(), size(iwork_));
  }

  char job_;
  Index n_;
  std::vector<T> work_{1};
  std::vector<RealOf<T>> rwork_{1};
  std::vector<int> iwork_{1};
};

template <class T>
BatchPeerSolution<T> solve_batch_with_lapack(Runtime& runtime, const BatchPeerProblem<T>& p) {
  const Index n = p.n, square = n * n;
  const auto threads = static_cast<std::size_t>(cpu_threads(runtime));
  BatchPeerSolution<T> solution;
  solution.name = fmt::format("lapack {}{}evd", type_letter<T>, is_complex<T> ? "he" : "sy");
  solution.values.resize(static_cast<std::size_t>(n * p.count));
  std::vector<T> a(p.a, p.a + square * p.count);
  std::vector<LapackSolver<T>> solvers(threads, LapackSolver<T>(p.vectors, n));
  // Each thread takes a few matrices at a time, so that none is idle at the end.
  const Index share = std::clamp<Index>(p.count / static_cast<Index>(16 * threads), 1, 64);
  std::atomic<Index> next = 0;
  std::atomic<int> failure = 0;
  solution.seconds = time_on_workers(runtime, [&](int thread) {
    LapackSolver<T>& solve = solvers[static_cast<std::size_t>(thread)];
    for (Index first; (first = next.fetch_add(share)) < p.count;)
      for (Index k = first; k < std::min(first + share, p.count); ++k)
        if (const int info = solve(a.data() + k * square, solution.values.data() + k * n); info != 0)
          failure = info;
  });
  if (failure != 0) throw Error(fmt::format("{} failed with info = {}", solution.name, failure.load()));
  if (p.vectors && p.fetch) solution.vectors = std::move(a);
  return solution;
}

template <class T, class Solve>
std::unique_ptr<BatchPeer<T>> make_call_peer(PeerTraits traits, Solve solve) {
  return std::make_unique<CallPeer<BatchPeerProblem<T>, BatchPeerSolution<T>>>(
      std::move(traits),
      [solve](BatchPeerProblem<T>& problem, BatchPeerSolution<T>& solution, std::string& name) -> double {
        solution = solve(problem);
        name = solution.name;
        return solution.seconds;
      });
}

}  // namespace

template <class T>
std::unique_ptr<BatchPeer<T>> make_batch_peer(Runtime& runtime, const std::string& library) {
  if (library == "none") return nullptr;
  if (library == "lapack")
    return make_call_peer<T>(
        {"lapack", runtime.info().blas, needs_one_process(runtime), cpu_threads(runtime)},
        [&runtime](const BatchPeerProblem<T>& p) { return solve_batch_with_lapack<T>(runtime, p); });
  if (library == "cusolver")
    return make_call_peer<T>(
        {"cusolver", cusolver_version(), first_of({needs_one_process(runtime), needs_first_gpu()}), 0},
        [solver = CusolverBatch<T>()](const BatchPeerProblem<T>& p) { return solver(p); });
  throw InvalidArgument("--peer", library, "none, lapack or cusolver");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<BatchPeer<T>> make_batch_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
