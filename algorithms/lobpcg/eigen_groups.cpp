// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>
#include <tessera/runtime/require_success.hpp>

/// Groups of pairs, where more are wanted than a block holds.
namespace tessera::detail {

/// The residuals of a group's vectors are parts of those of all later groups, up to the root of their number:
/// stricter than was asked for, but not finer than rounding.
template <class T>
void EigenLoop<T>::set_group(Index pairs) {
  options_.count = pairs;
  options_.iterations = s_.iteration + std::min(given_.iterations, std::numeric_limits<Index>::max() / 2);
  if (!has_groups(given_)) return;
  constexpr double stricter = 0.1;
  options_.tolerance = std::max(stricter * given_.tolerance, std::min(given_.tolerance, 100 * rounding()));
  test_.set_tolerance(options_.tolerance);
}

/// Where a group cannot be had to more than was asked for: whether it has that.
template <class T>
bool EigenLoop<T>::relax() {
  if (options_.tolerance >= given_.tolerance) return false;
  options_.tolerance = given_.tolerance;
  test_.set_tolerance(options_.tolerance);
  return test_.converged(s_.residuals) >= options_.count;
}

/// All pairs of a group have converged, and X is confirmed.
template <class T>
bool EigenLoop<T>::end_group() {
  const auto good = [&] {
    return end(StatusCode::success,
               fmt::format("{} eigenpairs in {} iterations", given_.count, s_.iteration));
  };
  if (!has_groups(given_)) return good();
  const Index left = std::max(options_.count, given_.count - found_.size()),
              count = std::min({test_.converged(s_.residuals), left, s_.x.columns});
  keep_pairs(count);
  const Index pairs = found_.next(pairs_);
  all_found_ = pairs == 0;
  if (all_found_ && found_.has_gap())
    return end(
        StatusCode::stagnated,
        fmt::format("after {} eigenpairs others are found that are nearer to the wanted end: some may be "
                    "missing",
                    found_.size()));
  if (all_found_) return good();
  ++s_.iteration;
  set_group(pairs);
  s_.locked = 0;
  s_.retries = {};
  s_.confirmed = false;
  progress_ = {};
  has_directions_ = leave_pairs(count, found_.size());
  return false;
}

/// The first `count` of X become constraints.
template <class T>
void EigenLoop<T>::keep_pairs(Index count) {
  found_.add(s_.ritz_values, s_.residuals.norms, s_.residuals.scaled, count);
  for (Index done = 0; done < count;) {
    if (static_cast<Index>(s_.constraints.size()) == first_found_ ||
        s_.constraints.back().columns == max_block_columns)
      s_.constraints.push_back(on_.new_block(max_block_columns, false));
    ProductBlock<T>& to = s_.constraints.back();
    const Index columns = std::min<Index>(count - done, max_block_columns - to.columns);
    const auto copy = [&](const BlockVectors<T>& from, const BlockVectors<T>& target) {
      const BlockColumns<T> source{&from, done, columns}, place{&target, to.columns, columns};
      on_.tasks.combine({&source, 1}, {&place, 1}, unit_matrix<WideOf<T>>(columns), to.columns > 0);
    };
    copy(s_.x.v, to.v);
    if (problem_.b) copy(s_.x.bv, to.bv);
    to.columns += columns;
    done += columns;
  }
}

/// The result of all groups; it has that of the last one, if that has not come to its end.
template <class T>
void EigenLoop<T>::collect() {
  const BlockVectors<T> last = std::exchange(result_.vectors, {});
  const Index kept = found_.size();
  if (!all_found_)
    found_.add(result_.values, result_.residuals, result_.scaled_residuals,
               static_cast<Index>(result_.values.size()));
  const std::vector<FoundPair> pairs = found_.in_order();
  result_.values.clear();
  result_.residuals.clear();
  result_.scaled_residuals.clear();
  result_.converged = 0;
  result_.vectors = BlockVectors<T>(runtime_, problem_.a->segments(), given_.count);
  Sequence sequence(runtime_);
  VectorTasks<T> tasks(sequence, problem_.a->segments(), 1);
  tasks.random({&result_.vectors, 0, 0}, 0, Store::overwrite);
  const auto block_of = [&](Index place) { return place < kept ? place / max_block_columns : -1; };
  for (std::size_t k = 0, end = 0; k < pairs.size(); k = end) {
    const Index place = pairs[k].place, block = block_of(place);
    for (end = k + 1; end < pairs.size() && pairs[end].place == pairs[end - 1].place + 1 &&
                      block_of(pairs[end].place) == block;)
      ++end;
    const BlockColumns<T> from{
        block < 0 ? &last : &s_.constraints[static_cast<std::size_t>(first_found_ + block)].v,
        block < 0 ? place - kept : place % max_block_columns, static_cast<Index>(end - k)},
        to{&result_.vectors, static_cast<Index>(k), from.columns};
    tasks.combine({&from, 1}, {&to, 1}, unit_matrix<WideOf<T>>(from.columns), true);
  }
  require_success(runtime_, sequence.wait());
  bool open = false;
  for (const FoundPair& pair : pairs) {
    result_.values.push_back(pair.value);
    result_.residuals.push_back(pair.residual);
    result_.scaled_residuals.push_back(pair.scaled);
    open = open || !(pair.scaled <= given_.tolerance);
    if (!open) ++result_.converged;
  }
}

#define TESSERA_INSTANTIATE(T)                  \
  template void EigenLoop<T>::set_group(Index); \
  template bool EigenLoop<T>::relax();          \
  template bool EigenLoop<T>::end_group();      \
  template void EigenLoop<T>::collect();
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
