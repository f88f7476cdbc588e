// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <set>

#include <gtest/gtest.h>
#include <tests/algorithms/sparse/csb_checks.hpp>
#include <tests/support/mpi_test.hpp>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/sparse_matrix.hpp>

/// Any number of ranks: bitwise equal products, sub-matrices assigned as in the figure of the
/// paper, and errors that all ranks throw.
namespace tessera::test {
using namespace detail;
namespace {

using CsbMatrixMpi = MpiTest;

TEST_F(CsbMatrixMpi, Products) {
  const ListRows rows = random_rows(250, 8, 1);
  for (const Index groups : {0, 4})
    for (const Index segments : {0, 2}) {
      const auto a = check_matrix<double, double>(
          runtime(), rows, {.groups = groups, .segments = segments, .tile_rows = 9}, {3});
      if (groups > 0) {
        EXPECT_EQ(a.groups(), groups);
      }
    }
  check_matrix<float, double>(runtime(), rows, {.tile_rows = 20}, {3});
  check_matrix<float, float>(runtime(), rows, {.tile_rows = 20, .piece_bytes = 3000}, {3});
  check_matrix<double, double>(runtime(), random_rows(3, 1, 2), {.tile_rows = 1}, {2});
  check_matrix<double, double>(runtime(), ListRows(ListRows::Lists(30)), {.tile_rows = 4}, {2});
  check_matrix<double, double>(runtime(), random_rows(90, 6, 3, {0, 1, 40, 41, 70, 90}), {}, {2});
}

/// If there are as many ranks as sub-matrices, each rank has one sub-matrix (with three ranks, one
/// column of sub-matrices) and a part of the vectors.
TEST_F(CsbMatrixMpi, UsualGroups) {
  const int size = runtime().size();
  const auto a = CsbMatrix<double, double>::build(runtime(), random_rows(600, 10, 4), {.tile_rows = 4});
  if (size == 1 || size == 3) {
    EXPECT_EQ(a.groups(), size);
  }
  for (Index n = 3; n * (n + 1) / 2 <= size; ++n)
    if (n * (n + 1) / 2 == size) {
      EXPECT_EQ(a.groups(), n);
    }
  std::set<int> owners;
  for (Index s = 0; s < a.segments()->count(); ++s) owners.insert(a.segments()->owner(s));
  EXPECT_EQ(static_cast<int>(owners.size()), size);
  EXPECT_EQ(*owners.rbegin(), size - 1);
}

/// n (n + 1) / 2 ranks with n odd: each has one sub-matrix of n groups. The sub-matrices of column
/// c are {c, c}, {c, c + 1}, ..., modulo n, and belong to consecutive ranks (Maris et al. 2022,
/// Fig. 1). Both triangles of a full matrix take part in the product.
TEST_F(CsbMatrixMpi, OneSubMatrixForEachRank) {
  const int size = runtime().size();
  Index groups = 1;
  while (groups * (groups + 1) / 2 < size) groups += 2;
  if (groups * (groups + 1) / 2 != size) GTEST_SKIP() << "no such number of ranks";
  const Index n = 150, m = 2, of_column = (groups + 1) / 2;
  Matrix<double> dense(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) dense(i, j) = dense(j, i) = double((3 * i + 5 * j) % 7 + 1);
  const FunctionRows rows(n, [&](Index i, Index j) { return dense(i, j); });
  const CsbOptions options{.tile_rows = 5};
  const CsbPartition partition = csb_partition(runtime(), rows, options);
  ASSERT_EQ(partition.group_count(), groups);
  ASSERT_EQ(partition.domains_per_rank, 1);
  for (Index column = 0; column < groups; ++column)
    for (Index distance = 0; distance < of_column; ++distance) {
      const Index other = (column + distance) % groups;
      EXPECT_EQ(partition.domain_of(std::max(column, other), std::min(column, other)),
                column * of_column + distance)
          << column << ' ' << distance;
    }
  std::vector<Index> rows_of(static_cast<std::size_t>(size));
  for (Index s = 0; s < partition.segments->count(); ++s)
    rows_of[static_cast<std::size_t>(partition.segments->owner(s))] += partition.segments->size(s);
  for (const Index of_rank : rows_of) EXPECT_NEAR(double(of_rank), double(n) / size, 5);
  const auto a = CsbMatrix<double, double>::build(runtime(), rows, options);
  EXPECT_EQ(a.stored_entries(), n * (n + 1) / 2);
  EXPECT_EQ(*a.segments(), *partition.segments);
  const std::vector<double> x = whole_block(n, m, 1);
  std::vector<double> expected(x.size());
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k)
      for (Index j = 0; j < m; ++j)
        expected[static_cast<std::size_t>(i * m + j)] += dense(i, k) * x[static_cast<std::size_t>(k * m + j)];
  // A single product without the additional checks of product(), because many ranks that share
  // cores are slow.
  std::vector<double> y(x.size());
  const BlockVectors<double> in(runtime(), a.segments(), m), out(runtime(), a.segments(), m);
  in.set(x.data(), m, m);
  Sequence sequence(runtime());
  a.apply(sequence, in, out, m);
  ASSERT_TRUE(sequence.wait().ok());
  out.get(y.data(), m, m);
  EXPECT_EQ(y, expected);
}

/// Sums of non-integers must have the same bits in every run, even while tasks of several products
/// run concurrently.
TEST_F(CsbMatrixMpi, SameBits) {
  const Index n = 300, m = 3;
  const FunctionRows rows(
      n, [](Index i, Index j) { return (i + 2 * j) % 3 == 0 ? random_uniform(7, 0, i, j) : 0.0; });
  const auto a = CsbMatrix<double, double>::build(runtime(), rows, {.tile_rows = 10});
  const std::vector<double> x = whole_block(n, m, 1);
  const auto first = product<double>(runtime(), a, x, m);
  for (int time = 0; time < 2; ++time) {
    const auto again = product<double>(runtime(), a, x, m, 0, 1 + time);
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(double)), 0);
  }
}

