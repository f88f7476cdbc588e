// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <span>
#include <type_traits>
#include <vector>

#include <tessera/types.hpp>

/// Matrices of a hundred rows or so, on the thread that submits: the projected problems of block methods.
namespace tessera::detail {

/// Column-major, without gaps, zero at first. S: double or std::complex<double>.
template <class S>
struct SmallMatrixOf {
  Index rows = 0, cols = 0;
  std::vector<S> values;

  SmallMatrixOf() = default;
  SmallMatrixOf(Index row_count, Index column_count)
      : rows(row_count),
        cols(column_count),
        values(static_cast<std::size_t>(row_count * column_count), S(0)) {}
  S& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  S operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
  SmallMatrixOf block(Index row, Index col, Index m, Index n) const;
  void set_block(Index row, Index col, const SmallMatrixOf& part);
};
using SmallMatrix = SmallMatrixOf<double>;

/// What inner products of vectors of T are summed in.
template <class T>
using WideOf = std::conditional_t<is_complex<T>, std::complex<double>, double>;
/// Of vectors of T.
template <class T>
using SmallOf = SmallMatrixOf<WideOf<T>>;

template <class S = double>
SmallMatrixOf<S> unit_matrix(Index order);
/// a^H.
template <class S>
SmallMatrixOf<S> adjoint(const SmallMatrixOf<S>& a);
template <class S>
bool all_finite(const SmallMatrixOf<S>& a);
/// On top of each other, one at least.
template <class S>
SmallMatrixOf<S> stacked(std::span<const SmallMatrixOf<S>> parts);
/// op(a) op(b).
template <class S>
SmallMatrixOf<S> product(Op op_a, const SmallMatrixOf<S>& a, Op op_b, const SmallMatrixOf<S>& b);
/// The Hermitian part, (a + a^H) / 2.
template <class S>
SmallMatrixOf<S> hermitian_part(const SmallMatrixOf<S>& a);
/// a := its Cholesky factor L, zeros above the diagonal; false if a is not positive definite.
template <class S>
bool cholesky(SmallMatrixOf<S>& a);
/// b := inv(op(l)) b.
template <class S>
void solve_lower(Op op, const SmallMatrixOf<S>& l, SmallMatrixOf<S>& b);
/// Eigenvalues of the Hermitian a, ascending; a := its eigenvectors (divide and conquer). False if LAPACK
/// fails.
template <class S>
bool hermitian_eigen(SmallMatrixOf<S>& a, std::vector<double>& values);

}  // namespace tessera::detail
