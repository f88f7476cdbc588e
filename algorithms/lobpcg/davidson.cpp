// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/algorithms/lobpcg/davidson.hpp>
#include <tessera/algorithms/lobpcg/eigen_loop.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_checks.hpp>

namespace tessera::detail {

namespace {

/// New directions are made orthonormal where otherwise rounding errors of the basis might grow by more than this in
/// Ritz vectors, were the directions as independent as the last ones; and made again where they have grown by more
/// than so many times this.
constexpr double trusted_basis_growth = 256, tolerated_excess = 4;

template <class T>
class DavidsonLoop final : public EigenLoop<T> {
 public:
  DavidsonLoop(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& of_loop,
               const DavidsonSizes& sizes, Index group)
      : EigenLoop<T>(runtime, problem, of_loop, group), sizes_(sizes), basis_(on_, sizes.basis) {}

 private:
  using EigenLoop<T>::on_, EigenLoop<T>::s_, EigenLoop<T>::options_, EigenLoop<T>::problem_,
      EigenLoop<T>::test_;

  bool extend_basis() override;
  bool measure_residuals() override;
  void next_directions() override;
  void bring_pairs() override;
  void begin_again() override;
  bool leave_pairs(Index count, Index guess) override;
  StepOutcome orthonormalise_w() override {
    return orthonormalise(on_, s_, basis_.parts(), basis_.factor(), true);
  }

  Index pairs() const { return static_cast<Index>(s_.ritz_values.size()); }
  double growth_limit() const;
  void take_values();
  void unlock_changed();
  void make_residuals_from(Index first);
  void precondition_residuals(Index columns);
  void merge(const ResidualNorms& found);
  std::vector<Index> targets() const;
  void select(const BlockVectors<T>& block, const std::vector<Index>& columns);

