// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "eigen_peer.hpp"

#include <complex>
#include <numeric>

#include <tessera/error.hpp>

#include "cusolver_peer.hpp"
#include "cusolvermg_peer.hpp"
#include "gpu_libraries.hpp"
#include "lapack_peer.hpp"
#include "machine_limits.hpp"

namespace tessera::program {

namespace {

/// CUDA device numbers of the run's GPUs, which are consecutive in one process.
std::vector<int> gpus_of(const Runtime& runtime) {
  std::vector<int> gpus(static_cast<std::size_t>(runtime.gpus()));
  std::iota(gpus.begin(), gpus.end(), runtime.first_gpu());
  return gpus;
}

template <class T, class Solve>
std::unique_ptr<EigenPeer<T>> make(PeerTraits traits, Solve solve) {
  return std::make_unique<CallPeer<EigenPeerProblem<T>, PeerSolution<T>>>(
      std::move(traits),
      [solve](EigenPeerProblem<T>& problem, PeerSolution<T>& solution, std::string& name) -> double {
        solution = solve(problem);
        name = solution.name;
        return solution.seconds;
      });
}

}  // namespace

template <class T>
std::unique_ptr<EigenPeer<T>> make_eigen_peer(Runtime& runtime, const std::string& library) {
  using Problem = EigenPeerProblem<T>;
  if (library == "none") return nullptr;
  if (library == "lapack") {
    const int threads = cpu_threads(runtime);
    return make<T>({"lapack", runtime.info().blas, needs_one_process(runtime), threads},
                   [&runtime, threads](Problem& problem) {
                     PeerSolution<T> solution;
                     runtime.run_exclusively(threads, [&] {
                       solution = solve_with_lapack<T>(std::move(problem.a), std::move(problem.b), problem.n,
                                                       problem.range, problem.vectors);
                     });
                     return solution;
                   });
  }
  if (library == "cusolver")
    return make<T>(
        {"cusolver", cusolver_version(), first_of({needs_one_process(runtime), needs_first_gpu()}), 0},
        [](Problem& problem) {
          return solve_with_cusolver<T>(problem.a, problem.b, problem.n, problem.range, problem.vectors,
                                        problem.fetch);
        });
  if (library == "cusolvermg")
    return make<T>({"cusolverMg", cusolver_version(),
                    first_of({needs_one_process(runtime), needs_gpu(runtime),
                              needs_build_with(has_cusolvermg(), "cuSOLVERMg")}),
                    0, runtime.gpus()},
                   [&runtime](Problem& problem) {
                     return solve_with_cusolvermg<T>(problem.a, problem.n, gpus_of(runtime), problem.range,
                                                     problem.vectors, problem.fetch);
                   });
  throw InvalidArgument("--peer", library, "none, lapack, cusolver or cusolvermg");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<EigenPeer<T>> make_eigen_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
