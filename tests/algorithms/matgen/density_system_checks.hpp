// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/codelets/block_sparse/values/coupled_units.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/matgen.hpp>

namespace tessera::test {
using namespace detail;

/// The whole matrix in double precision, column-major, on one rank.
template <class T>
std::vector<InDouble<T>> whole_matrix(const BlockSparseMatrix<T>& a) {
  const Index n = a.rows();
  std::vector<InDouble<T>> whole(static_cast<std::size_t>(n * n));
  a.for_each_block([&](Index row, Index col, MatrixView<const T> values) {
    const Index first_row = a.pattern().rows().first(row), first_col = a.pattern().cols().first(col);
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) {
        const InDouble<T> x = static_cast<InDouble<T>>(values(i, j));
        whole[first_row + i + (first_col + j) * n] = x;
        whole[first_col + j + (first_row + i) * n] = conjugate(x);
      }
  });
  return whole;
}

/// Eigenvalues of A, ascending, from LAPACK.
template <class W>
std::vector<double> eigenvalues_of(std::vector<W> a, Index n) {
  std::vector<double> values(n), rwork(5 * n + 10);
  std::vector<W> work(6 * n + 10);
  std::vector<int> iwork(10);
  const int info = blas::heevd<W>('N', Uplo::lower, n, a.data(), std::max<Index>(n, 1), values.data(),
                                  work.data(), static_cast<Index>(work.size()), rwork.data(),
                                  static_cast<Index>(rwork.size()), iwork.data(), 10);
  EXPECT_EQ(info, 0);
  return values;
}

/// Eigenvalues of H v = e S v, ascending; H becomes the eigenvectors if `vectors`.
template <class W>
std::vector<double> eigenvalues_of_pair(std::vector<W>& h, std::vector<W> s, Index n, bool vectors = false) {
  std::vector<double> values(n), rwork(1 + 5 * n + 2 * n * n);
  std::vector<W> work(1 + 6 * n + 2 * n * n);
  std::vector<int> iwork(10 + 5 * n);
  const Index ld = std::max<Index>(n, 1);
  const int info =
      blas::hegvd<W>(1, vectors ? 'V' : 'N', Uplo::lower, n, h.data(), ld, s.data(), ld, values.data(),
                     work.data(), static_cast<Index>(work.size()), rwork.data(),
                     static_cast<Index>(rwork.size()), iwork.data(), static_cast<Index>(iwork.size()));
  EXPECT_EQ(info, 0);
  return values;
}

}  // namespace tessera::test