/// x changes between products; no rank may use an old copy.
TEST_F(CsbMatrixMpi, ChangingVectors) {
  const Index n = 200, m = 2;
  const ListRows rows = random_rows(n, 6, 5);
  const auto a = CsbMatrix<double, double>::build(runtime(), rows, {.tile_rows = 8});
  const BlockVectors<double> u(runtime(), a.segments(), m), v(runtime(), a.segments(), m);
  std::vector<double> x = whole_block(n, m, 6), y(x.size());
  u.set(x.data(), m, m);
  {
    Sequence sequence(runtime());
    a.apply(sequence, u, v, m);
    a.apply(sequence, v, u, m);
    a.apply(sequence, u, v, 1);
    ASSERT_TRUE(sequence.wait().ok());
  }
  const auto twice = rows.multiply(rows.multiply(x, m), m), thrice = rows.multiply(twice, m);
  u.get(y.data(), m, m);
  EXPECT_EQ(y, twice);
  v.get(y.data(), m, m);
  for (std::size_t i = 0; i < y.size(); i += m) EXPECT_EQ(y[i], thrice[i]);
  x = whole_block(n, m, 7);
  u.set(x.data(), m, m);
  Sequence sequence(runtime());
  a.apply(sequence, u, v, m);
  ASSERT_TRUE(sequence.wait().ok());
  v.get(y.data(), m, m);
  EXPECT_EQ(y, rows.multiply(x, m));
}

TEST_F(CsbMatrixMpi, FullRows) {
  const Index n = 100, m = 3;
  const ListRows rows = random_rows(n, 5, 8);
  std::vector<ListRows::List> full = rows.lists();
  for (Index row = 0; row < n; ++row)
    for (const auto& [column, value] : rows.lists()[static_cast<std::size_t>(row)])
      if (column != row) full[static_cast<std::size_t>(column)].emplace_back(row, value);
  std::vector<Index> begins{0}, columns;
  std::vector<double> values;
  for (const auto& list : full) {
    for (const auto& [column, value] : list) {
      columns.push_back(column);
      values.push_back(value);
    }
    begins.push_back(static_cast<Index>(columns.size()));
  }
  for (const Index segments : {0, 1, 7, 100}) {
    const auto a = CsrMatrix<double, double>::build(runtime(), {begins, columns, values}, segments);
    const std::vector<double> x = whole_block(n, m, 9);
    EXPECT_EQ(product<double>(runtime(), a, x, m, 1, 2), rows.multiply(x, m));
  }
}

