// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <tessera/algorithms/lobpcg/search_basis.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>

namespace tessera::detail {

namespace {

/// [old, c; c^H, d] of the last columns' [c; d], whose lengths become those that `scale` makes of them.
template <class S>
SmallMatrixOf<S> bordered(const SmallMatrixOf<S>& old, const SmallMatrixOf<S>& columns,
                          const std::vector<double>& scale, double sign) {
  const Index m = old.rows, w = columns.cols;
  SmallMatrixOf<S> all(m + w, m + w);
  all.set_block(0, 0, old);
  const auto factor = [&](Index j) { return scale[static_cast<std::size_t>(j)]; };
  for (Index j = 0; j < w; ++j) {
    for (Index i = 0; i < m; ++i) {
      all(i, m + j) = sign * factor(j) * columns(i, j);
      all(m + j, i) = conjugate(all(i, m + j));
    }
    for (Index i = 0; i < w; ++i)
      all(m + i, m + j) =
          sign * factor(i) * factor(j) * (columns(m + i, j) + conjugate(columns(m + j, i))) / 2.0;
  }
  return all;
}

}  // namespace

/// What a step leaves.
template <class T>
struct SearchBasis<T>::Outcome {
  BasisStep<WideOf<T>> step;
  std::vector<double> scale;  ///< makes the columns of W unit vectors
  ShownByStart shown;
  SmallOf<T> matrix, gram;  ///< of [V W], not shared