  DavidsonSizes sizes_;
  SearchBasis<T> basis_;
  Index first_ = 0;               ///< X and R hold the pairs from this one on
  Index directions_ = 0;          ///< W holds directions of that many of these, 0: not yet
  bool x_current_ = false;        ///< X are Ritz vectors of the present basis
  std::vector<double> measured_;  ///< Ritz value of each pair when its residual was measured
};

/// A V keeps the rounding errors of all products since they were made, which grow in Ritz vectors: to less than
/// this part of the smallest residual that is asked for.
template <class T>
double DavidsonLoop<T>::growth_limit() const {
  return std::min(trusted_basis_growth, 1e-3 * s_.residuals.finest / this->rounding());
}

template <class T>
bool DavidsonLoop<T>::extend_basis() {
  const Index end = std::min(sizes_.vectors, s_.locked + sizes_.targets);
  StepOutcome outcome = StepOutcome::dependent;
  const bool trusted = !s_.fresh && s_.constraints.empty() && s_.retries.unconfirmed == 0;
  const double growth = basis_.growth();
  if (trusted && growth <= growth_limit() * std::sqrt(s_.w_independence)) {
    multiply(on_, s_);
    outcome = basis_.extend(s_, s_.locked, end, tolerated_excess * growth_limit());
    if (outcome == StepOutcome::done) {
      s_.retries.random_directions = 0;
      s_.w_independence = std::min(1.0, std::pow(growth / basis_.step_growth(), 2));
    }
  }
  // Also where W or its Gram matrix is not finite: what is wrong is found out on the longer way.
  if (outcome == StepOutcome::dependent) {
    if (!this->orthonormalise_directions()) return false;
    multiply(on_, s_);
    outcome = basis_.extend(s_, s_.locked, end, 0);
  }
  if (!this->accept(outcome)) return false;
  take_values();
  return true;
}

/// The Ritz values of the basis as far as X has vectors.
template <class T>
void DavidsonLoop<T>::take_values() {
  const std::vector<double>& all = basis_.values();
  const auto count = std::min<std::size_t>(all.size(), static_cast<std::size_t>(sizes_.vectors));
  s_.ritz_values.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  x_current_ = false;
}

template <class T>
bool DavidsonLoop<T>::measure_residuals() {
  unlock_changed();
  for (bool again = false;; again = true) {
    make_residuals_from(s_.locked);
    // Before it is known which pairs have converged: the host looks at that meanwhile.
    if (this->preconditions_at_once() && !again)
      precondition_residuals(std::min(sizes_.targets, pairs() - first_));
    ResidualNorms found;
    const std::vector<double> values(s_.ritz_values.begin() + first_, s_.ritz_values.end());
    if (!this->measure(on_.tasks.wait_for_norms(), values, found)) return this->end_without_residuals();
    this->refuse_short(found);
    merge(found);
    // Residuals of locked pairs are of the basis that they were locked in: once more, before all is over.
    if (first_ == 0 || test_.converged(s_.residuals) < options_.count) break;
    s_.locked = 0;
  }
  s_.x.columns = pairs();
  s_.fresh = s_.confirmed = false;
  return true;
}

/// A locked pair whose Ritz value has moved by more than its residual allows is another pair now.
template <class T>
void DavidsonLoop<T>::unlock_changed() {
  s_.locked = std::min({s_.locked, pairs(), static_cast<Index>(measured_.size())});
  const double unit = 100 * this->rounding() * test_.a_norm(s_.norms);
  for (Index j = 0; j < s_.locked; ++j) {
    const auto k = static_cast<std::size_t>(j);
    if (!(std::abs(s_.ritz_values[k] - measured_[k]) <= s_.residuals.norms[k] + unit)) s_.locked = j;
  }
}

/// X and R := those of the pairs from `first` on.
template <class T>
void DavidsonLoop<T>::make_residuals_from(Index first) {
  first_ = first;
  directions_ = 0;
  basis_.ritz_vectors(s_.x, first, pairs());
  x_current_ = true;
  on_.tasks.residual(s_.x, s_.r,
                     std::span<const double>(s_.ritz_values).subspan(static_cast<std::size_t>(first)), 0);
}

/// W := T R of the first columns.
template <class T>
void DavidsonLoop<T>::precondition_residuals(Index columns) {
  s_.w.columns = columns;
  s_.w_orthonormal = false;
  precondition<T>(on_, s_, basis_.values());
  directions_ = columns;
}

template <class T>
void DavidsonLoop<T>::merge(const ResidualNorms& found) {
  const auto first = static_cast<std::size_t>(first_);
  const auto append = [&](std::vector<double>& to, const std::vector<double>& from) {
    to.resize(first);
    to.insert(to.end(), from.begin(), from.end());
  };
  append(s_.residuals.norms, found.norms);
  append(s_.residuals.scaled, found.scaled);
  append(measured_, {s_.ritz_values.begin() + first_, s_.ritz_values.end()});
  s_.residuals.finest = found.finest;
  s_.residuals.at_tolerance = found.at_tolerance;
}

/// The block's columns from 0 on := these, ascending.
template <class T>
void DavidsonLoop<T>::select(const BlockVectors<T>& block, const std::vector<Index>& columns) {
  const auto count = static_cast<Index>(columns.size()), all = columns.back() + 1;
  if (count == all) return;
  SmallOf<T> c(all, count);
  for (Index j = 0; j < count; ++j) c(columns[static_cast<std::size_t>(j)], j) = 1;
  const BlockColumns<T> from{&block, 0, all}, to{&block, 0, count};
  on_.tasks.combine({&from, 1}, {&to, 1}, c);
}

/// The columns of R whose pairs get directions: those that have not converged, from the wanted end on; without
/// locking then others.
template <class T>
std::vector<Index> DavidsonLoop<T>::targets() const {
  std::vector<Index> columns;
  for (const bool open : {true, false}) {
    if (!open && options_.lock && !columns.empty()) break;
    for (Index j = first_; j < pairs() && static_cast<Index>(columns.size()) < sizes_.targets; ++j)
      if ((s_.residuals.scaled[static_cast<std::size_t>(j)] > options_.tolerance) == open)
        columns.push_back(j - first_);
  }
  std::sort(columns.begin(), columns.end());
  return columns;
}

template <class T>
void DavidsonLoop<T>::next_directions() {
  const std::vector<Index> columns = targets();
  std::vector<Index> made = columns;
  std::erase_if(made, [&](Index j) { return j >= directions_; });
  if (!made.empty() && (options_.lock || made.size() == columns.size())) {
    select(s_.w.v, made);
    s_.w.columns = static_cast<Index>(made.size());
    return;
  }
  select(s_.r, columns);
  precondition_residuals(static_cast<Index>(columns.size()));
}

template <class T>
void DavidsonLoop<T>::bring_pairs() {
  s_.x.columns = pairs();
  if (basis_.columns() == 0 || (x_current_ && first_ == 0)) return;
  basis_.ritz_vectors(s_.x, 0, pairs());
  x_current_ = true;
  first_ = 0;
}

template <class T>
void DavidsonLoop<T>::begin_again() {
  bring_pairs();
  basis_.clear();
  restart(on_, s_);
  measured_.clear();
}

template <class T>
bool DavidsonLoop<T>::leave_pairs(Index count, Index guess) {
  basis_.leave(count, s_.projected_norm);
  measured_.clear();
  first_ = directions_ = 0;
  x_current_ = false;
  s_.drift = 0;
  s_.fresh = basis_.columns() == 0;
  s_.ritz_values.clear();
  if (!s_.fresh) take_values();
  if (s_.w.v.width() < sizes_.vectors) s_.w = on_.new_block(sizes_.vectors);
  const Index known = guess_from(on_, s_, guess, options_.count), missing = sizes_.vectors - pairs();
  if (known == 0 && missing <= 0) return false;
  start_with(on_, s_, known, std::max(known, missing));
  return true;
}

}  // namespace

Index davidson_vectors(Index count, Index block, bool several) {
  return several ? std::min<Index>(count + block, max_block_columns) : std::max(count, block);
}

Index least_davidson_basis(Index vectors, Index block) {
  return vectors + 2 * block;
}

DavidsonSizes davidson_sizes(Index vectors, Index block, Index most_columns) {
  DavidsonSizes sizes{.vectors = vectors, .targets = block, .basis = {}};
  BasisSizes& basis = sizes.basis;
  basis.most = most_columns;
  basis.spaces = block;
  // Some Ritz vectors behind the wanted ones, where there is space for them.
  const Index guards = std::max<Index>(2, sizes.vectors / 2);
  // With the last step's directions they are columns of two blocks (SearchBasis::shrink).
  const Index most_pairs = std::min(sizes.vectors + guards, 2 * max_block_columns - block);
  basis.pairs = std::clamp(most_columns - 2 * block, sizes.vectors, most_pairs);
  return sizes;
}

template <class T>
LobpcgResult<T> solve_davidson(Runtime& runtime, const LobpcgProblem<T>& problem,
                               const LobpcgOptions& resolved) {
  const Index pairs = pairs_of_group(resolved),
              vectors = davidson_vectors(pairs, resolved.block, has_groups(resolved));
  const DavidsonSizes sizes = davidson_sizes(vectors, resolved.block, resolved.basis);
  LobpcgOptions of_loop = resolved;
  of_loop.block = sizes.vectors;
  return DavidsonLoop<T>(runtime, problem, of_loop, sizes, pairs).solve();
}

#define TESSERA_INSTANTIATE(T) \
  template LobpcgResult<T> solve_davidson(Runtime&, const LobpcgProblem<T>&, const LobpcgOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
