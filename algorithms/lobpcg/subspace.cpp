// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/share_result.hpp>
#include <tessera/algorithms/lobpcg/subspace.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera {
namespace {

template <class T>
Index widest(const LobpcgProblem<T>& problem, Index block) {
  return std::max(block, std::min<Index>(problem.constraint_count, max_block_columns));
}

}  // namespace

/// What a Rayleigh-Ritz step leaves.
template <class T>
struct Subspace<T>::RitzOutcome {
  RitzStep step;
  Index with_p = 1;  ///< P has taken part
  double a_norm = 0, asymmetry = 0, drift = 0;
  double independence = 0;  ///< of a W that is not orthonormal

  template <class Visit>
  void each_field(const Visit& visit) {
    step.each_field(visit);
    visit(with_p), visit(a_norm), visit(asymmetry), visit(drift), visit(independence);
  }
};

template <class T>
Subspace<T>::Subspace(Sequence& sequence, const LobpcgProblem<T>& problem, const LobpcgOptions& options,
                      Index block)
    : tasks_(sequence, problem.a->segments(), widest(problem, block)),
      problem_(problem),
      options_(options),
      block_(block),
      order_(problem.a->order()),
      x_block_(new_block(block, true)),
      w_block_(new_block(block, true)),
      p_block_(new_block(block, true)),
      r_(tasks_.block(block)) {
  sequence.resume_stage("dense");
}

template <class T>
typename Subspace<T>::Block Subspace<T>::new_block(Index width, bool with_a) const {
  Block block;
  block.v = tasks_.block(width);
  if (with_a) block.av = tasks_.block(width);
  if (problem_.b) block.bv = tasks_.block(width);
  return block;
}

template <class T>
bool Subspace<T>::start() {
  if (!add_constraints()) return false;
  // A solve that fails at once gives these zeros back.
  tasks_.random(x_block_.v, 0, 0, 0, true);
  const Index guess = problem_.guess ? problem_.guess_count : 0;
  if (guess > 0) {
    const BlockColumns<T> from[] = {{problem_.guess, 0, guess}}, to[] = {{&w_block_.v, 0, guess}};
    tasks_.combine(from, to, unit_matrix(guess));
  }
  tasks_.random(w_block_.v, guess, block_ - guess, splitmix(options_.seed, random_fills_++), guess == 0);
  w_ = block_;
  return true;
}

/// The constraints, copied and made B-orthonormal, 32 at a time.
template <class T>
bool Subspace<T>::add_constraints() {
  const Index count = problem_.constraints ? problem_.constraint_count : 0;
  for (Index first = 0; first < count; first += max_block_columns) {
    const Index width = std::min<Index>(max_block_columns, count - first);
    Block group = new_block(width, false);
    const BlockColumns<T> from[] = {{problem_.constraints, first, width}}, to[] = {{&group.v, 0, width}};
    tasks_.combine(from, to, unit_matrix(width));
    Index columns = width;
    const Outcome outcome = orthonormalise(group, columns, 0, true);
    if (outcome != Outcome::done || columns < width) return false;
    constraints_.push_back(std::move(group));
  }
  return true;
}

template <class T>
void Subspace<T>::restart() {
  if (w_block_.v.width() < x_) w_block_ = new_block(block_, true);
  // A copy: if nothing comes of it, X is what there is (keep_last()).
  const BlockColumns<T> from[] = {{&x_block_.v, 0, x_}}, to[] = {{&w_block_.v, 0, x_}};
  tasks_.combine(from, to, unit_matrix(x_));
  w_ = x_;
  x_ = p_ = p_first_ = 0;
  passes_ = 0;
  drift_ = 0;
  orthonormal_ = false;
}

template <class T>
void Subspace<T>::keep_last() {
  x_ = static_cast<Index>(values_.size());
}

template <class T>
void Subspace<T>::new_directions(Index first) {
  w_ = x_ - first;
  orthonormal_ = false;
  if (!problem_.preconditioner) return std::swap(r_, w_block_.v);
  // Whole segments travel to other ranks and GPUs: fewer columns to multiply are less to send. A pair that
  // was converged may need its column again.
  if (const Index width = w_block_.v.width(); w_ > width || 4 * w_ <= 3 * width)
    w_block_ = new_block(w_ > width ? std::max(block_, w_) : w_, true);
  Sequence& sequence = tasks_.sequence();
  sequence.resume_stage("preconditioner");
  // What it throws on one rank all throw. Not so what apply() throws: tasks of the other ranks may wait for
  // those of the one that has thrown.
  agree(sequence.runtime(), 0, [&] { problem_.preconditioner->prepare(sequence, values_, first); });
  problem_.preconditioner->apply(sequence, r_, w_block_.v, w_);
  sequence.resume_stage("dense");
}

