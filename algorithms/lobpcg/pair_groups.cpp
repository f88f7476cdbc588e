// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/davidson.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/algorithms/lobpcg/pair_groups.hpp>
#include <tessera/algorithms/lobpcg/vector_tasks.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// With half as many guard vectors a block of LOBPCG is full.
constexpr Index usual_pairs = 21;
/// The residuals of a group's vectors are parts of those of all later groups, up to the root of their number.
constexpr double stricter = 0.1;
/// Below it residuals are rounding.
template <class T>
constexpr double finest_tolerance = 100 * precision<T>;

/// One after the other.
void append(SequenceStatistics& all, const SequenceStatistics& next) {
  const double seconds = all.total_seconds + next.total_seconds;
  if (seconds > 0)
    all.busy_share = (all.busy_share * all.total_seconds + next.busy_share * next.total_seconds) / seconds;
  all.submit_seconds = all.total_seconds + next.submit_seconds;
  all.total_seconds = seconds;
  all.tasks += next.tasks;
  const auto named = [](auto& items, const auto& item) -> auto& {
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const auto& i) { return i.name == item.name; });
    if (found != items.end()) return *found;
    items.emplace_back().name = item.name;
    return items.back();
  };
  for (const StageStatistics& stage : next.stages) {
    StageStatistics& sum = named(all.stages, stage);
    sum.seconds += stage.seconds;
    sum.busy_seconds += stage.busy_seconds;
    sum.flops += stage.flops;
    sum.tasks += stage.tasks;
    sum.device_tasks += stage.device_tasks;
    sum.longest_busy_seconds += stage.longest_busy_seconds;
  }
  for (const CodeletStatistics& codelet : next.codelets) {
    CodeletStatistics& sum = named(all.codelets, codelet);
    sum.tasks += codelet.tasks;
    sum.seconds += codelet.seconds;
    sum.flops += codelet.flops;
  }
}

template <class T>
class PairGroups {
 public:
  PairGroups(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options)
      : runtime_(runtime),
        problem_(problem),
        options_(options),
        sign_(options.end == EigenEnd::smallest ? 1 : -1),
        first_(problem.constraints ? problem.constraint_count : 0),
        kept_(runtime, problem.a->segments(), first_ + options.count),
        guess_(runtime, problem.a->segments(), max_block_columns) {}

  LobpcgResult<T> solve() {
    clear(kept_);
    clear(guess_);
    if (first_ > 0) copy(*problem_.constraints, 0, first_, kept_, 0);
    for (Index pairs = next_pairs(); pairs > 0; pairs = next_pairs()) {
      make_room(pairs);
      if (!solve_group(pairs)) break;
    }
    return collect();
  }

 private:
  struct Pair {
    double value, residual, scaled;
    Index column;  ///< of kept_
  };

  Index found() const { return static_cast<Index>(pairs_.size()); }
  Index next_pairs() const;
  bool has_gap() const;
  bool solve_group(Index pairs);
  bool keep(LobpcgResult<T>& group, Index pairs);
  void clear(const BlockVectors<T>& block);
  void make_room(Index pairs);
  Index make_guess(const LobpcgResult<T>* last, Index pairs);
  LobpcgStep shifted(const LobpcgStep& step) const;
  LobpcgResult<T> collect();
  std::vector<Pair> in_order() const;
  /// Columns from one block to another, whose others stay.
  void copy(const BlockVectors<T>& from, Index first, Index columns, const BlockVectors<T>& to, Index at);

  Runtime& runtime_;
  const LobpcgProblem<T>& problem_;
  const LobpcgOptions& options_;
  const double sign_;
  const Index first_;             ///< constraints of the caller's
  BlockVectors<T> kept_, guess_;  ///< constraints and found vectors; the next group's guess
  std::vector<Pair> pairs_;
  std::size_t last_ = 0;          ///< pairs before the last group
  Index group_ = 0, guards_ = 0;  ///< groups so far; vectors of the last one that guess_ has
  double seconds_ = 0;
  LobpcgResult<T> all_;
};

template <class T>
void PairGroups<T>::copy(const BlockVectors<T>& from, Index first, Index columns, const BlockVectors<T>& to,
                         Index at) {
  Sequence sequence(runtime_);
  for (Index done = 0; done < columns; done += max_block_columns) {
    const Index count = std::min<Index>(max_block_columns, columns - done);
    const BlockColumns<T> source{&from, first + done, count}, target{&to, at + done, count};
    combine_columns<T>(sequence, {&source, 1}, {&target, 1}, unit_matrix(count), true);
  }
  require_success(runtime_, sequence.wait());
}

