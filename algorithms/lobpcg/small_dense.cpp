// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime/blas_threads.hpp>

namespace tessera::detail {

template <class S>
SmallMatrixOf<S> SmallMatrixOf<S>::block(Index row, Index col, Index m, Index n) const {
  SmallMatrixOf part(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) part(i, j) = (*this)(row + i, col + j);
  return part;
}

template <class S>
void SmallMatrixOf<S>::set_block(Index row, Index col, const SmallMatrixOf& part) {
  for (Index j = 0; j < part.cols; ++j)
    for (Index i = 0; i < part.rows; ++i) (*this)(row + i, col + j) = part(i, j);
}

template <class S>
SmallMatrixOf<S> unit_matrix(Index order) {
  SmallMatrixOf<S> a(order, order);
  for (Index i = 0; i < order; ++i) a(i, i) = 1;
  return a;
}

template <class S>
SmallMatrixOf<S> adjoint(const SmallMatrixOf<S>& a) {
  SmallMatrixOf<S> t(a.cols, a.rows);
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < a.rows; ++i) t(j, i) = conjugate(a(i, j));
  return t;
}

template <class S>
SmallMatrixOf<S> stacked(std::span<const SmallMatrixOf<S>> parts) {
  Index rows = 0, first = 0;
  for (const SmallMatrixOf<S>& part : parts) rows += part.rows;
  SmallMatrixOf<S> all(rows, parts.front().cols);
  for (const SmallMatrixOf<S>& part : parts) {
    all.set_block(first, 0, part);
    first += part.rows;
  }
  return all;
}

template <class S>
bool all_finite(const SmallMatrixOf<S>& a) {
  return std::all_of(a.values.begin(), a.values.end(),
                     [](S x) { return std::isfinite(real_part(x)) && std::isfinite(imag_part(x)); });
}

template <class S>
SmallMatrixOf<S> product(Op op_a, const SmallMatrixOf<S>& a, Op op_b, const SmallMatrixOf<S>& b) {
  const Index m = op_a == Op::none ? a.rows : a.cols, k = op_a == Op::none ? a.cols : a.rows;
  const Index n = op_b == Op::none ? b.cols : b.rows;
  SmallMatrixOf<S> c(m, n);
  const OneBlasThread same_on_all_ranks;
  if (m > 0 && n > 0 && k > 0)
    blas::gemm<S>(op_a, op_b, m, n, k, S(1), a.values.data(), a.rows, b.values.data(), b.rows, S(0),
                  c.values.data(), m);
  return c;
}

template <class S>
SmallMatrixOf<S> hermitian_part(const SmallMatrixOf<S>& a) {
  SmallMatrixOf<S> s(a.rows, a.rows);
  for (Index j = 0; j < a.rows; ++j)
    for (Index i = 0; i < a.rows; ++i) s(i, j) = (a(i, j) + conjugate(a(j, i))) / 2.0;
  return s;
}

template <class S>
bool cholesky(SmallMatrixOf<S>& a) {
  if (a.rows == 0) return true;
  const OneBlasThread same_on_all_ranks;
  if (blas::potrf<S>(Uplo::lower, a.rows, a.values.data(), a.rows) != 0) return false;
  for (Index j = 0; j < a.rows; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = 0;
  return true;
}

template <class S>
void solve_lower(Op op, const SmallMatrixOf<S>& l, SmallMatrixOf<S>& b) {
  const OneBlasThread same_on_all_ranks;
  if (b.rows > 0 && b.cols > 0)
    blas::trsm<S>(Side::left, Uplo::lower, op, Diag::non_unit, b.rows, b.cols, S(1), l.values.data(), l.rows,
                  b.values.data(), b.rows);
}

template <class S>
bool hermitian_eigen(SmallMatrixOf<S>& a, std::vector<double>& values) {
  const Index n = a.rows;
  values.assign(static_cast<std::size_t>(n), 0.0);
  if (n == 0) return true;
  const Index reals = 1 + 6 * n + 2 * n * n, complex = is_complex<S> ? 2 * n + n * n : reals;
  std::vector<S> work(static_cast<std::size_t>(complex));
  std::vector<double> real_work(is_complex<S> ? static_cast<std::size_t>(reals) : 1);
  std::vector<int> integers(static_cast<std::size_t>(3 + 5 * n));
  const OneBlasThread same_on_all_ranks;
  return blas::heevd<S>('V', Uplo::lower, n, a.values.data(), n, values.data(), work.data(), complex,
                        real_work.data(), static_cast<Index>(real_work.size()), integers.data(),
                        static_cast<Index>(integers.size())) == 0;
}

#define TESSERA_INSTANTIATE(S)                                                                 \
  template struct SmallMatrixOf<S>;                                                            \
  template SmallMatrixOf<S> unit_matrix(Index);                                                \
  template SmallMatrixOf<S> adjoint(const SmallMatrixOf<S>&);                                  \
  template SmallMatrixOf<S> stacked(std::span<const SmallMatrixOf<S>>);                        \
  template bool all_finite(const SmallMatrixOf<S>&);                                           \
  template SmallMatrixOf<S> product(Op, const SmallMatrixOf<S>&, Op, const SmallMatrixOf<S>&); \
  template SmallMatrixOf<S> hermitian_part(const SmallMatrixOf<S>&);                           \
  template bool cholesky(SmallMatrixOf<S>&);                                                   \
  template void solve_lower(Op, const SmallMatrixOf<S>&, SmallMatrixOf<S>&);                   \
  template bool hermitian_eigen(SmallMatrixOf<S>&, std::vector<double>&);
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<double>)

}  // namespace tessera::detail