template <class T>
void Subspace<T>::drop_directions(Index count) {
  w_ -= count;
  const BlockColumns<T> from[] = {{&w_block_.v, count, w_}}, to[] = {{&w_block_.v, 0, w_}};
  tasks_.combine(from, to, unit_matrix(w_));
}

template <class T>
void Subspace<T>::multiply_b(Block& block, Index columns) {
  if (!problem_.b) return;
  tasks_.sequence().resume_stage("multiply");
  problem_.b->apply(tasks_.sequence(), block.v, block.bv, columns);
  tasks_.sequence().resume_stage("dense");
}

/// What is known of the projected problem without large vectors gathers rounding: now and then all is
/// computed.
template <class T>
bool Subspace<T>::measures_all() const {
  const Index interval = sizeof(T) == 4 ? 8 : 20;
  return options_.variant == LobpcgVariant::basic || passes_ % interval == interval - 1;
}

/// Rounding errors of vectors grow by 1 / sqrt(independence) in the step: by this much at most (those of
/// inner products by its square). So never those of vectors in single precision, whose own are larger.
template <class T>
bool Subspace<T>::is_independent(double independence, double growth) const {
  return precision<T> <= growth * precision<double> * std::sqrt(independence);
}

/// OrthonormalRound's. @param products [X W P]^T B W
template <class T>
double Subspace<T>::independence(const SmallMatrix& products) const {
  SmallMatrix z_w(x_ + p_, w_);
  z_w.set_block(0, 0, products.block(0, 0, x_, w_));
  z_w.set_block(x_, 0, products.block(x_ + w_, 0, p_, w_));
  const OrthonormalRound found =
      orthonormal_round(z_w, products.block(x_, 0, w_, w_), {.unit = precision<T>, .norm = projected_norm_});
  return found.finite && found.positive ? found.independence : 0;
}

template <class T>
bool Subspace<T>::relies_on_directions() const {
  return x_ > 0 && options_.variant == LobpcgVariant::orthonormal && constraints_.empty() &&
         !measures_all() && is_independent(independence_, 32);
}

template <class T>
void Subspace<T>::multiply() {
  if (!orthonormal_) multiply_b(w_block_, w_);
  tasks_.sequence().resume_stage("multiply");
  problem_.a->apply(tasks_.sequence(), w_block_.v, w_block_.av, w_);
  tasks_.sequence().resume_stage("dense");
  columns_multiplied_ += w_;
  ++multiplications_;
}

template <class T>
typename Subspace<T>::Outcome Subspace<T>::orthonormalise() {
  orthonormal_ = true;
  return orthonormalise(w_block_, w_, w_, !constraints_.empty());
}

