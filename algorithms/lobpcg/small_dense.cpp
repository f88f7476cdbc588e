// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime/blas_threads.hpp>

namespace tessera::detail {

SmallMatrix SmallMatrix::block(Index row, Index col, Index m, Index n) const {
  SmallMatrix part(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) part(i, j) = (*this)(row + i, col + j);
  return part;
}

void SmallMatrix::set_block(Index row, Index col, const SmallMatrix& part) {
  for (Index j = 0; j < part.cols; ++j)
    for (Index i = 0; i < part.rows; ++i) (*this)(row + i, col + j) = part(i, j);
}

SmallMatrix unit_matrix(Index order) {
  SmallMatrix a(order, order);
  for (Index i = 0; i < order; ++i) a(i, i) = 1;
  return a;
}

SmallMatrix transposed(const SmallMatrix& a) {
  SmallMatrix t(a.cols, a.rows);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) t(j, i) = a(i, j);
  return t;
}

bool all_finite(const SmallMatrix& a) {
  return std::all_of(a.values.begin(), a.values.end(), [](double x) { return std::isfinite(x); });
}

SmallMatrix product(Op op_a, const SmallMatrix& a, Op op_b, const SmallMatrix& b) {
  const Index m = op_a == Op::none ? a.rows : a.cols, k = op_a == Op::none ? a.cols : a.rows;
  const Index n = op_b == Op::none ? b.cols : b.rows;
  SmallMatrix c(m, n);
  const OneBlasThread same_on_all_ranks;
  if (m > 0 && n > 0 && k > 0)
    blas::gemm(op_a, op_b, m, n, k, 1.0, a.values.data(), a.rows, b.values.data(), b.rows, 0.0,
               c.values.data(), m);
  return c;
}

SmallMatrix symmetric_part(const SmallMatrix& a) {
  SmallMatrix s(a.rows, a.rows);
  for (Index j = 0; j < a.rows; ++j)
    for (Index i = 0; i < a.rows; ++i) s(i, j) = (a(i, j) + a(j, i)) / 2;
  return s;
}

bool cholesky(SmallMatrix& a) {
  if (a.rows == 0) return true;
  const OneBlasThread same_on_all_ranks;
  if (blas::potrf(Uplo::lower, a.rows, a.values.data(), a.rows) != 0) return false;
  for (Index j = 0; j < a.rows; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = 0;
  return true;
}

void solve_lower(Op op, const SmallMatrix& l, SmallMatrix& b) {
  const OneBlasThread same_on_all_ranks;
  if (b.rows > 0 && b.cols > 0)
    blas::trsm(Side::left, Uplo::lower, op, Diag::non_unit, b.rows, b.cols, 1.0, l.values.data(), l.rows,
               b.values.data(), b.rows);
}

bool symmetric_eigen(SmallMatrix& a, std::vector<double>& values) {
  const Index n = a.rows;
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return true;
  std::vector<double> work(static_cast<std::size_t>(1 + 6 * n + 2 * n * n));
  std::vector<int> integers(static_cast<std::size_t>(3 + 5 * n));
  double unused = 0;
  const OneBlasThread same_on_all_ranks;
  return blas::heevd('V', Uplo::lower, n, a.values.data(), n, values.data(), work.data(),
                     static_cast<Index>(work.size()), &unused, 1, integers.data(),
                     static_cast<Index>(integers.size())) == 0;
}

}  // namespace tessera::detail
