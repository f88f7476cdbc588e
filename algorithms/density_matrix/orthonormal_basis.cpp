// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>
#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

template <class T>
OrthonormalBasis<T>::OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                                      const DensityOptions& options) {
  MatrixFunctionOptions of_factor;
  of_factor.filter_eps = options.filter_eps;
  of_factor.order = options.factor_order;
  of_factor.iterations = options.iterations;
  of_factor.scaled = options.scaled;
  factor_ = start_of_inverse_factor(algebra, overlap, former);
  refine_inverse_factor(algebra, overlap, factor_, of_factor);
}

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
  const ExtremalResult ends = extremal_eigenvalues<T>(runtime, {.a = h}, {.tolerance = 1e-3});
  if (!ends && ends.status().code != StatusCode::iterations_exhausted) throw IterationEnded{ends.status()};
  return widened({ends.lowest.bound, ends.highest.bound});
}

#define TESSERA_INSTANTIATE(T)        \
  template class OrthonormalBasis<T>; \
  template SpectralInterval spectrum_of<T>(Runtime&, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