template <class T>
void PairGroups<T>::clear(const BlockVectors<T>& block) {
  Sequence sequence(runtime_);
  VectorTasks<T>(sequence, problem_.a->segments(), 1).random({&block, 0, 0}, 0, Store::overwrite);
  require_success(runtime_, sequence.wait());
}

/// For a group that finds more than is wanted.
template <class T>
void PairGroups<T>::make_room(Index pairs) {
  const Index used = first_ + found();
  if (used + pairs <= kept_.width()) return;
  BlockVectors<T> wider(runtime_, problem_.a->segments(), first_ + options_.count + pairs_of_group(options_));
  clear(wider);
  copy(kept_, 0, used, wider, 0);
  kept_ = std::move(wider);
}

/// As many as the next group finds: none where all have been found.
template <class T>
Index PairGroups<T>::next_pairs() const {
  const Index pairs = pairs_of_group(options_), left = options_.count - found();
  if (left > 0) return std::min(pairs, left);
  constexpr Index few = 8;
  return has_gap() ? std::min(few, options_.count + pairs - found()) : 0;
}

/// Whether the last group has found pairs that one before has missed: there might be more then.
template <class T>
bool PairGroups<T>::has_gap() const {
  if (last_ == 0) return false;
  double rounding = 0, before = -HUGE_VAL, last = HUGE_VAL;
  std::vector<double> values;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    const double value = sign_ * pairs_[k].value;
    values.push_back(value);
    rounding = std::max(rounding, pairs_[k].residual);
    (k < last_ ? before : last) = k < last_ ? std::max(before, value) : std::min(last, value);
  }
  const auto outermost = values.begin() + (options_.count - 1);
  std::nth_element(values.begin(), outermost, values.end());
  return last < std::min(before, *outermost) - 2 * rounding;
}

/// guess_ := what is known of the next group's vectors; their number.
template <class T>
Index PairGroups<T>::make_guess(const LobpcgResult<T>* last, Index pairs) {
  const Index given = problem_.guess ? std::min(problem_.guess_count - found(), pairs) : 0;
  if (given > 0) {
    copy(*problem_.guess, found(), given, guess_, 0);
    return given;
  }
  // Guard vectors; of a deep basis there are none.
  if (!last || options_.method != EigenMethod::lobpcg) return 0;
  const Index pairs_of_last = static_cast<Index>(last->values.size());
  const Index guards = std::min(last->vectors.width() - pairs_of_last, options_.block);
  if (guards > 0) copy(last->vectors, pairs_of_last, guards, guess_, 0);
  return std::max<Index>(guards, 0);
}

/// A step of the present group as one of the whole solve.
template <class T>
LobpcgStep PairGroups<T>::shifted(const LobpcgStep& step) const {
  const SequenceStatistics& before = all_.statistics;
  const auto busy = [&](const char* name) {
    for (const StageStatistics& stage : before.stages)
      if (stage.name == name) return stage.busy_seconds;
    return 0.0;
  };
  LobpcgStep moved = step;
  moved.iteration += all_.iterations + group_;
  moved.converged += found();
  moved.seconds += seconds_;
  moved.multiply_seconds += busy("multiply");
  moved.preconditioner_seconds += busy("preconditioner");
  moved.dense_seconds += busy("dense");
  moved.waiting_seconds = std::max(
      0.0, moved.seconds - moved.multiply_seconds - moved.preconditioner_seconds - moved.dense_seconds);
  return moved;
}

template <class T>
bool PairGroups<T>::solve_group(Index pairs) {
  LobpcgOptions options = options_;
  options.count = pairs;
  options.tolerance =
      std::max(stricter * options_.tolerance, std::min(options_.tolerance, finest_tolerance<T>));
  options.seed = group_ == 0 ? options_.seed : splitmix(options_.seed, static_cast<std::uint64_t>(group_));
  if (options_.monitor)
    options.monitor = [this](const LobpcgStep& step) { return options_.monitor(shifted(step)); };
  LobpcgProblem<T> problem = problem_;
  problem.constraints = &kept_;
  problem.constraint_count = first_ + found();
  problem.guess = &guess_;
  problem.guess_count = group_ == 0 ? make_guess(nullptr, pairs) : guards_;
  LobpcgResult<T> group = solve_lobpcg(runtime_, problem, options);
  return keep(group, pairs);
}

