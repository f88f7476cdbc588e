// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_bench_peer.hpp"

#include <cmath>
#include <complex>
#include <numeric>
#include <utility>

#include <tessera/block_operations.hpp>
#include <tessera/error.hpp>

#include "machine_limits.hpp"
#include "process.hpp"

namespace tessera::program {
using namespace detail;

template <class T>
DensityPeer<T>::DensityPeer(Session& session, std::string name)
    : session_(session), runtime_(session.runtime()), name_(std::move(name)) {
  if (name_ == "dense") return;
  library_ = make_eigen_peer<T>(runtime_, name_);
  require_available(*library_, name_);
}

template <class T>
DensityPeerResult<T> DensityPeer<T>::run(const DensityProblem<T>& problem, const DensityOptions& options) {
  session_.progress().stage(name_);
  DensityPeerResult<T> result;
  if (!library_) {
    DensityOptions solve = options;
    solve.method = DensityMethod::dense;
    DensityProblem<T> same = problem;
    same.gap.reset();
    runtime_.barrier();
    const double begin = now();
    DensityResult<T> found = density_matrix(runtime_, same, solve);
    result.seconds = now() - begin;
    runtime_.all_reduce_max(&result.seconds, 1);
    if (!found) throw Error("--peer dense: " + found.status().message());
    result.energy = found.energy;
    result.density = std::move(found.density);
    return result;
  }
  const Index n = problem.hamiltonian.rows();
  library_->prepare({.a = to_dense(problem.hamiltonian),
                     .b = problem.overlap ? to_dense(*problem.overlap) : std::vector<T>(),
                     .n = n,
                     .range = {},
                     .vectors = true,
                     .fetch = false});
  result.seconds = library_->run();
  const std::vector<RealOf<T>> values = library_->result().values;
  const auto states =
      static_cast<std::ptrdiff_t>(std::llround(std::min(problem.electrons / problem.occupation, double(n))));
  result.energy =
      problem.occupation * std::accumulate(values.begin(), values.begin() + states, 0.0,
                                           [](double sum, RealOf<T> x) { return sum + double(x); });
  library_->release();
  return result;
}

template <class T>
PeerRecord DensityPeer<T>::record() const {
  PeerRecord record;
  if (library_) return new_peer_record(*library_);
  record.name = "density_matrix, method dense";
  record.version = new_record("bench_density").version;
  record.gpus = static_cast<int>(runtime_.gpus());
  record.threads = record.gpus > 0 ? 0 : cpu_threads(runtime_);
  return record;
}

template <class T>
void DensityPeer<T>::add_run(PeerRecord& record, double seconds) const {
  if (library_)
    add_peer_seconds(record, *library_, seconds);
  else
    record.seconds.push_back(seconds);
}

template <class T>
double DensityPeer<T>::matrices() const {
  return library_ ? 4 : 4.0 / runtime_.size();
}

#define TESSERA_INSTANTIATE(T) template class DensityPeer<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
