// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "eigen_peer.hpp"

#include <complex>
#include <numeric>

#include <tessera/error.hpp>

#include "cusolver_peer.hpp"
#include "cusolvermg_peer.hpp"
#include "elpa_peer.hpp"
#include "gpu_libraries.hpp"
#include "lapack_peer.hpp"
#include "machine_limits.hpp"
#include "scalapack_peer.hpp"

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
  return std::make_unique<CallPeer<EigenPeerProblem<T>, EigenPeerSolution<T>>>(
      std::move(traits),
      [solve](EigenPeerProblem<T>& problem, EigenPeerSolution<T>& solution,
              std::string& name) mutable -> double {
        solution = {solve(problem)};
        name = solution.name;
        return solution.seconds;
      });
}

/// Solves a small problem of the same kind: the first use of a library takes its time.
template <class T, class Solve>
void warm_up(Runtime& runtime, const Solve& solve, const EigenPeerProblem<T>& like, int threads) {
  constexpr Index n = 64;
  const TiledMatrix<T> matrix(runtime, {n, n, n, n, ProcessGrid{}, Uplo::lower});
  if (matrix.tile(0, 0).local()) {
    const HostAccess access(matrix.tile(0, 0), HostAccess::Mode::write);
    const MatrixView<T> view = access.matrix<T>();
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) view(i, j) = i == j ? static_cast<RealOf<T>>(n + i) : RealOf<T>(1);
  }
  EigenPeerProblem<T> problem{.n = n, .vectors = like.vectors, .fetch = false, .a_tiles = &matrix};
  if (like.b_tiles) problem.b_tiles = &matrix;
  solve(runtime, problem, threads);
}

/// A peer on all ranks of the run. `solve(runtime, problem, threads)` is called on each.
template <class T, class Solve>
std::unique_ptr<EigenPeer<T>> make_on_all_ranks(Runtime& runtime, PeerTraits traits, Solve solve) {
  const int threads = cpu_threads(runtime);
  traits.threads = threads * runtime.size();
  return make<T>(std::move(traits),
                 [&runtime, solve, threads, warm = false](EigenPeerProblem<T>& problem) mutable {
                   EigenPeerSolution<T> solution;
                   runtime.run_exclusively(threads, [&] {
                     if (!warm) warm_up<T>(runtime, solve, problem, threads);
                     solution = solve(runtime, problem, threads);
                   });
                   warm = true;
                   return solution;
                 });
}

template <class T>
std::string needs_precision_of_elpa() {
  const bool single = sizeof(RealOf<T>) == sizeof(float);
  return single && !elpa_has_single_precision()
             ? "--type d or z (this ELPA was built without single precision)"
             : "";
}

}  // namespace

bool solves_on_all_ranks(const std::string& library) {
  return library == "scalapack" || library == "elpa";
}

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
  if (library == "scalapack")
    return make_on_all_ranks<T>(
        runtime, {"scalapack", scalapack_version(), needs_build_with(has_scalapack(), "ScaLAPACK")},
        solve_with_scalapack<T>);
  if (library == "elpa")
    return make_on_all_ranks<T>(
        runtime,
        {"elpa", elpa_version(),
         first_of({needs_build_with(has_elpa(), "ELPA"), needs_precision_of_elpa<T>()})},
        solve_with_elpa<T>);
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
  throw InvalidArgument("--peer", library, "none, lapack, scalapack, elpa, cusolver or cusolvermg");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<EigenPeer<T>> make_eigen_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