/// @param want columns to have at the end, random ones if need be
/// @param strict orthonormal to rounding; else so far that the Rayleigh-Ritz step's Gram matrix does the rest
template <class T>
typename Subspace<T>::Outcome Subspace<T>::orthonormalise(Block& block, Index& columns, Index want,
                                                          bool strict) {
  constexpr Index max_rounds = 10;
  constexpr double growth_of_products = 1e3;
  const double unit = precision<T>;
  const bool basic = options_.variant == LobpcgVariant::basic && &block == &w_block_ && x_ > 0;
  // After an accepted round without `strict` vectors are orthonormal to 1e-3 at least.
  OrthonormalRules rules{.unit = unit,
                         .accept = strict ? 0.5 : std::max(4e6 * unit * unit, 2e3 * 32 * precision<double>),
                         .transform = !basic,
                         .norm = projected_norm_ > 0 ? projected_norm_ : 1};
  bool nothing = false, products_known = false, random_added = false;
  Index random_rounds = want > 0 ? 2 : 0;
  for (Index number = 0; number < max_rounds; ++number) {
    if (!products_known) multiply_b(block, columns);
    const OrthonormalRound step = round(block, columns, rules, !basic);
    if (!step.finite) return Outcome::not_finite;
    if (!step.positive) return Outcome::not_positive;
    if (number == 0) independence_ = step.independence;
    const Index kept = step.of_w.cols;
    products_known = problem_.b && step.growth < growth_of_products;
    apply_round(block, columns, step, !basic, products_known);
    // Also later than in the first round: what lies in the span of Z is made longer there, and seen in the
    // next.
    if (!random_added) nothing = kept == 0;
    // What a round has made longer than rounding allows is dropped in the next one, if it was rounding.
    // (Without `transform` they have not become unit vectors, nor have random ones.)
    rules.unit_columns = rules.transform ? kept : 0;
    rules.smallest = 0.5;
    if (step.growth > 1)
      rules.smallest = std::min(0.5, 10 * unit * static_cast<double>(columns) * step.growth);
    columns = kept;
    if (kept < want && random_rounds > 0) {
      tasks_.random(block.v, kept, want - kept, splitmix(options_.seed, random_fills_++), false);
      columns = want;
      products_known = false;
      random_added = true;
      --random_rounds;
    } else if (kept == 0 || step.accepted) {
      break;
    }
  }
  if (!products_known && columns > 0) multiply_b(block, columns);
  return nothing || columns == 0 ? Outcome::nothing_left : Outcome::done;
}

/// @param to_x to X and P, too
template <class T>
OrthonormalRound Subspace<T>::round(Block& block, Index columns, const OrthonormalRules& rules, bool to_x) {
  const Index x = to_x ? x_ : 0, p = to_x ? p_ : 0;
  std::vector<GramJob<T>> jobs;
  const BlockColumns<T> right{&mass(block), 0, columns};
  jobs.push_back({{{&x_block_.v, 0, x}, {&p_block_.v, p_first_, p}, {&block.v, 0, columns}}, {right}});
  for (const Block& group : constraints_) jobs.push_back({{{&group.v, 0, group.v.width()}}, {right}});
  const std::vector<SmallMatrix> sums = tasks_.grams(jobs);

  OrthonormalRound step;
  if (sums.empty()) {
    step.finite = 0;
  } else {
    Index rows = x + p;
    for (const Block& group : constraints_) rows += group.v.width();
    SmallMatrix z_w(rows, columns);
    z_w.set_block(0, 0, sums[0].block(0, 0, x + p, columns));
    Index first = x + p;
    for (std::size_t g = 1; g < sums.size(); ++g) {
      z_w.set_block(first, 0, sums[g]);
      first += sums[g].rows;
    }
    step = orthonormal_round(z_w, sums[0].block(x + p, 0, columns, columns), rules);
  }
  share_result(tasks_.sequence().runtime(), step);
  return step;
}

/// @param masses the products with B, too
template <class T>
void Subspace<T>::apply_round(Block& block, Index columns, const OrthonormalRound& step, bool to_x,
                              bool masses) {
  const Index x = to_x ? x_ : 0, p = to_x ? p_ : 0, kept = step.of_w.cols;
  if (kept == 0) return;
  const auto apply = [&](auto part) {
    // The first group of constraints goes with X and P, further ones add to the result.
    const Index group_columns = constraints_.empty() ? 0 : constraints_[0].v.width();
    SmallMatrix c(x + p + group_columns + columns, kept);
    c.set_block(0, 0, step.of_z.block(0, 0, x + p + group_columns, kept));
    c.set_block(x + p + group_columns, 0, step.of_w);
    std::vector<BlockColumns<T>> inputs{{&part(x_block_), 0, x}, {&part(p_block_), p_first_, p}};
    if (group_columns > 0) inputs.push_back({&part(constraints_[0]), 0, group_columns});
    inputs.push_back({&part(block), 0, columns});
    const BlockColumns<T> output[] = {{&part(block), 0, kept}};
    tasks_.combine(inputs, output, c);
    Index first = x + p + group_columns;
    for (std::size_t g = 1; g < constraints_.size(); ++g) {
      const Index width = constraints_[g].v.width();
      SmallMatrix more(kept + width, kept);
      more.set_block(0, 0, unit_matrix(kept));
      more.set_block(kept, 0, step.of_z.block(first, 0, width, kept));
      const BlockColumns<T> both[] = {output[0], {&part(constraints_[g]), 0, width}};
      tasks_.combine(both, output, more);
      first += width;
    }
  };
  apply([](auto& b) -> const BlockVectors<T>& { return b.v; });
  if (masses) apply([](auto& b) -> const BlockVectors<T>& { return b.bv; });
}

