// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tests/algorithms/sparse/csb_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/sparse_matrix.hpp>

namespace tessera::test {
namespace {

using List = ListRows::List;
using Lists = ListRows::Lists;

template <class P>
using CsrMatrixTest = RuntimeTest<P>;
TYPED_TEST_SUITE(CsrMatrixTest, TypePairs);

/// Both triangles of `rows`.
struct Arrays {
  explicit Arrays(const ListRows& rows) {
    Lists full = rows.lists();
    for (Index row = 0; row < rows.order(); ++row)
      for (const auto& [column, value] : rows.lists()[static_cast<std::size_t>(row)])
        if (column != row) full[static_cast<std::size_t>(column)].emplace_back(row, value);
    for (const auto& list : full) {
      for (const auto& [column, value] : list) {
        columns.push_back(column);
        values.push_back(value);
      }
      begins.push_back(static_cast<Index>(columns.size()));
    }
  }
  operator CsrArrays() const { return {begins, columns, values}; }
  std::vector<Index> begins{0}, columns;
  std::vector<double> values;
};

TYPED_TEST(CsrMatrixTest, Products) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const std::vector<ListRows> all{
      ListRows(Lists{List{{0, 2}}}), ListRows(Lists(1)),     ListRows(Lists{List{}, List{{0, 3}}}),
      ListRows(Lists(30)),           random_rows(200, 5, 1), random_rows(150, 3, 2, {}, false)};
  for (const ListRows& rows : all)
    for (const Index segments : {0, 1, 3, 1000}) {
      const Arrays arrays(rows);
      const auto a = CsrMatrix<V, T>::build(this->runtime(), arrays, segments);
      EXPECT_EQ(a.order(), rows.order());
      EXPECT_EQ(a.stored_entries(), static_cast<Index>(arrays.columns.size()));
      EXPECT_EQ(a.norm_bound(), rows.norm());
      if (segments > 0) {
        EXPECT_EQ(a.segments()->count(), std::min(segments, rows.order()));
      }
      for (const Index m : {1, 5, 32}) {
        const std::vector<double> x = whole_block(rows.order(), m, 4), expected = rows.multiply(x, m);
        const std::vector<T> y = product<T>(this->runtime(), a, x, m, segments == 3 ? 1 : 0);
        EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin()));
      }
      if (rows.order() > 100 && segments == 1000) break;
    }
}

/// A matrix of some megabytes is partitioned so that a piece (pair of segments) has one megabyte on
/// average.
TYPED_TEST(CsrMatrixTest, UsualSegments) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  constexpr Index n = 900, m = 2;
  std::vector<Index> begins{0}, columns;
  std::vector<double> values;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      columns.push_back(j);
      values.push_back(static_cast<double>((i + j) % 5 - 2));
    }
    begins.push_back(static_cast<Index>(columns.size()));
  }
  const auto a = CsrMatrix<V, T>::build(this->runtime(), {begins, columns, values});
  // 810 000 entries: 9.3 MiB of double, 6.2 MiB of float values.
  EXPECT_EQ(a.segments()->count(), sizeof(V) == 8 ? 3 : 2);
  const std::vector<double> x = whole_block(n, m, 5);
  std::vector<double> expected(x.size());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      for (Index k = 0; k < m; ++k)
        expected[static_cast<std::size_t>(i * m + k)] +=
            values[static_cast<std::size_t>(i * n + j)] * x[static_cast<std::size_t>(j * m + k)];
  const std::vector<T> y = product<T>(this->runtime(), a, x, m);
  EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin()));
}

TYPED_TEST(CsrMatrixTest, BadArguments) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const auto refuse = [&](const char* name, const std::vector<Index>& begins,
                          const std::vector<Index>& columns, const std::vector<double>& values,
                          Index segments = 0) {
    expect_refused(name, [&] {
      CsrMatrix<V, T>::build(this->runtime(), {begins, columns, values}, segments);
    });
  };
  refuse("begins", {}, {}, {});
  refuse("begins", {0}, {}, {});
  refuse("begins", {0, 2}, {0}, {1});
  refuse("begins", {1, 1}, {0}, {1});
  refuse("begins", {0, 2, 1, 3}, {0, 1, 2}, {1, 1, 1});
  refuse("values", {0, 1}, {0}, {1, 2});
  refuse("columns", {0, 1}, {1}, {1});
  refuse("columns", {0, 1}, {-1}, {1});
  refuse("values", {0, 1}, {0}, {not_a_number<double>()});
  refuse("segments", {0, 1}, {0}, {1}, -1);
}

}  // namespace
}  // namespace tessera::test
