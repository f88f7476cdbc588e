// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <tessera/algorithms/lobpcg/projected_problem.hpp>

namespace tessera::detail {

namespace {

constexpr double unit_roundoff = precision<double>;

/// sum_i conj(a(i, j)) b(i, k).
template <class S>
S dot(const SmallMatrixOf<S>& a, Index j, const SmallMatrixOf<S>& b, Index k) {
  S sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += conjugate(a(i, j)) * b(i, k);
  return sum;
}

/// Length of column j.
template <class S>
double length(const SmallMatrixOf<S>& a, Index j) {
  return std::sqrt(real_part(dot(a, j, a, j)));
}

/// Column j of y -= q's columns [first, end) times their share in it.
template <class S>
void project_out(const SmallMatrixOf<S>& q, Index first, Index end, SmallMatrixOf<S>& y, Index j) {
  for (Index k = first; k < end; ++k) {
    const S share = dot(q, k, y, j);
    for (Index i = 0; i < y.rows; ++i) y(i, j) -= share * q(i, k);
  }
}

/// The directions in which the active columns of X have changed, in the coordinates of an orthonormal basis
/// of S, orthonormal to each other and to all of X. From the last to the first: when columns are locked, in
/// order from the first, the directions of the others stay the same space.
template <class S>
SmallMatrixOf<S> orthonormal_directions(const SmallMatrixOf<S>& x, SmallMatrixOf<S> y,
                                        std::vector<Index>& owners) {
  std::vector<Index> kept;  // columns of y
  SmallMatrixOf<S> basis(y.rows, y.cols);
  for (Index j = y.cols - 1; j >= 0; --j) {
    const double before = length(y, j);
    const Index first = y.cols - static_cast<Index>(kept.size());  // of the basis' columns in use
    for (int round = 0; round < 2; ++round) {
      project_out(x, 0, x.cols, y, j);
      project_out(basis, first, y.cols, y, j);
    }
    const double after = length(y, j);
    // The rest is a rounding error, no direction.
    if (!(before > 100 * unit_roundoff) || !(after > 1e-8 * before)) continue;
    for (Index i = 0; i < y.rows; ++i) basis(i, first - 1) = y(i, j) / after;
    kept.push_back(j);
  }
  const auto count = static_cast<Index>(kept.size());
  std::vector<Index> kept_owners;
  for (Index k = count - 1; k >= 0; --k)
    kept_owners.push_back(owners[static_cast<std::size_t>(kept[static_cast<std::size_t>(k)])]);
  owners = std::move(kept_owners);
  return basis.block(0, y.cols - count, y.rows, count);
}

/// Of the basic variant: unit vectors.
template <class S>
SmallMatrixOf<S> scaled_directions(SmallMatrixOf<S> y, std::vector<Index>& owners) {
  SmallMatrixOf<S> result(y.rows, y.cols);
  std::vector<Index> kept;
  for (Index j = 0; j < y.cols; ++j) {
    const double before = length(y, j);
    if (!(before > 0)) continue;
    const auto to = static_cast<Index>(kept.size());
    for (Index i = 0; i < y.rows; ++i) result(i, to) = y(i, j) / before;
    kept.push_back(owners[static_cast<std::size_t>(j)]);
  }
  owners = kept;
  return result.block(0, 0, y.rows, static_cast<Index>(kept.size()));
}

/// The columns of W that have a length, and the factors that make it one.
struct UnitColumns {
  std::vector<Index> kept;
  std::vector<double> scale;
  bool in_range = true;  ///< neither W^H B W nor W^H A W overflows or underflows