template <class T>
typename Subspace<T>::Outcome Subspace<T>::rayleigh_ritz(Index first_active) {
  const bool all = measures_all();
  const RitzOutcome outcome = solve_projected(first_active, all);
  if (!orthonormal_) {
    independence_ = outcome.independence;
    if (!is_independent(independence_, 128)) return Outcome::dependent;
  }
  ++passes_;
  if (!outcome.step.finite) return Outcome::not_finite;
  if (!outcome.step.positive) return Outcome::not_positive;
  projected_norm_ = std::max(projected_norm_, outcome.step.norm);
  if (!problem_.b) norm_ = std::max({norm_, outcome.step.norm, outcome.a_norm});
  if (x_ == 0) asymmetry_ = outcome.asymmetry;
  if (x_ > 0 && all) drift_ = outcome.drift;
  if (!outcome.with_p) p_ = 0;
  update(outcome.step);
  return Outcome::done;
}

template <class T>
typename Subspace<T>::RitzOutcome Subspace<T>::solve_projected(Index first_active, bool all) {
  const std::vector<BlockColumns<T>> basis{
      {&x_block_.v, 0, x_}, {&w_block_.v, 0, w_}, {&p_block_.v, p_first_, p_}};
  std::vector<GramJob<T>> jobs{{basis, {{&w_block_.av, 0, w_}, {&mass(w_block_), 0, w_}}}};
  if (x_ == 0)
    for (const BlockVectors<T>* v : {&w_block_.av, &w_block_.v}) jobs.push_back({{{v, 0, w_}}, {{v, 0, w_}}});
  if (x_ > 0 && all) {
    jobs.push_back({basis, {{&x_block_.av, 0, x_}, {&p_block_.av, p_first_, p_}}});
    jobs.push_back({basis, {{&mass(x_block_), 0, x_}, {&mass(p_block_), p_first_, p_}}});
  }
  const std::vector<SmallMatrix> sums = tasks_.grams(jobs);
  RitzOutcome outcome;
  if (sums.empty()) {
    outcome.step.finite = 0;
    share_result(tasks_.sequence().runtime(), outcome);
    return outcome;
  }
  if (!orthonormal_) {
    outcome.independence = independence(sums[0].block(0, w_, x_ + w_ + p_, w_));
    if (!is_independent(outcome.independence, 128)) {
      share_result(tasks_.sequence().runtime(), outcome);
      return outcome;
    }
  }
  // The matrices in the order X, W, P: the columns of W first, then those of X and P as known or as measured.
  const Index s = x_ + w_ + p_;
  const double sign = options_.end == EigenEnd::smallest ? 1 : -1;
  SmallMatrix h(s, s), g = unit_matrix(s);
  const auto fill = [&](SmallMatrix& to, Index column, const SmallMatrix& from, Index from_column,
                        Index count) { to.set_block(0, column, from.block(0, from_column, s, count)); };
  fill(h, x_, sums[0], 0, w_);
  fill(g, x_, sums[0], w_, w_);
  if (x_ > 0 && all) {
    fill(h, 0, sums[1], 0, x_);
    fill(h, x_ + w_, sums[1], x_, p_);
    fill(g, 0, sums[2], 0, x_);
    fill(g, x_ + w_, sums[2], x_, p_);
    for (Index j = 0; j < w_; ++j)
      for (Index i = 0; i < x_; ++i)
        outcome.drift = std::max(outcome.drift, std::abs(h(i, x_ + j) - h(x_ + j, i)) / projected_norm_);
  } else {
    for (Index j = 0; j < w_; ++j)
      for (Index i = 0; i < s; ++i)
        if (i < x_ || i >= x_ + w_) h(x_ + j, i) = h(i, x_ + j), g(x_ + j, i) = g(i, x_ + j);
    for (Index j = 0; j < x_; ++j) h(j, j) = values_[static_cast<std::size_t>(j)];
    for (Index j = 0; j < p_; ++j)
      for (Index i = 0; i < p_; ++i) h(x_ + w_ + i, x_ + w_ + j) = p_matrix_(i, j);
  }
  if (x_ == 0) {
    double square = 0, difference = 0, largest = 0;
    for (Index j = 0; j < w_; ++j) {
      square = std::max(square, sums[1](j, j));
      largest = std::max(largest, std::sqrt(sums[1](j, j)) * std::sqrt(sums[2](j, j)));
      for (Index i = 0; i < j; ++i) difference = std::max(difference, std::abs(h(i, j) - h(j, i)));
    }
    outcome.a_norm = std::sqrt(square);
    outcome.asymmetry = largest > 0 ? difference / largest : 0;
  }
  h = symmetric_part(h);
  for (double& value : h.values) value *= sign;
  ProjectedProblem projected{.x = x_, .w = w_, .p = p_, .matrix = h, .gram = symmetric_part(g)};
  projected.keep = std::min(block_, s);
  projected.first_active = first_active;
  projected.orthonormal = options_.variant == LobpcgVariant::orthonormal;
  outcome.step = ritz_step(projected);
  if (!outcome.step.positive && p_ > 0 && projected.orthonormal) {
    // P has lost its independence: without it.
    outcome.with_p = 0;
    projected.p = 0;
    projected.matrix = projected.matrix.block(0, 0, x_ + w_, x_ + w_);
    projected.gram = projected.gram.block(0, 0, x_ + w_, x_ + w_);
    projected.keep = std::min(block_, x_ + w_);
    outcome.step = ritz_step(projected);
  }
  share_result(tasks_.sequence().runtime(), outcome);
  return outcome;
}

