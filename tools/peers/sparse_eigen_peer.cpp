// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_eigen_peer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "cusparse_lanczos.hpp"
#include "gpu_libraries.hpp"
#include "lanczos.hpp"
#include "lapack_peer.hpp"
#include "lobpcg_problem.hpp"
#include "machine_limits.hpp"
#include "slepc_peer.hpp"

namespace tessera::program {

namespace {

template <class T>
double run_lapack(Runtime& runtime, const SparseEigenProblem& problem, SparseEigenSolution& solution,
                  std::string& name) {
  const Index n = problem.a->order();
  RangeOption range;
  range.kind = RangeOption::Kind::index;
  range.index_low = problem.largest ? n - problem.count : 0;
  range.index_high = range.index_low + problem.count;
  PeerSolution<T> theirs;
  runtime.run_exclusively(cpu_threads(runtime), [&] {
    theirs = solve_with_lapack<T>(dense_matrix<T>(*problem.a),
                                  problem.b ? dense_matrix<T>(*problem.b) : std::vector<T>(), n, range, true);
  });
  name = theirs.name;
  solution.values.assign(theirs.values.begin(), theirs.values.end());
  if (problem.largest) std::reverse(solution.values.begin(), solution.values.end());
  return theirs.seconds;
}

double run_slepc(Runtime& runtime, const SparseEigenProblem& problem, const std::string& solver,
                 SparseEigenSolution& solution) {
  SlepcSolution theirs;
  runtime.run_exclusively(1, [&] { theirs = solve_with_slepc(problem, solver); });
  solution.values = theirs.values;
  solution.record = {{"iterations", theirs.iterations}, {"converged", theirs.values.size()}};
  return theirs.seconds;
}

/// The time without the conversion of the matrix and its way to the GPU.
template <class T>
double run_lanczos(Runtime& runtime, const SparseEigenProblem& problem, bool on_gpu,
                   SparseEigenSolution& solution) {
  const Index vectors = lanczos_vectors(problem.count, problem.a->order());
  const LanczosOptions options{.count = problem.count,
                               .largest = problem.largest,
                               .tolerance = problem.tolerance,
                               .norm = problem.norm,
                               .a_norm = problem.a_norm,
                               .restarts = problem.iterations};
  CusparseChoice choice;
  double conversion = 0, seconds = 0;
  LanczosResult theirs;
  const Index vectors_of_n = on_gpu ? 1 : vectors + 1;
  require_memory(runtime, on_gpu ? "--peer cusparse-lanczos" : "--peer lanczos",
                 static_cast<double>(problem.whole_entries) * (sizeof(T) + sizeof(std::int32_t)) +
                     static_cast<double>(problem.a->order() * vectors_of_n) * sizeof(T));
  runtime.run_exclusively(cpu_threads(runtime), [&] {
    const double begin = now();
    FullRows<T> rows = full_rows<T>(*problem.a, host_threads(runtime));
    const auto space = on_gpu ? make_cusparse_lanczos<T>(rows, vectors, choice)
                              : make_host_lanczos<T>(std::move(rows), vectors, cpu_threads(runtime));
    begin_lanczos(*space, problem.seed);
    const double ready = now();
    conversion = ready - begin;
    theirs = solve_by_lanczos<T>(*space, options);
    seconds = now() - ready;
  });
  solution.values = theirs.values;
  solution.record = {{"restarts", theirs.restarts},
                     {"columns_multiplied", theirs.columns_multiplied},
                     {"converged", theirs.values.size()},
                     {"largest_residual", theirs.largest_residual},
                     {"basis", vectors},
                     {"conversion_seconds", conversion}};
  if (on_gpu) solution.record["algorithm"] = choice.algorithm;
  return seconds;
}

}  // namespace

template <class T>
std::unique_ptr<SparseEigenPeer> make_sparse_eigen_peer(Runtime& runtime, const std::string& library) {
  using Made = CallPeer<SparseEigenProblem, SparseEigenSolution>;
  if (library == "none") return nullptr;
  if (library == "dense")
    return std::make_unique<Made>(
        PeerTraits{"lapack", runtime.info().blas, needs_one_process(runtime), cpu_threads(runtime)},
        [&runtime](SparseEigenProblem& problem, SparseEigenSolution& solution, std::string& name) {
          return run_lapack<T>(runtime, problem, solution, name);
        });
  if (is_complex<T> && (library.starts_with("slepc-") || library.ends_with("lanczos")))
    throw InvalidArgument("--peer", library, "none or dense, for a complex matrix");
  if (library == "slepc-lobpcg" || library == "slepc-krylovschur") {
    const std::string solver = library.substr(std::string("slepc-").size());
    return std::make_unique<Made>(
        PeerTraits{"SLEPc " + solver, slepc_version(), needs_build_with(has_slepc(), "SLEPc"),
                   runtime.size()},
        [&runtime, solver](SparseEigenProblem& problem, SparseEigenSolution& solution, std::string&) {
          return run_slepc(runtime, problem, solver, solution);
        });
  }
  if constexpr (!is_complex<T>)
    if (library == "lanczos" || library == "cusparse-lanczos") {
      const bool on_gpu = library == "cusparse-lanczos";
      PeerTraits traits{"thick-restart Lanczos", runtime.info().blas, needs_one_process(runtime),
                        cpu_threads(runtime)};
      if (on_gpu)
        traits = {"thick-restart Lanczos on cuSPARSE and cuBLAS",
                  fmt::format("cuSPARSE {}, cuBLAS {}", cusparse_version(), cublas_version()),
                  first_of({needs_one_process(runtime), needs_gpu(runtime)}), 0};
      return std::make_unique<Made>(
          std::move(traits),
          [&runtime, on_gpu](SparseEigenProblem& problem, SparseEigenSolution& solution, std::string&) {
            return run_lanczos<T>(runtime, problem, on_gpu, solution);
          });
    }
  throw InvalidArgument("--peer", library,
                        "none, dense, lanczos, cusparse-lanczos, slepc-lobpcg or slepc-krylovschur");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<SparseEigenPeer> make_sparse_eigen_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::program