  template <class Visit>
  void each_field(const Visit& visit) {
    step.each_field(visit);
    visit(scale), visit(shown.a_norm), visit(shown.asymmetry);
  }
};

template <class T>
SearchBasis<T>::SearchBasis(LobpcgContext<T>& on, const BasisSizes& sizes) : on_(on), sizes_(sizes) {
  for (Index first = 0; first < sizes.most; first += max_block_columns)
    blocks_.push_back(on.new_block(std::min<Index>(max_block_columns, sizes.most - first)));
}

template <class T>
std::vector<BasisPart<T>> SearchBasis<T>::parts() const {
  std::vector<BasisPart<T>> parts;
  for (Index first = 0; first < columns_; first += max_block_columns)
    parts.push_back({&blocks_[static_cast<std::size_t>(first / max_block_columns)], 0,
                     std::min<Index>(max_block_columns, columns_ - first)});
  return parts;
}

template <class T>
SmallOf<T> SearchBasis<T>::factor() const {
  if (on_.runtime().rank() != 0 || columns_ == 0) return {};
  SmallOf<T> l = gram_;
  // The step that has accepted these columns has factored it.
  if (!cholesky(l)) return {};
  return l;
}

template <class T>
std::vector<BlockColumns<T>> SearchBasis<T>::columns_of(Part part) const {
  std::vector<BlockColumns<T>> columns;
  for (const BasisPart<T>& of : parts()) columns.push_back({&(of.block->*part), of.first, of.columns});
  return columns;
}

template <class T>
StepOutcome SearchBasis<T>::extend(LobpcgState<T>& s, Index first, Index end, double max_growth) {
  std::vector<BlockColumns<T>> left = columns_of(&ProductBlock<T>::v);
  left.push_back(s.w.vectors());
  std::vector<GramJob<T>> jobs = gram_jobs<T>(left, {s.w.a_products(), s.w.b_products()});
  if (s.fresh) {
    jobs.push_back({{s.w.a_products()}, {s.w.a_products()}});
    jobs.push_back({{s.w.vectors()}, {s.w.vectors()}});
  }
  const std::vector<SmallOf<T>> sums = on_.tasks.grams(jobs);
  Outcome outcome;
  if (!sums.empty())
    outcome = project(s, sums, first, end);
  else
    outcome.step.finite = 0;
  share_result(on_.runtime(), outcome);

  const BasisStep<WideOf<T>>& step = outcome.step;
  if (!s.w_orthonormal && !(step.growth <= max_growth)) return StepOutcome::dependent;
  if (!step.finite) return StepOutcome::not_finite;
  if (!step.positive) return StepOutcome::not_positive;
  s.projected_norm = std::max(s.projected_norm, step.norm);
  if (!on_.problem.b) s.norms.a = std::max({s.norms.a, step.norm, outcome.shown.a_norm});
  if (s.fresh) s.asymmetry = outcome.shown.asymmetry;
  append(s.w, outcome.scale);
  matrix_ = std::move(outcome.matrix);
  gram_ = std::move(outcome.gram);
  coefficients_ = step.coefficients;
  values_ = step.values;
  for (double& value : values_) value *= on_.sign();
  growth_ = step_growth_ = step.growth;
  if (step.kept.cols == 0) return StepOutcome::done;
  shrink(step);
  // What is known of the projected problem without large vectors gathers rounding.
  constexpr Index interval = sizeof(RealOf<T>) == 4 ? 1 : 4;
  if (++restarts_ % interval == 0) s.drift = measure() / s.projected_norm;
  return StepOutcome::done;
}

/// On rank 0, from the sums.
template <class T>
typename SearchBasis<T>::Outcome SearchBasis<T>::project(const LobpcgState<T>& s,
                                                         const std::vector<SmallOf<T>>& sums, Index first,
                                                         Index end) const {
  Outcome outcome;
  bool in_range = true;
  const Index w = s.w.columns, size = columns_ + w;
  const std::size_t of_start = s.fresh ? 2 : 0;
  const SmallOf<T> all = stacked(std::span<const SmallOf<T>>(sums).first(sums.size() - of_start));
  const SmallOf<T> a = all.block(0, 0, size, w), b = all.block(0, w, size, w);
  for (Index j = 0; j < w; ++j) {
    const double square = real_part(b(columns_ + j, j));
    // Vectors that are to be orthonormal have lengths of about 1, unless B has them in its null space.
    outcome.step.positive = outcome.step.positive && square > (s.w_orthonormal ? 0.1 : 0);
    outcome.step.finite = outcome.step.finite && std::isfinite(square);
    in_range = in_range && within_range(square, s.projected_norm);
    outcome.scale.push_back(1 / std::sqrt(square));
  }
  outcome.step.growth = HUGE_VAL;
  if (!outcome.step.positive || !outcome.step.finite || !(in_range || s.w_orthonormal)) return outcome;
  if (of_start > 0)
    outcome.shown = shown_by_start(a.block(columns_, 0, w, w), sums[sums.size() - 2], sums[sums.size() - 1]);
  const SmallOf<T> none;
  outcome.matrix = bordered(columns_ > 0 ? matrix_ : none, a, outcome.scale, on_.sign());
  outcome.gram = bordered(columns_ > 0 ? gram_ : none, b, outcome.scale, 1);
  BasisProblem<WideOf<T>> problem{
      .matrix = outcome.matrix, .gram = outcome.gram, .pairs = sizes_.pairs, .previous = {}};
  problem.restarts = size + sizes_.spaces > sizes_.most;
  if (problem.restarts && columns_ > 0) {
    const Index last = std::min(end, coefficients_.cols);
    problem.previous =
        coefficients_.block(0, std::min(first, last), coefficients_.rows, std::max<Index>(last - first, 0));
  }
  outcome.step = basis_step(problem);
  return outcome;
}

/// V := [V, W diag(scale)], also of the products.
template <class T>
void SearchBasis<T>::append(const ProductBlock<T>& w, const std::vector<double>& scale) {
  for (Index done = 0; done < w.columns;) {
    const Index at = columns_ % max_block_columns;
    const Index count = std::min<Index>(w.columns - done, max_block_columns - at);
    ProductBlock<T>& block = blocks_[static_cast<std::size_t>(columns_ / max_block_columns)];
    SmallOf<T> c(count, count);
    for (Index j = 0; j < count; ++j) c(j, j) = scale[static_cast<std::size_t>(done + j)];
    const auto copy = [&](Part part) {
      const BlockColumns<T> from{&(w.*part), done, count}, to{&(block.*part), at, count};
      on_.tasks.combine({&from, 1}, {&to, 1}, c, at > 0);
    };
    copy(&ProductBlock<T>::v);
    copy(&ProductBlock<T>::av);
    if (on_.problem.b) copy(&ProductBlock<T>::bv);
    done += count;
    columns_ += count;
  }
}

/// The thick restart.
template <class T>
void SearchBasis<T>::shrink(const BasisStep<WideOf<T>>& step) {
  const Index kept = step.kept.cols, first = std::min<Index>(kept, max_block_columns);
  const auto rotate = [&](Part part) {
    std::vector<BlockColumns<T>> outputs{{&(blocks_[0].*part), 0, first}};
    if (kept > first) outputs.push_back({&(blocks_[1].*part), 0, kept - first});
    on_.tasks.combine(columns_of(part), outputs, step.kept);
  };
  rotate(&ProductBlock<T>::v);
  rotate(&ProductBlock<T>::av);
  if (on_.problem.b) rotate(&ProductBlock<T>::bv);
  columns_ = kept;
  matrix_ = step.kept_matrix;
  gram_ = unit_matrix<WideOf<T>>(kept);
  coefficients_ = unit_matrix<WideOf<T>>(kept).block(0, 0, kept, static_cast<Index>(values_.size()));
  growth_ = 1;
}

template <class T>
void SearchBasis<T>::leave(Index pairs, double norm) {
  BasisStep<WideOf<T>> step;
  const Index kept = std::min<Index>(columns_ - pairs, 2 * max_block_columns);
  if (on_.runtime().rank() == 0) {
    // What leaves goes behind all others, also where Ritz values are equal.
    const SmallOf<T> left = product(Op::none, gram_, Op::none, coefficients_.block(0, 0, columns_, pairs)),
                     outer = product(Op::none, left, Op::adjoint, left);
    BasisProblem<WideOf<T>> problem{.matrix = matrix_, .gram = gram_, .pairs = kept, .previous = {}};
    for (std::size_t k = 0; k < outer.values.size(); ++k)
      problem.matrix.values[k] += 4 * norm * outer.values[k];
    problem.matrix = hermitian_part(problem.matrix);
    if (kept > 0) step = basis_step(problem);
    step.kept = std::exchange(step.coefficients, {});
    step.kept_matrix = SmallOf<T>(kept, kept);
    for (Index j = 0; j < static_cast<Index>(step.values.size()); ++j)
      step.kept_matrix(j, j) = step.values[static_cast<std::size_t>(j)];
  }
  share_result(on_.runtime(), step);
  if (!step.finite || !step.positive || static_cast<Index>(step.values.size()) < kept || kept == 0)
    return clear();
  values_.assign(step.values.begin(), step.values.begin() + std::min(kept, sizes_.pairs));
  for (double& value : values_) value *= on_.sign();
  shrink(step);
}

/// The projected matrices from large vectors. @return the asymmetry of V^H A V, on all ranks
template <class T>
double SearchBasis<T>::measure() {
  const std::vector<BlockColumns<T>> left = columns_of(&ProductBlock<T>::v);
  std::vector<GramJob<T>> jobs;
  for (const BasisPart<T>& part : parts())
    for (GramJob<T>& job : gram_jobs<T>(left, {part.a_products(), part.b_products()}))
      jobs.push_back(std::move(job));
  const std::vector<SmallOf<T>> sums = on_.tasks.grams(jobs);
  double drift = 0;
  if (!sums.empty()) {
    SmallOf<T> a(columns_, columns_), b(columns_, columns_);
    const std::size_t of_part = sums.size() / parts().size();
    Index column = 0;
    for (std::size_t p = 0; p < parts().size(); ++p) {
      const SmallOf<T> all = stacked(std::span<const SmallOf<T>>(sums).subspan(p * of_part, of_part));
      const Index width = all.cols / 2;
      a.set_block(0, column, all.block(0, 0, columns_, width));
      b.set_block(0, column, all.block(0, width, columns_, width));
      column += width;
    }
    for (Index j = 0; j < columns_; ++j)
      for (Index i = 0; i < j; ++i) drift = std::max(drift, std::abs(a(i, j) - conjugate(a(j, i))));
    matrix_ = hermitian_part(a);
    for (auto& value : matrix_.values) value *= on_.sign();
    gram_ = hermitian_part(b);
  }
  on_.runtime().broadcast(&drift, sizeof drift, 0);
  return drift;
}

template <class T>
void SearchBasis<T>::ritz_vectors(const ProductBlock<T>& x, Index first, Index end) const {
  const SmallOf<T> c = coefficients_.block(0, first, columns_, end - first);
  const auto combine = [&](Part part) {
    const BlockColumns<T> to{&(x.*part), 0, end - first};
    on_.tasks.combine(columns_of(part), {&to, 1}, c);
  };
  combine(&ProductBlock<T>::v);
  combine(&ProductBlock<T>::av);
  if (on_.problem.b) combine(&ProductBlock<T>::bv);
}

#define TESSERA_INSTANTIATE(T) template class SearchBasis<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