template <class T>
void Subspace<T>::update(const RitzStep& step) {
  const auto keep = static_cast<Index>(step.values.size());
  const Index directions = step.coefficients.cols - keep;
  const auto combine = [&](const BlockVectors<T>& x, const BlockVectors<T>& w, const BlockVectors<T>& p) {
    const BlockColumns<T> inputs[] = {{&x, 0, x_}, {&w, 0, w_}, {&p, p_first_, p_}};
    const BlockColumns<T> outputs[] = {{&x, 0, keep}, {&p, 0, directions}};
    tasks_.combine(inputs, outputs, step.coefficients);
  };
  combine(x_block_.v, w_block_.v, p_block_.v);
  combine(x_block_.av, w_block_.av, p_block_.av);
  if (problem_.b) combine(x_block_.bv, w_block_.bv, p_block_.bv);
  const double sign = options_.end == EigenEnd::smallest ? 1 : -1;
  values_ = step.values;
  for (double& value : values_) value *= sign;
  p_matrix_ = step.p_matrix;
  for (double& value : p_matrix_.values) value *= sign;
  owners_ = step.owners;
  x_ = keep;
  p_ = directions;
  p_first_ = 0;
}

template <class T>
void Subspace<T>::residuals(Index first) {
  tasks_.residual(x_block_.v, x_block_.av, problem_.b ? &x_block_.bv : nullptr, r_, values_, first);
}

template <class T>
void Subspace<T>::forget_directions(Index first) {
  const auto gone =
      static_cast<Index>(std::lower_bound(owners_.begin(), owners_.end(), first) - owners_.begin());
  if (gone == 0) return;
  owners_.erase(owners_.begin(), owners_.begin() + gone);
  p_first_ += gone;
  p_ -= gone;
  p_matrix_ = p_matrix_.block(gone, gone, p_, p_);
}

template <class T>
std::vector<double> Subspace<T>::verify(double& defect) {
  multiply_b(x_block_, x_);
  tasks_.sequence().resume_stage("multiply");
  problem_.a->apply(tasks_.sequence(), x_block_.v, x_block_.av, x_);
  tasks_.sequence().resume_stage("dense");
  columns_multiplied_ += x_;
  ++multiplications_;
  const GramJob<T> job[] = {{{{&x_block_.v, 0, x_}}, {{&mass(x_block_), 0, x_}}}};
  const std::vector<SmallMatrix> sums = tasks_.grams(job);
  defect = 0;
  for (const SmallMatrix& g : sums)
    for (Index j = 0; j < x_; ++j)
      for (Index i = 0; i < x_; ++i) defect = std::max(defect, std::abs(g(i, j) - (i == j ? 1 : 0)));
  tasks_.sequence().runtime().broadcast(&defect, sizeof defect, 0);
  residuals(0);
  return wait_for_norms();
}

template class Subspace<float>;
template class Subspace<double>;

}  // namespace tessera
