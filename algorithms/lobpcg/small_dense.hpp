// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/types.hpp>

/// Matrices of a hundred rows or so, on the thread that submits: the projected problems of block methods.
namespace tessera::detail {

/// Column-major, without gaps, zero at first.
struct SmallMatrix {
  Index rows = 0, cols = 0;
  std::vector<double> values;

  SmallMatrix() = default;
  SmallMatrix(Index row_count, Index column_count)
      : rows(row_count),
        cols(column_count),
        values(static_cast<std::size_t>(row_count * column_count), 0.0) {}
  double& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  double operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
  SmallMatrix block(Index row, Index col, Index m, Index n) const;
  void set_block(Index row, Index col, const SmallMatrix& part);
};

SmallMatrix unit_matrix(Index order);
SmallMatrix transposed(const SmallMatrix& a);
bool all_finite(const SmallMatrix& a);
/// op(a) op(b).
SmallMatrix product(Op op_a, const SmallMatrix& a, Op op_b, const SmallMatrix& b);
/// The symmetric part, (a + a^T) / 2.
SmallMatrix symmetric_part(const SmallMatrix& a);
/// a := its Cholesky factor L, zeros above the diagonal; false if a is not positive definite.
bool cholesky(SmallMatrix& a);
/// b := inv(op(l)) b.
void solve_lower(Op op, const SmallMatrix& l, SmallMatrix& b);
/// Eigenvalues of the symmetric a, ascending; a := its eigenvectors (divide and conquer). False if LAPACK
/// fails.
bool symmetric_eigen(SmallMatrix& a, std::vector<double>& values);

}  // namespace tessera::detail