/// What a group has found; false where the solve ends with it.
template <class T>
bool PairGroups<T>::keep(LobpcgResult<T>& group, Index pairs) {
  for (const LobpcgStep& step : group.history) all_.history.push_back(shifted(step));
  if (!group.history.empty()) seconds_ = all_.history.back().seconds;
  all_.method = group.method;
  all_.iterations += group.iterations;
  all_.restarts += group.restarts;
  all_.columns_multiplied += group.columns_multiplied;
  all_.multiplications += group.multiplications;
  append(all_.statistics, group.statistics);
  ++group_;
  const auto count = static_cast<Index>(group.values.size());
  bool good = count == pairs;
  last_ = pairs_.size();
  for (std::size_t k = 0; k < group.values.size(); ++k) {
    good = good && group.scaled_residuals[k] <= options_.tolerance;
    pairs_.push_back({group.values[k], group.residuals[k], group.scaled_residuals[k],
                      first_ + static_cast<Index>(last_ + k)});
  }
  if (count > 0) copy(group.vectors, 0, count, kept_, first_ + static_cast<Index>(last_));
  // Stagnation below the tolerance that was asked for is none.
  const StatusCode code = group.status().code;
  if (good && (code == StatusCode::success || code == StatusCode::stagnated ||
               code == StatusCode::iterations_exhausted)) {
    guards_ = make_guess(&group, pairs);
    return true;
  }
  all_.set_status(
      {code, "lobpcg", 0,
       fmt::format("{} (group {} of eigenpairs, after {})", group.status().reason, group_, last_)});
  return false;
}

template <class T>
std::vector<typename PairGroups<T>::Pair> PairGroups<T>::in_order() const {
  std::vector<Pair> sorted = pairs_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Pair& a, const Pair& b) { return sign_ * a.value < sign_ * b.value; });
  sorted.resize(std::min(sorted.size(), static_cast<std::size_t>(options_.count)));
  return sorted;
}

template <class T>
LobpcgResult<T> PairGroups<T>::collect() {
  const std::vector<Pair> sorted = in_order();
  bool in_place = kept_.width() == options_.count, open = false;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    const Pair& pair = sorted[k];
    all_.values.push_back(pair.value);
    all_.residuals.push_back(pair.residual);
    all_.scaled_residuals.push_back(pair.scaled);
    open = open || !(pair.scaled <= options_.tolerance);
    if (!open) ++all_.converged;
    in_place = in_place && pair.column == static_cast<Index>(k);
  }
  if (all_.status().ok())
    all_.set_status({StatusCode::success, "lobpcg", 0,
                     fmt::format("{} eigenpairs in {} iterations", all_.values.size(), all_.iterations)});
  if (in_place) {
    all_.vectors = std::move(kept_);
    return std::move(all_);
  }
  all_.vectors = BlockVectors<T>(runtime_, problem_.a->segments(), options_.count);
  clear(all_.vectors);
  for (std::size_t k = 0, end = 0; k < sorted.size(); k = end) {
    for (end = k + 1; end < sorted.size() && sorted[end].column == sorted[end - 1].column + 1;) ++end;
    copy(kept_, sorted[k].column, static_cast<Index>(end - k), all_.vectors, static_cast<Index>(k));
  }
  return std::move(all_);
}

}  // namespace

Index pairs_of_group(const LobpcgOptions& options) noexcept {
  if (options.count <= max_block_columns) return options.count;
  if (options.method == EigenMethod::lobpcg && options.block > 0)
    return std::clamp<Index>((2 * options.block + 2) / 3, 1, usual_pairs);
  if (options.basis > 0)
    return std::clamp<Index>(options.basis - 2 * std::max<Index>(options.block, 1), 1, usual_pairs);
  return usual_pairs;
}

Index columns_of_groups(const LobpcgOptions& options, bool generalized) noexcept {
  if (options.count <= max_block_columns) return 0;
  // Kept, and copied by the group's solve, with B times them.
  return (options.count + pairs_of_group(options)) * (generalized ? 3 : 2);
}

template <class T>
LobpcgResult<T> solve_pair_groups(Runtime& runtime, const LobpcgProblem<T>& problem,
                                  const LobpcgOptions& resolved) {
  return PairGroups<T>(runtime, problem, resolved).solve();
}

template LobpcgResult<float> solve_pair_groups(Runtime&, const LobpcgProblem<float>&, const LobpcgOptions&);
template LobpcgResult<double> solve_pair_groups(Runtime&, const LobpcgProblem<double>&, const LobpcgOptions&);

}  // namespace tessera::detail
