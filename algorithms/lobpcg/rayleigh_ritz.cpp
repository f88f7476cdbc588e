// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>
#include <tessera/algorithms/lobpcg/share_result.hpp>

namespace tessera::detail {

namespace {

/// The accepted growth of rounding errors for directions that are not orthonormal: before the step, estimated
/// from the last directions, and after it, from the directions themselves.
constexpr double trusted_growth = 32, max_growth = 128;

/// Rounding errors of vectors grow by 1 / sqrt(independence) in the step: by this much at most (those of
/// inner products by its square). So never those of vectors in single precision, whose own are larger.
template <class T>
bool is_independent(double independence, double growth) {
  return precision<T> <= growth * precision<double> * std::sqrt(independence);
}

/// What a Rayleigh-Ritz step leaves.
template <class T>
struct RitzOutcome {
  RitzStep<WideOf<T>> step;
  Index with_p = 1;  ///< P has taken part
  ShownByStart shown;
  double drift = 0;
  double independence = 0;  ///< of a W that is not orthonormal

  template <class Visit>
  void each_field(const Visit& visit) {
    step.each_field(visit);
    visit(with_p), visit(shown.a_norm), visit(shown.asymmetry), visit(drift), visit(independence);
  }
};

/// S^H A S and S^H B S, not Hermitian yet.
template <class T>
struct Projection {
  SmallOf<T> a, b;
};

/// Inner products of S = [X W P] with large vectors: [A W, B W] first, then for the start the lengths of A W
/// and W, or if all is projected [A X, A P] and [B X, B P].
template <class T>
std::vector<GramJob<T>> gram_jobs(const LobpcgState<T>& s, bool all) {
  const std::vector<BlockColumns<T>> basis{s.x.vectors(), s.w.vectors(), s.p.vectors()};
  std::vector<GramJob<T>> jobs{{basis, {s.w.a_products(), s.w.b_products()}}};
  if (s.x.columns == 0) {
    jobs.push_back({{s.w.a_products()}, {s.w.a_products()}});
    jobs.push_back({{s.w.vectors()}, {s.w.vectors()}});
  } else if (all) {
    jobs.push_back({basis, {s.x.a_products(), s.p.a_products()}});
    jobs.push_back({basis, {s.x.b_products(), s.p.b_products()}});
  }
  return jobs;
}

/// OrthonormalRound's. @param products [X W P]^H B W
template <class T>
double independence_of(const LobpcgState<T>& s, const SmallOf<T>& products) {
  const auto [x, w, p] = s.columns();
  SmallOf<T> z_w(x + p, w);
  z_w.set_block(0, 0, products.block(0, 0, x, w));
  z_w.set_block(x, 0, products.block(x + w, 0, p, w));
  const OrthonormalRound<WideOf<T>> found =
      orthonormal_round(z_w, products.block(x, 0, w, w), {.unit = precision<T>, .norm = s.projected_norm});
  return found.finite && found.positive ? found.independence : 0;
}

/// The columns of W are from the Gram matrices, and if all is projected those of X and P.
template <class T>
void set_measured(const std::vector<SmallOf<T>>& sums, const BasisColumns& columns, bool all,
                  Projection<T>& projection) {
  const Index size = columns.all();
  const auto fill = [&](SmallOf<T>& to, Index column, const SmallOf<T>& from, Index from_column,
                        Index count) { to.set_block(0, column, from.block(0, from_column, size, count)); };
  const auto [x, w, p] = columns;
  fill(projection.a, columns.first_w(), sums[0], 0, w);
  fill(projection.b, columns.first_w(), sums[0], w, w);
  if (!all) return;
  fill(projection.a, 0, sums[1], 0, x);
  fill(projection.a, columns.first_p(), sums[1], x, p);
  fill(projection.b, 0, sums[2], 0, x);
  fill(projection.b, columns.first_p(), sums[2], x, p);
}

/// The columns of X and P as they are known without large vectors: those with W by symmetry, X^H A X the Ritz
/// values, P^H A P from the last step, X^H A P = 0 and both B-orthonormal.
template <class T>
void set_known(const LobpcgState<T>& s, Projection<T>& projection) {
  auto& [a, b] = projection;
  const BasisColumns columns = s.columns();
  const Index w = columns.first_w(), p = columns.first_p();
  for (Index j = w; j < p; ++j)
    for (Index i = 0; i < columns.all(); ++i)
      if (i < w || i >= p) a(j, i) = conjugate(a(i, j)), b(j, i) = conjugate(b(i, j));
  for (Index j = 0; j < columns.x; ++j) a(j, j) = s.ritz_values[static_cast<std::size_t>(j)];
  for (Index j = 0; j < columns.p; ++j)
    for (Index i = 0; i < columns.p; ++i) a(p + i, p + j) = s.p_matrix(i, j);
}

/// |X^H (A W) - (A X)^H W|.
template <class S>
double drift_of(const SmallMatrixOf<S>& a, const BasisColumns& columns, double projected_norm) {
  double drift = 0;
  for (Index j = columns.first_w(); j < columns.first_p(); ++j)
    for (Index i = 0; i < columns.x; ++i)
      drift = std::max(drift, std::abs(a(i, j) - conjugate(a(j, i))) / projected_norm);
  return drift;
}

/// The Ritz pairs, once more without P if that has lost its independence.
template <class T>
void solve(const LobpcgContext<T>& on, const LobpcgState<T>& s, const Projection<T>& projection,
           RitzOutcome<T>& outcome) {
  SmallOf<T> a = hermitian_part(projection.a);
  for (auto& value : a.values) value *= on.sign();
  ProjectedProblem<WideOf<T>> projected{
      .columns = s.columns(), .matrix = a, .gram = hermitian_part(projection.b)};
  projected.keep = std::min(on.options.block, projected.columns.all());
  projected.first_active = s.locked;
  projected.orthonormal = on.options.variant == LobpcgVariant::orthonormal;
  outcome.step = ritz_step(projected);
  if (outcome.step.positive || s.p.columns == 0 || !projected.orthonormal) return;
  outcome.with_p = 0;
  projected.columns.p = 0;
  const Index size = projected.columns.all();
  projected.matrix = projected.matrix.block(0, 0, size, size);
  projected.gram = projected.gram.block(0, 0, size, size);
  projected.keep = std::min(on.options.block, size);
  outcome.step = ritz_step(projected);
}

/// On rank 0, from the sums.
template <class T>
void project_and_solve(const LobpcgContext<T>& on, const LobpcgState<T>& s,
                       const std::vector<SmallOf<T>>& sums, bool all, RitzOutcome<T>& outcome) {
  const BasisColumns columns = s.columns();
  if (!s.w_orthonormal) {
    outcome.independence = independence_of(s, sums[0].block(0, columns.w, columns.all(), columns.w));
    if (!is_independent<T>(outcome.independence, max_growth)) return;
  }
  Projection<T> projection{SmallOf<T>(columns.all(), columns.all()), unit_matrix<WideOf<T>>(columns.all())};
  const bool at_start = columns.x == 0;
  set_measured<T>(sums, columns, all && !at_start, projection);
  if (at_start)
    outcome.shown = shown_by_start(projection.a, sums[1], sums[2]);
  else if (all)
    outcome.drift = drift_of(projection.a, columns, s.projected_norm);
  else
    set_known(s, projection);
  solve(on, s, projection, outcome);
}

/// [X P] := [X W P] C, the products with A and B, too.
template <class T>
void update_x_and_p(LobpcgContext<T>& on, LobpcgState<T>& s, const RitzStep<WideOf<T>>& step) {
  const auto keep = static_cast<Index>(step.values.size());
  const Index directions = step.coefficients.cols - keep;
  const auto combine = [&](BlockVectors<T> ProductBlock<T>::*part) {
    const BlockColumns<T> inputs[] = {{&(s.x.*part), 0, s.x.columns},
                                      {&(s.w.*part), 0, s.w.columns},
                                      {&(s.p.*part), s.p.first, s.p.columns}};
    const BlockColumns<T> outputs[] = {{&(s.x.*part), 0, keep}, {&(s.p.*part), 0, directions}};
    on.tasks.combine(inputs, outputs, step.coefficients);
  };
  combine(&ProductBlock<T>::v);
  combine(&ProductBlock<T>::av);
  if (on.problem.b) combine(&ProductBlock<T>::bv);
  s.ritz_values = step.values;
  for (double& value : s.ritz_values) value *= on.sign();
  s.p_matrix = step.p_matrix;
  for (auto& value : s.p_matrix.values) value *= on.sign();
  s.p_owners = step.owners;
  s.x.columns = keep;
  s.p.columns = directions;
  s.p.first = 0;
}

}  // namespace

template <class T>
bool trusts_directions(const LobpcgContext<T>& on, const LobpcgState<T>& s) {
  return s.x.columns > 0 && on.options.variant == LobpcgVariant::orthonormal && s.constraints.empty() &&
         !projects_all(on, s) && is_independent<T>(s.w_independence, trusted_growth);
}

template <class T>
StepOutcome rayleigh_ritz(LobpcgContext<T>& on, LobpcgState<T>& s) {
  const bool all = projects_all(on, s);
  const std::vector<GramJob<T>> jobs = gram_jobs(s, all);
  const std::vector<SmallOf<T>> sums = on.tasks.grams(jobs);
  RitzOutcome<T> outcome;
  if (sums.empty())
    outcome.step.finite = 0;
  else
    project_and_solve(on, s, sums, all, outcome);
  share_result(on.runtime(), outcome);

  if (!s.w_orthonormal) {
    s.w_independence = outcome.independence;
    if (!is_independent<T>(outcome.independence, max_growth)) return StepOutcome::dependent;
  }
  ++s.ritz_steps;
  if (!outcome.step.finite) return StepOutcome::not_finite;
  if (!outcome.step.positive) return StepOutcome::not_positive;
  s.projected_norm = std::max(s.projected_norm, outcome.step.norm);
  if (!on.problem.b) s.norms.a = std::max({s.norms.a, outcome.step.norm, outcome.shown.a_norm});
  if (s.x.columns == 0)
    s.asymmetry = outcome.shown.asymmetry;
  else if (all)
    s.drift = outcome.drift;
  if (!outcome.with_p) s.p.columns = 0;
  update_x_and_p(on, s, outcome.step);
  return StepOutcome::done;
}

#define TESSERA_INSTANTIATE(T)                                                     \
  template bool trusts_directions(const LobpcgContext<T>&, const LobpcgState<T>&); \
  template StepOutcome rayleigh_ritz(LobpcgContext<T>&, LobpcgState<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
