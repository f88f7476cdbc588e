// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/checkpoint_file.hpp>
#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

/// Checkpoints of a solve, and how it goes on from one.
namespace tessera::detail {

namespace {

using Tables = CheckpointTables;

/// What must be equal in the solve that has written a checkpoint and in the one that goes on from it.
template <class T>
Tables tables_of(const LobpcgProblem<T>& problem, const LobpcgOptions& given) {
  Tables t;
  t.counts[Tables::order] = problem.a->order();
  t.counts[Tables::wanted] = given.count;
  t.counts[Tables::largest] = given.end == EigenEnd::largest;
  t.counts[Tables::generalized] = problem.b != nullptr;
  t.counts[Tables::constraints] = problem.constraint_count;
  t.numbers[Tables::a_norm] = problem.a->norm_bound();
  t.numbers[Tables::b_norm] = problem.b ? problem.b->norm_bound() : 1;
  t.numbers[Tables::tolerance] = given.tolerance;
  return t;
}

/// @throws InvalidArgument for the checkpoint of another problem
template <class T>
void require_same_problem(const LobpcgProblem<T>& problem, const LobpcgOptions& given, const Tables& file) {
  const Tables here = tables_of(problem, given);
  const auto refuse = [&](const std::string& what, const std::string& there, const std::string& expected) {
    throw InvalidArgument("resume", given.resume,
                          fmt::format("a checkpoint of {} {}, not {}", what, expected, there));
  };
  const auto same = [&](Tables::Count count, const char* what) {
    const auto k = static_cast<std::size_t>(count);
    if (file.counts[k] != here.counts[k])
      refuse(what, fmt::to_string(file.counts[k]), fmt::to_string(here.counts[k]));
  };
  same(Tables::order, "order");
  same(Tables::wanted, "count");
  same(Tables::largest, "largest =");
  same(Tables::generalized, "generalized =");
  same(Tables::constraints, "constraint_count");
  // Sums over ranks differ in rounding, float and double storage in the values.
  constexpr double rounding = 1e-5;
  const auto near = [&](Tables::Number number, const char* what) {
    const double a = file.numbers[number], b = here.numbers[number];
    if (std::abs(a - b) > rounding * std::max(std::abs(a), std::abs(b)))
      refuse(what, fmt::format("{:g}", a), fmt::format("{:g}", b));
  };
  near(Tables::a_norm, "||A|| =");
  near(Tables::b_norm, "||B|| =");
  if (!file.found_values.empty() && given.tolerance < file.numbers[Tables::tolerance])
    refuse("tolerance",
           fmt::format("{:g}, to which pairs are found already", file.numbers[Tables::tolerance]),
           fmt::format("{:g}", given.tolerance));
}

}  // namespace

/// W := the Ritz vectors of a checkpoint: what follows is a restart.
template <class T>
void EigenLoop<T>::resume() {
  CheckpointReader<T> file(runtime_, given_.resume);
  const Tables& t = file.tables();
  agree(runtime_, 0, [&] {
    require_same_problem(problem_, given_, t);
    if (runtime_.rank() == 0 && file.label() != given_.checkpoint.label)
      throw InvalidArgument(
          "resume", given_.resume,
          fmt::format("a checkpoint of '{}', not '{}'", given_.checkpoint.label, file.label()));
  });
  std::vector<FoundPair> found;
  for (std::size_t k = 0; k < t.found_values.size(); ++k)
    found.push_back({t.found_values[k], t.found_residuals[k], t.found_scaled[k], static_cast<Index>(k)});
  found_.restore(std::move(found), t.counts[Tables::before_last_group]);
  const Index pairs = found_.next(pairs_);
  agree(runtime_, 0, [&] {
    if (pairs == 0 || (found_.size() > 0 && !has_groups(given_)))
      throw InputError(given_.resume, 0, fmt::format("is damaged: {} pairs are found", found_.size()));
  });
  const std::vector<Index> columns = t.columns();
  for (std::size_t set = 0; set + 1 < columns.size(); ++set) {
    ProductBlock<T> block = on_.new_block(max_block_columns, false);
    block.columns = columns[set];
    file.read(static_cast<Index>(set), block.columns, block.v);
    multiply_b(on_, block);
    s_.constraints.push_back(std::move(block));
  }
  const Index known = std::min(columns.back(), on_.options.block);
  file.read(static_cast<Index>(columns.size()) - 1, known, s_.w.v);
  // A restart counts as an iteration.
  s_.iteration = t.counts[Tables::iteration] + 1;
  s_.restarts = t.counts[Tables::restarts] + 1;
  s_.multiplications.columns = t.counts[Tables::columns_multiplied];
  s_.multiplications.calls = t.counts[Tables::multiplications];
  s_.random_fills = static_cast<std::uint64_t>(t.counts[Tables::random_fills]);
  start_with(on_, s_, known, on_.options.block);
  set_group(pairs);
  resumed_values_.assign(t.ritz_values.begin(), t.ritz_values.begin() + known);
  resumed_norm_ = t.numbers[Tables::a_norm_seen];
  result_.iterations_before = saved_iteration_ = t.counts[Tables::iteration];
}

/// The first step after resume() has the Ritz values of the checkpoint again, if A is the matrix of which it was. With
/// random vectors beside its own they can only be nearer to the wanted end.
template <class T>
bool EigenLoop<T>::is_resumed_problem() {
  if (resumed_values_.empty()) return true;
  const std::vector<double> expected = std::exchange(resumed_values_, {});
  const std::vector<double>& values = s_.ritz_values;
  const double gate =
      10 * std::max(options_.tolerance, 100 * rounding()) * std::max(test_.a_norm(s_.norms), resumed_norm_);
  const bool alone = values.size() == expected.size();
  for (std::size_t k = 0; k < std::min(values.size(), expected.size()); ++k) {
    const double rise = on_.sign() * (values[k] - expected[k]);
    if (rise > gate || (alone && rise < -gate))
      refuse("resume", given_.resume,
             fmt::format(
                 "a checkpoint of this matrix: of its vectors {} has the Ritz value {:.10g}, not {:.10g}",
                 k + 1, values[k], expected[k]));
  }
  return true;
}

template <class T>
void EigenLoop<T>::save_if_due() {
  const LobpcgCheckpoint& every = given_.checkpoint;
  if (every.path.empty()) return;
  bool due = every.iterations > 0 && s_.iteration - saved_iteration_ >= every.iterations;
  if (!due && every.seconds > 0) {
    due = std::chrono::duration<double>(std::chrono::steady_clock::now() - saved_).count() >= every.seconds;
    runtime_.broadcast(&due, sizeof due, 0);
  }
  if (due) save();
}

/// A checkpoint of the pairs found and of the Ritz vectors. If it cannot be written, the solve goes on.
template <class T>
void EigenLoop<T>::save() {
  if (given_.checkpoint.path.empty()) return;
  bring_pairs();
  Tables t = tables_of(problem_, given_);
  t.counts[Tables::iteration] = s_.iteration;
  t.counts[Tables::restarts] = s_.restarts;
  t.counts[Tables::columns_multiplied] = s_.multiplications.columns;
  t.counts[Tables::multiplications] = s_.multiplications.calls;
  t.counts[Tables::random_fills] = static_cast<Index>(s_.random_fills);
  t.counts[Tables::before_last_group] = found_.before_last();
  t.numbers[Tables::a_norm_seen] = test_.a_norm(s_.norms);
  t.ritz_values = s_.ritz_values;
  for (const FoundPair& pair : found_.pairs()) {
    t.found_values.push_back(pair.value);
    t.found_residuals.push_back(pair.residual);
    t.found_scaled.push_back(pair.scaled);
  }
  std::vector<BlockColumns<T>> sets;
  for (auto k = static_cast<std::size_t>(first_found_); k < s_.constraints.size(); ++k)
    sets.push_back(s_.constraints[k].vectors());
  sets.push_back(s_.x.vectors());
  try {
    write_checkpoint<T>(runtime_, given_.checkpoint, std::move(t), sets);
    ++result_.checkpoints;
    result_.checkpoint_failure.clear();
  } catch (const InputError& error) {
    result_.checkpoint_failure = error.what();
    runtime_.log(LogLevel::warning, fmt::format("lobpcg: no checkpoint of iteration {}: {}", s_.iteration,
                                                result_.checkpoint_failure));
  }
  saved_ = std::chrono::steady_clock::now();
  saved_iteration_ = s_.iteration;
}

#define TESSERA_INSTANTIATE(T)                      \
  template void EigenLoop<T>::resume();             \
  template bool EigenLoop<T>::is_resumed_problem(); \
  template void EigenLoop<T>::save_if_due();        \
  template void EigenLoop<T>::save();
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
