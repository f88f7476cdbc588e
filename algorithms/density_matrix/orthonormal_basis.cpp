// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <tessera/algorithms/density_matrix/contraction.hpp>
#include <tessera/algorithms/density_matrix/inverse_root_levels.hpp>
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

/// F^H A F
template <class T>
BlockSparseMatrix<T> congruent(BlockAlgebra<T>& algebra, const BlockSparseMatrix<T>& a,
                               const BlockSparseMatrix<T>& factor) {
  const auto right = algebra.product(1, a, factor, full_layout(a.layout()));
  return algebra.product(1, {factor, Op::adjoint}, right, a.layout());
}

}  // namespace

template <class T>
OrthonormalBasis<T>::OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                                      const DensityOptions& options, FactorUse use) {
  factor_ = start_of_inverse_factor(algebra, overlap, former);
  std::optional<PositiveInterval> spectrum;
  if (!former && by_polynomial(algebra, overlap, options.filter_eps, use, spectrum)) return;
  MatrixFunctionOptions of_factor;
  of_factor.filter_eps = options.filter_eps;
  of_factor.order = options.factor_order;
  of_factor.iterations = options.iterations;
  of_factor.scaled = options.scaled;
  refine_inverse_factor(algebra, overlap, factor_, of_factor, spectrum);
}

namespace {

/// Coefficients of the polynomial in x = y - 1.
std::array<double, 7> around_1(std::array<double, 7> q) {
  for (std::size_t from = 0; from + 1 < q.size(); ++from)  // Horner's scheme, again and again
    for (std::size_t k = q.size() - 1; k-- > from;) q[k] += q[k + 1];
  return q;
}

}  // namespace

/// From Z0 in factor_; false if one polynomial is not enough: factor_ is as before. Sets the spectrum of Z0^H S Z0.
template <class T>
bool OrthonormalBasis<T>::by_polynomial(BlockAlgebra<T>& algebra, const Matrix& overlap, double filter_eps,
                                        FactorUse use, std::optional<PositiveInterval>& spectrum) {
  auto x = congruent(algebra, overlap, factor_);  // Y
  const PositiveInterval ends = positive_interval(algebra.runtime(), x, "inverse_factor");
  spectrum = ends;
  if (use.half) require_well_conditioned({ends.lower, ends.upper});
  const double tolerance =
      std::max((use.repaired ? 1 : 0.01) * filter_eps, 16 * static_cast<double>(precision<T>));
  const auto levels = inverse_root_levels({ends.lower, ends.upper}, tolerance);
  const bool enough = ends.sure && levels.size() == 1 && levels.front().degree == 6;
  if (!enough) return false;
  const auto q = around_1(levels.front().q);
  const BlockLayout& layout = overlap.layout();
  const auto& identity = algebra.identity(layout);
  algebra.add(1, x, -1, identity);
  const double convergence = relative_norm(x);
  // q0 + q1 X + q2 X^2 + X^3 (q3 + q4 X + q5 X^2 + q6 X^3)
  const auto x2 = algebra.product(1, x, x, layout), x3 = algebra.product(1, x2, x, layout);
  const auto high = algebra.sum({{q[4], &x}, {q[5], &x2}, {q[6], &x3}, {q[3], &identity}});
  auto root = algebra.sum({{q[1], &x}, {q[2], &x2}, {q[0], &identity}});
  algebra.product(1, x3, high, 1, root);
  factor_ = algebra.product(1, factor_, root, full_layout(layout));
  algebra.end_step({.stage = "inverse_factor", .iteration = 1, .convergence = convergence}, factor_);
  return true;
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& a) const {
  return factor_.valid() ? congruent(algebra, a, factor_) : algebra.copied(a);
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::density_to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& p,
                                                                 const Matrix* overlap) const {
  if (!factor_.valid()) return algebra.copied(p);
  return congruent(algebra, p, algebra.product(1, *overlap, factor_, full_layout(p.layout())));
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::from_orthonormal(BlockAlgebra<T>& algebra, const Matrix& x,
                                                           const BlockLayout& layout) const {
  if (!factor_.valid()) return algebra.copied(x);
  const auto zx = algebra.product(1, factor_, x, full_layout(layout));
  return algebra.product(1, zx, {factor_, Op::adjoint}, layout);
}

template <class T>
SpectralInterval spectrum_of(Runtime& runtime, const BlockSparseMatrix<T>& h) {
  if (h.rows() == 0) return {0, 0};
  const ExtremalResult ends = extremal_eigenvalues<T>(runtime, {.a = h}, {.tolerance = ends_tolerance});
  if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
  return widened({ends.lowest.bound, ends.highest.bound});
}

#define TESSERA_INSTANTIATE(T)        \
  template class OrthonormalBasis<T>; \
  template SpectralInterval spectrum_of<T>(Runtime&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