/// An error that one rank finds must be thrown by all ranks, and the runtime must stay usable.
TEST_F(CsbMatrixMpi, Errors) {
  const ListRows good = random_rows(60, 4, 1);
  for (const double bad : {not_a_number<double>(), 1.0}) {
    std::vector<ListRows::List> lists = good.lists();
    lists[59] = {{0, 1}, {0, bad}};  // NaN, or a duplicate entry, which only one rank stores
    expect_refused("rows",
                   [&] { CsbMatrix<double, double>::build(runtime(), ListRows(lists), {.tile_rows = 5}); });
  }
  if (runtime().size() > 1) {
    // One rank passes different options, different valid or invalid tiles, or a different `like`
    // matrix.
    const bool other = runtime().rank() == runtime().size() - 1;
    const auto refuse = [&](const SymmetricRows& rows, const CsbOptions& options) {
      EXPECT_THROW((CsbMatrix<double, double>::build(runtime(), rows, options)), InvalidArgument);
    };
    refuse(good, {.groups = other ? 1 : 2});
    const auto with_tiles = [](std::vector<Index> tiles) { return random_rows(60, 4, 1, std::move(tiles)); };
    const ListRows tiled = with_tiles({0, 20, 60}), shifted = with_tiles({0, 21, 60}),
                   bad = with_tiles({0, 61}), large = random_rows(61, 4, 1);
    refuse(other ? shifted : tiled, {});
    refuse(other ? good : tiled, {});
    refuse(other ? bad : tiled, {});
    refuse(other ? large : good, {});
    refuse(good, {.like = other ? &shifted : &tiled});
    refuse(good, {.like = other ? nullptr : &tiled});
    refuse(good, {.like = other ? &large : &good});
  }
  check_matrix<double, double>(runtime(), good, {.tile_rows = 5}, {2});
}

/// One rank passes arrays that are consistent but differ from those of the other ranks, or
/// inconsistent ones.
TEST_F(CsbMatrixMpi, OtherArrays) {
  if (runtime().size() == 1) return;
  const bool other = runtime().rank() == runtime().size() - 1;
  const auto refuse = [&](const std::vector<Index>& begins, const std::vector<Index>& columns) {
    const std::vector<double> values(columns.size(), 1);
    EXPECT_THROW((CsrMatrix<double, double>::build(runtime(), {begins, columns, values}, 2)),
                 InvalidArgument);
  };
  refuse({0, other ? 1 : 2, 3}, {0, 1, 1});
  refuse({0, 1, 3}, {other ? 1 : 0, 0, 1});
  refuse({0, 1, 3}, {0, other ? 2 : 0, 1});
  const ListRows diagonal(ListRows::Lists{{{0, 2}}, {{1, 3}}});
  const auto a = CsrMatrix<double, double>::build(
      runtime(), {std::vector<Index>{0, 1, 2}, std::vector<Index>{0, 1}, std::vector<double>{2, 3}});
  const std::vector<double> x{5, 7};
  EXPECT_EQ(product<double>(runtime(), a, x, 1), diagonal.multiply(x, 1));
}

TEST_F(CsbMatrixMpi, BlockVectors) {
  const Index n = 50, width = 3;
  const int size = runtime().size();
  const auto segments = RowSegments::even(runtime(), n, 2 * size + 1);
  for (Index s = 0; s + 1 < segments->count(); ++s) EXPECT_LE(segments->owner(s), segments->owner(s + 1));
  EXPECT_EQ(segments->owner(segments->count() - 1), size - 1);
  const BlockVectors<float> x(runtime(), segments, width);
  const std::vector<double> values = whole_block(n, width, 2);
  const std::vector<float> given(values.begin(), values.end());
  std::vector<float> got(given.size());
  x.set(given.data(), width, width);
  x.get(got.data(), width, width);
  EXPECT_EQ(got, given);
}

}  // namespace
}  // namespace tessera::test
