// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "sparse_eigen_peer.hpp"

#include <algorithm>

#include <tessera/error.hpp>

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
  if (is_complex<T> && library.starts_with("slepc-"))
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
  throw InvalidArgument("--peer", library, "none, dense, slepc-lobpcg or slepc-krylovschur");
}

#define TESSERA_INSTANTIATE(T) \
  template std::unique_ptr<SparseEigenPeer> make_sparse_eigen_peer<T>(Runtime&, const std::string&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::program
