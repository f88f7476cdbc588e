// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/density_matrix/orthonormal_basis.hpp>

#include <tessera/algorithms/density_matrix/square_roots.hpp>

namespace tessera::detail {

namespace {

/// B^H A B, half-stored as A.
template <class T>
BlockSparseMatrix<T> congruent(BlockAlgebra<T>& algebra, double factor, const BlockSparseMatrix<T>& a,
                               const ProductFactor<T>& b, Op adjoint_of_b) {
  const auto ab = algebra.product(factor, a, b, full_layout(a.layout()));
  return algebra.product(1, {b.matrix(), adjoint_of_b}, ab, a.layout());
}

}  // namespace

template <class T>
OrthonormalBasis<T>::OrthonormalBasis(BlockAlgebra<T>& algebra, const Matrix& overlap, const Matrix* former,
                                      const DensityOptions& options) {
  MatrixFunctionOptions of_roots;
  of_roots.filter_eps = options.filter_eps;
  of_roots.order = options.factor_order;
  of_roots.iterations = options.iterations;
  of_roots.scaled = options.scaled;
  if (former) {
    root_ = start_of_inverse_factor(algebra, overlap, former);
    refine_inverse_factor(algebra, overlap, root_, of_roots, true);
    return;
  }
  block_ = start_of_inverse_factor<T>(algebra, overlap, nullptr);
  algebra.finish();
  const auto scaled = congruent(algebra, 1, overlap, {block_}, Op::adjoint);
  root_ = coupled_square_roots(algebra, scaled, of_roots).inverse_root;
  algebra.finish();
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::to_orthonormal(BlockAlgebra<T>& algebra, const Matrix& a) const {
  if (!root_.valid()) return algebra.copied(a);
  if (!block_.valid()) return congruent(algebra, 1, a, {root_}, Op::adjoint);
  return congruent(algebra, 1, congruent(algebra, 1, a, {block_}, Op::adjoint), {root_}, Op::none);
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::from_orthonormal(BlockAlgebra<T>& algebra, double factor, const Matrix& x,
                                                           const BlockLayout& layout) const {
  auto p = root_.valid()    ? congruent(algebra, factor, x, {root_, block_.valid() ? Op::none : Op::adjoint}, Op::none)
           : factor == 1 ? algebra.copied(x)
                         : algebra.sum({{factor, &x}});
  if (block_.valid()) p = congruent(algebra, 1, p, {block_, Op::adjoint}, Op::none);
  if (p.layout() == layout) return p;
  return algebra.in_sequence([&](Sequence& sequence) { return redistribute(sequence, p, layout); });
}

template <class T>
BlockSparseMatrix<T> OrthonormalBasis<T>::factor(BlockAlgebra<T>& algebra) const {
  if (!root_.valid()) return {};
  if (!block_.valid()) return algebra.copied(root_);
  return algebra.product(1, block_, root_, full_layout(root_.layout()));
}

#define TESSERA_INSTANTIATE(T) template class OrthonormalBasis<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
