// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

#include "block_cyclic.hpp"
#include "eigen_peer.hpp"
#include "process.hpp"

/// What the eigensolvers over MPI have in common: the distributed problem, the clock, and the choice among routines.
namespace tessera::program {

/// The matrices on the grid of the peer. Routines overwrite them, so that each gets a copy.
template <class T>
class RanksProblem {
 public:
  RanksProblem(Runtime& runtime, const EigenPeerProblem<T>& problem, Index block)
      : runtime_(runtime),
        problem_(problem),
        shape_(CyclicShape::make(problem.n, runtime.size(), block)),
        grid_(runtime, shape_.grid) {
    detail::agree(runtime, 0, [&] {
      a_ = square();
      if (generalized()) b_ = square();
    });
    copy_lower(runtime, *problem.a_tiles, a_);
    if (generalized()) copy_lower(runtime, *problem.b_tiles, b_);
  }

  Runtime& runtime() const noexcept { return runtime_; }
  const BlacsGrid& grid() const noexcept { return grid_; }
  const RangeOption& range() const noexcept { return problem_.range; }
  bool vectors() const noexcept { return problem_.vectors; }
  bool generalized() const noexcept { return problem_.b_tiles != nullptr; }
  Index n() const noexcept { return problem_.n; }
  Index block() const noexcept { return shape_.block; }
  CyclicMatrix<T>& a() noexcept { return a_; }
  CyclicMatrix<T>& b() noexcept { return b_; }
  CyclicMatrix<T> square() const { return CyclicMatrix<T>(grid_, n(), n(), block(), block()); }

  /// The whole range of numbers, or all.
  bool wants_all() const noexcept {
    return range().kind == RangeOption::Kind::all ||
           (range().kind == RangeOption::Kind::index && range().index_low == 0 && range().index_high >= n());
  }
  /// The numbers of the wanted ones among the lowest values, which are in ascending order: from, to.
  std::pair<Index, Index> wanted(const std::vector<RealOf<T>>& values) const {
    const auto count = static_cast<Index>(values.size());
    if (range().kind == RangeOption::Kind::index)
      return {std::min(range().index_low, count), std::min(range().index_high, count)};
    if (range().kind == RangeOption::Kind::all) return {0, count};
    const auto after = [&](double x) {
      return std::upper_bound(values.begin(), values.end(), static_cast<RealOf<T>>(x)) - values.begin();
    };
    const Index low = after(range().value_low);
    return {low, std::max<Index>(low, after(range().value_high))};
  }

  /// Runs the library's call on the ranks of the grid. Returns the seconds of the slowest rank.
  template <class Call>
  double timed(const Call& call) const {
    runtime_.barrier();
    const double begin = now();
    if (grid_.inside()) call();
    double seconds = now() - begin;
    runtime_.all_reduce_max(&seconds, 1);
    return seconds;
  }
  /// Runs `work`, which allocates, on all ranks; what it throws on one is thrown on all.
  template <class Work>
  void together(const Work& work) const {
    detail::agree(runtime_, 0, work);
  }
  /// The error of any rank: 0 if all have had success.
  int error_of_any(int info) const {
    double worst = std::abs(static_cast<double>(info));
    runtime_.all_reduce_max(&worst, 1);
    return static_cast<int>(worst);
  }
  /// Values that the ranks outside of the grid lack.
  void share(std::vector<RealOf<T>>& values) const {
    const Index bytes = static_cast<Index>(values.size() * sizeof(RealOf<T>));
    if (shape_.grid.rows * shape_.grid.cols < runtime_.size()) runtime_.broadcast(values.data(), bytes, 0);
  }
  /// For the record.
  Json layout(int threads) const {
    return {{"ranks", shape_.grid.rows * shape_.grid.cols},
            {"threads_per_rank", threads},
            {"grid", {shape_.grid.rows, shape_.grid.cols}},
            {"block", block()}};
  }

 private:
  Runtime& runtime_;
  const EigenPeerProblem<T>& problem_;
  CyclicShape shape_;
  BlacsGrid grid_;
  CyclicMatrix<T> a_, b_;
};

/// What a routine has computed.
template <class T>
struct RanksAttempt {
  std::string name;
  double seconds = 0;
  std::string failure{};            ///< empty: success
  std::vector<RealOf<T>> values{};  ///< the wanted ones
  Index column = 0;                 ///< of z, which has the first vector
  CyclicMatrix<T> z{};
};

/// A matrix of order 0, or no numbers in the range.
template <class T>
bool nothing_wanted(const EigenPeerProblem<T>& problem) {
  const RangeOption& range = problem.range;
  return problem.n == 0 ||
         (range.kind == RangeOption::Kind::index && std::min(range.index_high, problem.n) <= range.index_low);
}
template <class T>
EigenPeerSolution<T> nothing_of(const char* name) {
  EigenPeerSolution<T> solution;
  solution.name = name;
  return solution;
}

/// Tries all routines; the fastest that has had success counts.
/// @throws Error if none has
template <class T>
EigenPeerSolution<T> fastest_of(RanksProblem<T>& problem, const EigenPeerProblem<T>& asked, int threads,
                                const std::vector<std::function<RanksAttempt<T>()>>& routines) {
  RanksAttempt<T> best;
  EigenPeerSolution<T> solution;
  solution.record = problem.layout(threads);
  std::string failures;
  for (const auto& routine : routines) {
    RanksAttempt<T> attempt = routine();
    if (!attempt.failure.empty()) {
      solution.record["left_out"].push_back(attempt.failure);
      failures += (failures.empty() ? "" : "; ") + attempt.failure;
      continue;
    }
    solution.trials.push_back({attempt.name, attempt.seconds});
    if (best.name.empty() || attempt.seconds < best.seconds) best = std::move(attempt);
  }
  if (best.name.empty()) throw Error(failures);
  if (routines.size() == 1) solution.trials.clear();
  solution.name = best.name;
  solution.seconds = best.seconds;
  if (asked.fetch)
    solution.record["checked"] = best.name;  // over several runs another one may be the fastest
  solution.first = asked.range.kind == RangeOption::Kind::index ? asked.range.index_low : 0;
  solution.values = std::move(best.values);
  const auto count = static_cast<Index>(solution.values.size());
  constexpr Index width = 256;
  if (asked.vectors && asked.fetch && count > 0)
    solution.slabs = to_slabs(problem.runtime(), best.z, best.column, count, width);
  return solution;
}

}  // namespace tessera::program
