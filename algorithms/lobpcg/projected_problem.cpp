// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/projected_problem.hpp>

namespace tessera {
namespace {

constexpr double unit_roundoff = precision<double>;

/// sum_i a(i, j) b(i, k).
double dot(const SmallMatrix& a, Index j, const SmallMatrix& b, Index k) {
  double sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += a(i, j) * b(i, k);
  return sum;
}

/// Column j of y -= q's columns [first, end) times their share in it.
void project_out(const SmallMatrix& q, Index first, Index end, SmallMatrix& y, Index j) {
  for (Index k = first; k < end; ++k) {
    const double share = dot(q, k, y, j);
    for (Index i = 0; i < y.rows; ++i) y(i, j) -= share * q(i, k);
  }
}

/// The directions in which the active columns of X have changed, in the coordinates of an orthonormal basis
/// of S, orthonormal to each other and to all of X. From the last to the first: when columns are locked, in
/// order from the first, the directions of the others stay the same space.
SmallMatrix orthonormal_directions(const SmallMatrix& x, SmallMatrix y, std::vector<Index>& owners) {
  std::vector<Index> kept;  // columns of y
  SmallMatrix basis(y.rows, y.cols);
  for (Index j = y.cols - 1; j >= 0; --j) {
    const double before = std::sqrt(dot(y, j, y, j));
    const Index first = y.cols - static_cast<Index>(kept.size());  // of the basis' columns in use
    for (int round = 0; round < 2; ++round) {
      project_out(x, 0, x.cols, y, j);
      project_out(basis, first, y.cols, y, j);
    }
    const double after = std::sqrt(dot(y, j, y, j));
    // What is left then is rounding: no direction.
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
SmallMatrix scaled_directions(SmallMatrix y, std::vector<Index>& owners) {
  SmallMatrix result(y.rows, y.cols);
  std::vector<Index> kept;
  for (Index j = 0; j < y.cols; ++j) {
    const double length = std::sqrt(dot(y, j, y, j));
    if (!(length > 0)) continue;
    const auto to = static_cast<Index>(kept.size());
    for (Index i = 0; i < y.rows; ++i) result(i, to) = y(i, j) / length;
    kept.push_back(owners[static_cast<std::size_t>(j)]);
  }
  owners = kept;
  return result.block(0, 0, y.rows, static_cast<Index>(kept.size()));
}

}  // namespace

OrthonormalRound orthonormal_round(const SmallMatrix& z_w, const SmallMatrix& w_w,
                                   const OrthonormalRules& rules) {
  OrthonormalRound round;
  const Index z = z_w.rows, w = w_w.cols;
  round.finite = all_finite(z_w) && all_finite(w_w);
  if (!round.finite) return round;
  for (Index j = 0; j < w; ++j)
    if (w_w(j, j) < 0) round.positive = 0;
  if (!round.positive) return round;
  // The scale of each column; columns that have none are left out.
  constexpr double underflow = 1e-290, max_square = 1e200;
  bool in_range = true;
  std::vector<double> scale;
  std::vector<Index> kept;
  for (Index j = 0; j < w; ++j) {
    const double least = j < rules.unit_columns ? rules.smallest * rules.smallest : 0;
    in_range = in_range && std::max(1.0, rules.norm) * w_w(j, j) <= max_square &&
               std::min(1.0, rules.norm) * w_w(j, j) >= 1 / max_square;
    if (!(w_w(j, j) > std::max(underflow, least))) continue;
    kept.push_back(j);
    scale.push_back(1 / std::sqrt(w_w(j, j)));
  }
  const auto k = static_cast<Index>(kept.size());
  SmallMatrix shares(z, k), gram(k, k);
  for (Index j = 0; j < k; ++j) {
    const Index from = kept[static_cast<std::size_t>(j)];
    const double s = scale[static_cast<std::size_t>(j)];
    for (Index i = 0; i < z; ++i) shares(i, j) = s * z_w(i, from);
    for (Index i = 0; i < k; ++i)
      gram(i, j) = s * scale[static_cast<std::size_t>(i)] * w_w(kept[static_cast<std::size_t>(i)], from);
  }
  // Of W - Z Z^T B W, by Pythagoras.
  const SmallMatrix within = product(Op::transpose, shares, Op::none, shares);
  for (std::size_t i = 0; i < gram.values.size(); ++i) gram.values[i] -= within.values[i];

  SmallMatrix transform(k, k);
  if (rules.transform) {
    std::vector<double> lambda;
    transform = symmetric_part(gram);
    round.finite = symmetric_eigen(transform, lambda);
    // Shorter directions are rounding for all that this Gram matrix tells: they are made longer, and seen in
    // the next round.
    const double least = std::max(100 * static_cast<double>(std::max<Index>(k, 1)) * unit_roundoff,
                                  100 * rules.unit * rules.unit);
    round.accepted = k > 0 && lambda.front() >= std::max(rules.accept, least);
    if (k == w && k > 0 && in_range) round.independence = lambda.front();
    for (Index j = 0; j < k; ++j) {
      const double factor = 1 / std::sqrt(std::max(lambda[static_cast<std::size_t>(j)], least));
      round.growth = std::max(round.growth, factor);
      for (Index i = 0; i < k; ++i) transform(i, j) *= factor;
    }
  } else {
    round.accepted = k > 0;
    for (Index j = 0; j < k; ++j) transform(j, j) = 1;
  }
  round.of_z = product(Op::none, shares, Op::none, transform);
  for (double& value : round.of_z.values) value = -value;
  round.of_w = SmallMatrix(w, k);
  for (Index j = 0; j < k; ++j)
    for (Index i = 0; i < k; ++i)
      round.of_w(kept[static_cast<std::size_t>(i)], j) = scale[static_cast<std::size_t>(i)] * transform(i, j);
  return round;
}

RitzStep ritz_step(const ProjectedProblem& problem) {
  RitzStep step;
  const Index s = problem.matrix.rows, keep = problem.keep;
  step.finite = all_finite(problem.matrix) && all_finite(problem.gram);
  if (!step.finite) return step;

  // Unit diagonal first: the factorisation does not depend on the columns' lengths then.
  std::vector<double> scale;
  for (Index j = 0; j < s; ++j) {
    step.positive = step.positive && problem.gram(j, j) > 0;
    scale.push_back(1 / std::sqrt(problem.gram(j, j)));
  }
  if (!step.positive) return step;
  SmallMatrix l(s, s), h(s, s);
  for (Index j = 0; j < s; ++j)
    for (Index i = 0; i < s; ++i) {
      const double factor = scale[static_cast<std::size_t>(i)] * scale[static_cast<std::size_t>(j)];
      l(i, j) = factor * problem.gram(i, j);
      h(i, j) = factor * problem.matrix(i, j);
    }
  step.positive = cholesky(l);
  if (!step.positive) return step;
  solve_lower(Op::none, l, h);
  h = transposed(h);
  solve_lower(Op::none, l, h);
  h = symmetric_part(h);
  SmallMatrix vectors = h;
  std::vector<double> values;
  step.finite = all_finite(h) && symmetric_eigen(vectors, values);
  if (!step.finite) return step;
  step.values.assign(values.begin(), values.begin() + keep);
  step.norm = std::max(std::abs(values.front()), std::abs(values.back()));

  // S = Q L^T with B-orthonormal Q: what follows is in the coordinates of Q.
  const SmallMatrix x = vectors.block(0, 0, s, keep);
  SmallMatrix y(s, 0);
  if (problem.x > 0) {
    for (Index j = problem.first_active; j < keep; ++j) step.owners.push_back(j);
    SmallMatrix change = x.block(0, problem.first_active, s, keep - problem.first_active);
    // The old X is the first part of Q: what is left is W's and P's, without X's share in W. The basic
    // variant's is in terms of S.
    if (!problem.orthonormal) solve_lower(Op::transpose, l, change);
    for (Index j = 0; j < change.cols; ++j)
      for (Index i = 0; i < problem.x; ++i) change(i, j) = 0;
    y = problem.orthonormal ? orthonormal_directions(x, change, step.owners)
                            : scaled_directions(product(Op::transpose, l, Op::none, change), step.owners);
  }
  step.p_matrix = product(Op::transpose, y, Op::none, product(Op::none, h, Op::none, y));
  step.coefficients = SmallMatrix(s, keep + y.cols);
  step.coefficients.set_block(0, 0, x);
  step.coefficients.set_block(0, keep, y);
  solve_lower(Op::transpose, l, step.coefficients);
  for (Index j = 0; j < step.coefficients.cols; ++j)
    for (Index i = 0; i < s; ++i) step.coefficients(i, j) *= scale[static_cast<std::size_t>(i)];
  return step;
}

}  // namespace tessera