  Index count() const { return static_cast<Index>(kept.size()); }
};

template <class S>
UnitColumns unit_columns(const SmallMatrixOf<S>& w_w, const OrthonormalRules& rules) {
  constexpr double underflow = 1e-290;
  UnitColumns columns;
  for (Index j = 0; j < w_w.cols; ++j) {
    const double least = j < rules.unit_columns ? rules.smallest * rules.smallest : 0;
    const double square = real_part(w_w(j, j));
    columns.in_range = columns.in_range && within_range(square, rules.norm);
    if (!(square > std::max(underflow, least))) continue;
    columns.kept.push_back(j);
    columns.scale.push_back(1 / std::sqrt(square));
  }
  return columns;
}

/// Z^H B W and W^H B W of these columns, of unit length.
template <class S>
struct ScaledProducts {
  SmallMatrixOf<S> shares, gram;
};

template <class S>
ScaledProducts<S> scaled_products(const UnitColumns& columns, const SmallMatrixOf<S>& z_w,
                                  const SmallMatrixOf<S>& w_w) {
  const Index z = z_w.rows, k = columns.count();
  const auto kept = [&](Index j) { return columns.kept[static_cast<std::size_t>(j)]; };
  const auto scale = [&](Index j) { return columns.scale[static_cast<std::size_t>(j)]; };
  ScaledProducts<S> products{SmallMatrixOf<S>(z, k), SmallMatrixOf<S>(k, k)};
  for (Index j = 0; j < k; ++j) {
    const double s = scale(j);
    for (Index i = 0; i < z; ++i) products.shares(i, j) = s * z_w(i, kept(j));
    for (Index i = 0; i < k; ++i) products.gram(i, j) = s * scale(i) * w_w(kept(i), kept(j));
  }
  return products;
}

/// T with T^H G T near to I, G the Gram matrix of what is not in Z, as far as that is no rounding.
/// @param may_be_independent no column is left out, or out of range
template <class S>
SmallMatrixOf<S> orthonormal_transform(const SmallMatrixOf<S>& gram, const OrthonormalRules& rules,
                                       bool may_be_independent, OrthonormalRound<S>& round) {
  const Index k = gram.cols;
  std::vector<double> lambda;
  SmallMatrixOf<S> transform = hermitian_part(gram);
  round.finite = hermitian_eigen(transform, lambda);
  // Shorter directions are rounding for all that this Gram matrix tells: they are made longer, and seen in
  // the next round.
  const double least = std::max(100 * static_cast<double>(std::max<Index>(k, 1)) * unit_roundoff,
                                100 * rules.unit * rules.unit);
  round.accepted = k > 0 && lambda.front() >= std::max(rules.accept, least);
  if (k > 0 && may_be_independent) round.independence = lambda.front();
  for (Index j = 0; j < k; ++j) {
    const double factor = 1 / std::sqrt(std::max(lambda[static_cast<std::size_t>(j)], least));
    round.growth = std::max(round.growth, factor);
    for (Index i = 0; i < k; ++i) transform(i, j) *= factor;
  }
  return transform;
}

/// The projected problem in the B-orthonormal basis Q of S = Q L^H diag(1 / scale): the factorisation does
/// not depend on the lengths of the columns of S.
template <class S>
struct StandardProblem {
  SmallMatrixOf<S> l, matrix;
  std::vector<double> scale;

