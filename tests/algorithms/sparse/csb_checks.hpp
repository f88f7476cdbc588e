// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <tests/support/expect_refused.hpp>
#include <tests/support/symmetric_rows.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/sparse_matrix.hpp>

namespace tessera::test {

/// y := A x for integers x, which are exact in all types, in vectors with `wider` additional
/// columns. Before the product y holds NaN.
template <class T>
std::vector<T> product(Runtime& runtime, const SymmetricOperator<T>& a, const std::vector<double>& x,
                       Index columns, Index wider = 0, int times = 1) {
  const Index n = a.order();
  const std::vector<T> from(x.begin(), x.end());
  std::vector<T> result(from.size(), not_a_number<T>());
  const BlockVectors<T> in(runtime, a.segments(), columns + wider),
      out(runtime, a.segments(), columns + 2 * wider);
  in.set(from.data(), columns, columns);
  Sequence sequence(runtime);
  sequence.begin_stage("product");
  for (int time = 0; time < times; ++time) a.apply(sequence, in, out, columns);
  EXPECT_TRUE(sequence.wait().ok());
  out.get(result.data(), columns, columns);
  // The additional columns must be defined as well.
  std::vector<T> all(static_cast<std::size_t>(n * out.width()));
  out.get(all.data(), out.width(), out.width());
  for (const T value : all) EXPECT_FALSE(std::isnan(value));
  return result;
}

inline std::vector<double> whole_block(Index rows, Index columns, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::floor(random_uniform(seed, 9, static_cast<Index>(i), 0) * 8);
  return x;
}

/// Checks the product bitwise (integers are exact) and the properties that the matrix reports.
template <class V, class T>
CsbMatrix<V, T> check_matrix(Runtime& runtime, const ListRows& rows, const CsbOptions& options,
                             const std::vector<Index>& columns = {1, 3, 8}) {
  auto a = CsbMatrix<V, T>::build(runtime, rows, options);
  EXPECT_EQ(a.order(), rows.order());
  EXPECT_EQ(a.stored_entries(), rows.stored());
  EXPECT_EQ(a.norm_bound(), rows.norm());
  const std::vector<double> diagonal = a.diagonal();
  std::vector<double> expected_diagonal(static_cast<std::size_t>(rows.order()));
  for (Index row = 0; row < rows.order(); ++row)
    for (const auto& [column, value] : rows.lists()[static_cast<std::size_t>(row)])
      if (column == row) expected_diagonal[static_cast<std::size_t>(row)] = value;
  EXPECT_EQ(diagonal, expected_diagonal);
  for (const Index m : columns)
    for (const Index wider : {0, 2}) {
      const std::vector<double> x = whole_block(rows.order(), m, 3), expected = rows.multiply(x, m);
      const std::vector<T> y = product<T>(runtime, a, x, m, wider, 2);
      EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin())) << m << " columns, wider by " << wider;
    }
  return a;
}

}  // namespace tessera::test
