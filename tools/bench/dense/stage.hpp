// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>

#include "probes.hpp"
#include "problem.hpp"
#include "stages.hpp"

namespace tessera::program {
using namespace detail;

/// What all stages share: sizes, matrices, and the scaling of the checks.
template <class T>
class Stage : public StageBench<T> {
 public:
  using Real = RealOf<T>;

  Stage(Session& session, const DenseBenchOptions& options)
      : session_(session),
        runtime_(session.runtime()),
        options_(options),
        n_(options.n),
        count_(options.vectors > 0 ? options.vectors : options.n),
        grid_(process_grid(runtime_, options.grid)),
        sizes_(stage_sizes<T>(runtime_, options)),
        eps_(static_cast<double>(n_) * static_cast<double>(precision<T>)) {}

 protected:
  HermitianProblem<T> matrix(const std::string& kind, std::uint64_t seed) {
    return load<T>(session_, {{}, kind, n_, seed, 1}, grid_, sizes_.tile);
  }
  HermitianProblem<T> matrix() { return matrix(options_.generate, options_.common.seed); }
  HermitianProblem<T> overlap() { return matrix("overlap", options_.common.seed + 1); }

  /// An n x count_ matrix in slabs. With GPUs, the slabs have the solver's width and are copied to
  /// GPUs. Otherwise, there are enough slabs for all CPU workers.
  ColumnSlabs<T> random_vectors(std::uint64_t seed) {
    const Index width =
        runtime_.gpus() > 0
            ? std::min(sizes_.slab_width, count_)
            : std::clamp<Index>(ceil_div(count_, 4 * runtime_.workers() * runtime_.size()), 16, 256);
    ColumnSlabs<T> slabs = random_slabs<T>(runtime_, n_, count_, width, seed);
    for (Index s = 0; s < slabs.count(); ++s) slabs.slab(s).prefetch(std::max(slabs.slab(s).gpu(), 0));
    return slabs;
  }

  void reduce(Sequence& sequence, HermitianProblem<T>& a, const BandMatrix<T>& band,
              BandReflectors<T>* reflectors) const {
    reduce_to_band<T>(sequence, std::move(a.matrix), sizes_.update_width, band, reflectors,
                      reduction_groups(sizes_), sizes_.split_products);
  }

  void run_now(const std::function<void(Sequence&)>& work) {
    Sequence sequence(runtime_);
    sequence.begin_stage("preparation");
    work(sequence);
    const Status status = sequence.wait();
    if (!status) throw Error(status.message());
  }

  /// Host copy of a vector; each rank has its own copy.
  std::vector<Real> host(const Data& data, Index count) {
    const HostAccess access(data, HostAccess::Mode::read);
    const auto values = access.array<Real>();
    return {values.begin(), values.begin() + count};
  }
  Data reals(Index count) {
    return Data::bytes(runtime_, static_cast<std::size_t>(std::max<Index>(count, 1)) * sizeof(Real),
                       Data::every_rank);
  }

  CheckRecord similarity_check(const HermitianProblem<T>& problem, const Invariants& now) const {
    CheckRecord check;
    check.trace = std::abs(now.trace - problem.trace) / (eps_ * std::max(problem.norm, 1e-300));
    check.values = std::abs(now.square - problem.square) / (eps_ * std::max(problem.square, 1e-300));
    check.values_against = "sum of squares";
    return check;
  }
  CheckRecord norm_check(double before, double after) const {
    CheckRecord check;
    check.orthogonality = std::abs(after - before) / (eps_ * before);
    return check;
  }
  /// The peer's problem: reduce the matrix to tridiagonal form.
  RoutineProblem<T> hetrd_problem(const std::string& note = "") {
    return {.routine = Routine::hetrd, .n = n_, .a = gather_lower(runtime_, matrix().matrix), .note = note};
  }

  Session& session_;
  Runtime& runtime_;
  const DenseBenchOptions& options_;
  Index n_, count_;
  ProcessGrid grid_;
  EigensolveOptions sizes_;
  double eps_;
};

}  // namespace tessera::program