  /// To the coordinates of S from those of Q. The division by `scale` comes last.
  void to_basis(SmallMatrixOf<S>& coefficients) const {
    solve_lower(Op::adjoint, l, coefficients);
    for (Index j = 0; j < coefficients.cols; ++j)
      for (Index i = 0; i < coefficients.rows; ++i) coefficients(i, j) *= scale[static_cast<std::size_t>(i)];
  }
};

/// None if the Gram matrix is not positive definite.
template <class S>
std::optional<StandardProblem<S>> standard_problem(const SmallMatrixOf<S>& matrix,
                                                   const SmallMatrixOf<S>& gram) {
  const Index s = matrix.rows;
  StandardProblem<S> standard{SmallMatrixOf<S>(s, s), SmallMatrixOf<S>(s, s), {}};
  auto& [l, h, scale] = standard;
  for (Index j = 0; j < s; ++j) {
    const double square = real_part(gram(j, j));
    if (!(square > 0)) return std::nullopt;
    scale.push_back(1 / std::sqrt(square));
  }
  for (Index j = 0; j < s; ++j)
    for (Index i = 0; i < s; ++i) {
      const double factor = scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
      l(i, j) = factor * gram(i, j);
      h(i, j) = factor * matrix(i, j);
    }
  if (!cholesky(l)) return std::nullopt;
  solve_lower(Op::none, l, h);
  h = adjoint(h);
  solve_lower(Op::none, l, h);
  h = hermitian_part(h);
  return standard;
}

/// The change of the active columns of X in the step, as new directions P, in the coordinates of Q.
/// @param x the new X @param owners columns of X that the directions belong to
template <class S>
SmallMatrixOf<S> conjugate_directions(const ProjectedProblem<S>& problem, const SmallMatrixOf<S>& l,
                                      const SmallMatrixOf<S>& x, std::vector<Index>& owners) {
  if (problem.columns.x == 0) return SmallMatrixOf<S>(x.rows, 0);
  for (Index j = problem.first_active; j < x.cols; ++j) owners.push_back(j);
  SmallMatrixOf<S> change = x.block(0, problem.first_active, x.rows, x.cols - problem.first_active);
  // The old X is the first part of Q: without it the change has the parts of W and P alone, without the part
  // of X in W. The basic variant gives the change in terms of S.
  if (!problem.orthonormal) solve_lower(Op::adjoint, l, change);
  for (Index j = 0; j < change.cols; ++j)
    for (Index i = 0; i < problem.columns.x; ++i) change(i, j) = 0;
  return problem.orthonormal ? orthonormal_directions(x, change, owners)
                             : scaled_directions(product(Op::adjoint, l, Op::none, change), owners);
}

/// A bound of ||inv(L)||_2.
template <class S>
double inverse_norm(const SmallMatrixOf<S>& l) {
  SmallMatrixOf<S> inverse = unit_matrix<S>(l.rows);
  solve_lower(Op::none, l, inverse);
  double of_column = 0, of_row = 0;
  std::vector<double> rows(static_cast<std::size_t>(l.rows), 0.0);
  for (Index j = 0; j < l.cols; ++j) {
    double sum = 0;
    for (Index i = j; i < l.rows; ++i) {
      sum += std::abs(inverse(i, j));
      rows[static_cast<std::size_t>(i)] += std::abs(inverse(i, j));
    }
    of_column = std::max(of_column, sum);
  }
  for (const double sum : rows) of_row = std::max(of_row, sum);
  return std::sqrt(of_column * of_row);
}

/// What a thick restart keeps, in the coordinates of Q: the Ritz vectors y and what the last step's have
/// beside them.
template <class S>
void keep_directions(const BasisProblem<S>& problem, const StandardProblem<S>& standard,
                     const SmallMatrixOf<S>& y, BasisStep<S>& step) {
  const Index s = y.rows, pairs = y.cols;
  SmallMatrixOf<S> before(s, problem.previous.cols);
  before.set_block(0, 0, problem.previous);
  for (Index j = 0; j < before.cols; ++j)
    for (Index i = 0; i < s; ++i) before(i, j) /= standard.scale[static_cast<std::size_t>(i)];
  before = product(Op::adjoint, standard.l, Op::none, before);
  std::vector<Index> owners(static_cast<std::size_t>(before.cols), 0);
  const SmallMatrixOf<S> p = orthonormal_directions(y, before, owners);
  step.kept = SmallMatrixOf<S>(s, pairs + p.cols);
  step.kept.set_block(0, 0, y);
  step.kept.set_block(0, pairs, p);
  standard.to_basis(step.kept);
  step.kept_matrix = SmallMatrixOf<S>(pairs + p.cols, pairs + p.cols);
  for (Index j = 0; j < pairs; ++j) step.kept_matrix(j, j) = step.values[static_cast<std::size_t>(j)];
  step.kept_matrix.set_block(
      pairs, pairs, product(Op::adjoint, p, Op::none, product(Op::none, standard.matrix, Op::none, p)));
}

}  // namespace

bool within_range(double square, double norm) {
  constexpr double max_square = 1e200;
  return std::max(1.0, norm) * square <= max_square && std::min(1.0, norm) * square >= 1 / max_square;
}

template <class S>
OrthonormalRound<S> orthonormal_round(const SmallMatrixOf<S>& z_w, const SmallMatrixOf<S>& w_w,
                                      const OrthonormalRules& rules) {
  OrthonormalRound<S> round;
  const Index w = w_w.cols;
  round.finite = all_finite(z_w) && all_finite(w_w);
  if (!round.finite) return round;
  for (Index j = 0; j < w; ++j)
    if (real_part(w_w(j, j)) < 0) round.positive = 0;
  if (!round.positive) return round;
  const UnitColumns columns = unit_columns(w_w, rules);
  const Index k = columns.count();
  auto [shares, gram] = scaled_products(columns, z_w, w_w);
  // Of W - Z Z^H B W, by Pythagoras.
  const SmallMatrixOf<S> within = product(Op::adjoint, shares, Op::none, shares);
  for (std::size_t i = 0; i < gram.values.size(); ++i) gram.values[i] -= within.values[i];

  SmallMatrixOf<S> transform;
  if (rules.transform) {
    transform = orthonormal_transform(gram, rules, k == w && columns.in_range, round);
  } else {
    transform = unit_matrix<S>(k);
    round.accepted = k > 0;
  }
  round.of_z = product(Op::none, shares, Op::none, transform);
  for (S& value : round.of_z.values) value = -value;
  round.of_w = SmallMatrixOf<S>(w, k);
  for (Index j = 0; j < k; ++j)
    for (Index i = 0; i < k; ++i) {
      const auto from = static_cast<std::size_t>(i);
      round.of_w(columns.kept[from], j) = columns.scale[from] * transform(i, j);
    }
  return round;
}

template <class S>
RitzStep<S> ritz_step(const ProjectedProblem<S>& problem) {
  RitzStep<S> step;
  const Index s = problem.matrix.rows, keep = problem.keep;
  step.finite = all_finite(problem.matrix) && all_finite(problem.gram);
  if (!step.finite) return step;
  const std::optional<StandardProblem<S>> standard = standard_problem(problem.matrix, problem.gram);
  step.positive = standard.has_value();
  if (!step.positive) return step;

  SmallMatrixOf<S> vectors = standard->matrix;
  std::vector<double> values;
  step.finite = all_finite(vectors) && hermitian_eigen(vectors, values);
  if (!step.finite) return step;
  step.values.assign(values.begin(), values.begin() + keep);
  step.norm = std::max(std::abs(values.front()), std::abs(values.back()));

  const SmallMatrixOf<S> x = vectors.block(0, 0, s, keep);
  const SmallMatrixOf<S> p = conjugate_directions(problem, standard->l, x, step.owners);
  step.p_matrix = product(Op::adjoint, p, Op::none, product(Op::none, standard->matrix, Op::none, p));
  step.coefficients = SmallMatrixOf<S>(s, keep + p.cols);
  step.coefficients.set_block(0, 0, x);
  step.coefficients.set_block(0, keep, p);
  standard->to_basis(step.coefficients);
  return step;
}

template <class S>
ShownByStart shown_by_start(const SmallMatrixOf<S>& a, const SmallMatrixOf<S>& aw,
                            const SmallMatrixOf<S>& w_w) {
  double square = 0, difference = 0, largest = 0;
  for (Index j = 0; j < a.cols; ++j) {
    const double of_aw = real_part(aw(j, j)), of_w = real_part(w_w(j, j));
    square = std::max(square, of_aw);
    largest = std::max(largest, std::sqrt(of_aw) * std::sqrt(of_w));
    for (Index i = 0; i <= j; ++i) difference = std::max(difference, std::abs(a(i, j) - conjugate(a(j, i))));
  }
  return {std::sqrt(square), largest > 0 ? difference / largest : 0};
}

template <class S>
BasisStep<S> basis_step(const BasisProblem<S>& problem) {
  BasisStep<S> step;
  step.growth = std::numeric_limits<double>::infinity();
  step.finite = all_finite(problem.gram);
  if (!step.finite) return step;
  const std::optional<StandardProblem<S>> standard = standard_problem(problem.matrix, problem.gram);
  step.positive = standard.has_value();
  if (!step.positive) return step;
  step.growth = inverse_norm(standard->l);
  step.finite = all_finite(problem.matrix);
  if (!step.finite) return step;

  SmallMatrixOf<S> vectors = standard->matrix;
  std::vector<double> values;
  step.finite = all_finite(vectors) && hermitian_eigen(vectors, values);
  if (!step.finite) return step;
  const Index pairs = std::min(problem.pairs, vectors.cols);
  step.values.assign(values.begin(), values.begin() + pairs);
  step.norm = std::max(std::abs(values.front()), std::abs(values.back()));
  const SmallMatrixOf<S> y = vectors.block(0, 0, vectors.rows, pairs);
  step.coefficients = y;
  standard->to_basis(step.coefficients);
  if (problem.restarts) keep_directions(problem, *standard, y, step);
  return step;
}

#define TESSERA_INSTANTIATE(S)                                                                     \
  template OrthonormalRound<S> orthonormal_round(const SmallMatrixOf<S>&, const SmallMatrixOf<S>&, \
                                                 const OrthonormalRules&);                         \
  template RitzStep<S> ritz_step(const ProjectedProblem<S>&);                                      \
  template ShownByStart shown_by_start(const SmallMatrixOf<S>&, const SmallMatrixOf<S>&,           \
                                       const SmallMatrixOf<S>&);                                   \
  template BasisStep<S> basis_step(const BasisProblem<S>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<double>)

}  // namespace tessera::detail
