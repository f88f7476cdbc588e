// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cstring>
#include <limits>
#include <map>

#include <tests/algorithms/sparse/csb_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/diagonal_tiles.hpp>
#include <tessera/matgen.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

using List = ListRows::List;
using Lists = ListRows::Lists;

template <class P>
class CsbMatrixTest : public RuntimeTest<P> {
 public:
  using V = typename P::V;
  using T = typename P::T;
  CsbMatrix<V, T> check(const ListRows& rows, const CsbOptions& options = {}) {
    return check_matrix<V, T>(this->runtime(), rows, options);
  }
};
TYPED_TEST_SUITE(CsbMatrixTest, TypePairs);

TYPED_TEST(CsbMatrixTest, Tiny) {
  this->check(ListRows(Lists{List{{0, 3}}}));
  this->check(ListRows(Lists(1)));
  this->check(ListRows(Lists{List{}, List{{0, 2}}}));
  this->check(ListRows(Lists{List{{0, 1}}, List{{1, -2}, {0, 5}}}, {0, 1, 2}));
  this->check(ListRows(Lists{List{}, List{}, List{{1, 2}}}, {0, 1, 3}), {.groups = 3, .segments = 3});
}

TYPED_TEST(CsbMatrixTest, GroupsAndSegments) {
  const ListRows rows = random_rows(300, 9, 1);
  for (const Index groups : {1, 2, 3, 8})
    for (const Index segments : {1, 3}) {
      const auto a = this->check(rows, {.groups = groups, .segments = segments, .tile_rows = 4});
      EXPECT_EQ(a.groups(), groups);
      EXPECT_EQ(a.segments()->count(), groups * segments);
    }
  // More groups and segments than rows.
  const auto a = this->check(random_rows(20, 4, 2), {.groups = 100, .segments = 100, .tile_rows = 3});
  EXPECT_EQ(a.segments()->count(), 7);
  // Many small pieces, and the default partition.
  this->check(rows, {.groups = 2, .segments = 2, .tile_rows = 10, .piece_bytes = 4000});
  this->check(rows);
}

TYPED_TEST(CsbMatrixTest, Tiles) {
  std::vector<Index> one_each(61), large{0, 1, 2, 50, 51, 60}, one{0, 60};
  for (std::size_t i = 0; i < one_each.size(); ++i) one_each[i] = static_cast<Index>(i);
  for (const auto& tiles : {one_each, large, one})
    for (const Index segments : {1, 3}) {
      const auto a =
          this->check(random_rows(60, 6, 3, tiles), {.groups = 2, .segments = segments, .tile_rows = 0});
      // Segment boundaries must be tile boundaries.
      for (Index s = 0; s < a.segments()->count(); ++s)
        EXPECT_TRUE(std::binary_search(tiles.begin(), tiles.end(), a.segments()->begin(s)));
    }
}

TYPED_TEST(CsbMatrixTest, EmptyAndDense) {
  using V = typename TypeParam::V;
  this->check(ListRows(Lists(50)), {.segments = 3, .tile_rows = 4});
  Lists dense(200);
  for (Index i = 0; i < 200; ++i)
    for (Index j = 0; j <= i; ++j) dense[static_cast<std::size_t>(i)].emplace_back(j, 1 + (i * 7 + j) % 3);
  // A cell of more than 16384 entries; checks the bytes per entry.
  for (const Index tile : {200, 30}) {
    const auto a = this->check(ListRows(dense), {.segments = 1, .tile_rows = tile});
    const double entries = 200 * 201 / 2, bytes = entries * (sizeof(V) + 4);
    EXPECT_GE(a.stored_bytes(), bytes);
    EXPECT_LE(a.stored_bytes(), bytes + 2 * 64 * 5 + 40 * sizeof(CsbCell));
  }
}

/// In the shell model an entry takes its value and four bytes; cells and pieces must add almost
/// nothing. This test counts entries and cells from the rows.
TYPED_TEST(CsbMatrixTest, BytesOfTheShellModel) {
  using V = typename TypeParam::V;
  for (const char* nucleus : {"shell:44Ti", "shell:24Mg"}) {
    SCOPED_TRACE(nucleus);
    const SparseGenerator made = make_sparse_generator(nucleus);
    const SymmetricRows& rows = *made.a;
    const CsbPartition partition = csb_partition(this->runtime(), rows, {});
    const auto interval = [](const std::vector<Index>& begins, Index at) {
      return std::upper_bound(begins.begin(), begins.end(), at) - begins.begin() - 1;
    };
    Index entries = 0;
    std::map<std::pair<Index, Index>, Index> of_bands;  // tile t is stored at (-1, t)
    for (std::size_t t = 0; t + 1 < rows.tiles().size(); ++t) {
      const Index begin = rows.tiles()[t];
      std::vector<SparseEntry> out;
      rows.entries(begin, rows.tiles()[t + 1], 0, rows.order(), out);
      entries += static_cast<Index>(out.size());
      for (const SparseEntry& e : out) {
        const Index row = begin + e.row, column = e.column;
        const bool in_tile = column >= begin;
        ++of_bands[in_tile ? std::pair(Index(-1), static_cast<Index>(t))
                           : std::pair(interval(partition.bands, row), interval(partition.bands, column))];
      }
    }
    double cells = 0;
    for (const auto& [place, count] : of_bands) cells += std::ceil(double(count) / double(csb_cell_entries));
    const auto a = CsbMatrix<V, typename TypeParam::T>::build(this->runtime(), rows);
    EXPECT_EQ(a.stored_entries(), entries);
    const double needed = double(entries) * (sizeof(V) + 4) + cells * sizeof(CsbCell);
    const auto segments = double(partition.segments->count());
    EXPECT_GE(a.stored_bytes(), needed);
    // A header and four arrays, each padded to a multiple of 64 bytes, in each piece. A piece
    // belongs to a pair of segments or holds diagonal tiles.
    EXPECT_LE(a.stored_bytes(), needed + segments * (segments + 3) / 2 * 5 * 64);
    EXPECT_LE(a.stored_bytes(), 1.005 * double(entries) * (sizeof(V) + 4));
  }
}

/// Rows and columns at the limits of 16-bit indices, tiles that exceed them, and distant entries.
TYPED_TEST(CsbMatrixTest, LargeTiles) {
  const Index n = 150000;
  for (const auto& tiles :
       {std::vector<Index>{}, std::vector<Index>{0, n}, std::vector<Index>{0, 3, 65539, 140000, n}}) {
    Lists rows(static_cast<std::size_t>(n));
    const std::vector<Index> marks{0, 1, 65534, 65535, 65536, 65537, 65538, 65539, 131071, 131072, 149999};
    for (const Index i : marks)
      for (const Index j : marks)
        if (j <= i) rows[static_cast<std::size_t>(i)].emplace_back(j, 1 + (i + 2 * j) % 5);
    for (Index i = 100; i < n; i += 7)
      if (std::find(marks.begin(), marks.end(), i) == marks.end())
        rows[static_cast<std::size_t>(i)] = {{i / 3, 2}, {i, -1}};
    check_matrix<typename TypeParam::V, typename TypeParam::T>(
        this->runtime(), ListRows(rows, tiles),
        {.segments = 2, .tile_rows = tiles.empty() ? csb_cell_rows : 0}, {2});
  }
}

/// The pieces of the tiles hold exactly the diagonal blocks of the matrix.
TYPED_TEST(CsbMatrixTest, DiagonalTiles) {
  using V = typename TypeParam::V;
  const std::vector<Index> tiles{0, 1, 4, 30, 31, 50, 80};
  const ListRows rows = random_rows(80, 12, 5, tiles);
  const auto a = this->check(rows, {.groups = 2, .segments = 2});
  Matrix<double> found(80, 80), expected(80, 80);
  std::vector<Index> begins;
  for (Index s = 0; s < a.segments()->count(); ++s) {
    const auto& of_segment = a.diagonal_tiles(s);
    for (const Index begin : of_segment.begins) begins.push_back(begin + a.segments()->begin(s));
    if (s + 1 < a.segments()->count()) begins.pop_back();
    ASSERT_NE(of_segment.piece, nullptr);
    EXPECT_TRUE(of_segment.shape.on_diagonal);
    const HostAccess access(*of_segment.piece, HostAccess::Mode::read);
    const auto view = csb_view<V>(access.template array<const std::byte>().data(),
                                  of_segment.shape.cell_count, of_segment.shape.entry_count, true);
    for (Index b = 0; b < view.cell_count; ++b) {
      const CsbCell& cell = view.cells[b];
      EXPECT_EQ(cell.first_row, cell.first_column);
      EXPECT_TRUE(std::binary_search(tiles.begin(), tiles.end(), a.segments()->begin(s) + cell.first_row));
      const auto place = [&](Index e) { return std::pair(view.rows[e], view.columns[e]); };
      for (Index e = cell.first_entry + 1; e < cell.first_entry + cell.entries; ++e)
        EXPECT_LT(place(e - 1), place(e));
      for (Index e = cell.first_entry; e < cell.first_entry + cell.entries; ++e)
        found(a.segments()->begin(s) + cell.first_row + view.rows[e],
              a.segments()->begin(s) + cell.first_column + view.columns[e]) = view.values[e];
    }
  }
  EXPECT_EQ(begins, tiles);
  for (Index row = 0; row < 80; ++row)
    for (const auto& [column, value] : rows.lists()[static_cast<std::size_t>(row)])
      if (std::upper_bound(tiles.begin(), tiles.end(), row) ==
          std::upper_bound(tiles.begin(), tiles.end(), column))
        expected(row, column) = value;
  EXPECT_EQ(difference(found, expected), 0);
}

/// For values whose sums are not exact the product must be close to that of the full CSR matrix and
/// of a dense matrix, with equal bits in every run.
TYPED_TEST(CsbMatrixTest, RoundedSums) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const Index n = 500, m = 4;
  const FunctionRows rows(
      n, [](Index i, Index j) { return (i * 31 + j * 17) % 5 == 0 ? random_uniform(7, 0, i, j) : 0.0; });
  Matrix<double> dense(n, n);
  std::vector<Index> begins{0}, columns;
  std::vector<double> values;
  const auto element = [&](Index i, Index j) {
    return (std::max(i, j) * 31 + std::min(i, j) * 17) % 5 == 0
               ? random_uniform(7, 0, std::max(i, j), std::min(i, j))
               : 0.0;
  };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      dense(i, j) = element(i, j);
      if (dense(i, j) == 0) continue;
      columns.push_back(j);
      values.push_back(dense(i, j));
    }
    begins.push_back(static_cast<Index>(columns.size()));
  }
  const std::vector<double> x = whole_block(n, m, 1);
  std::vector<T> first;
  for (int time = 0; time < 3; ++time) {
    const auto a = CsbMatrix<V, T>::build(this->runtime(), rows, {.segments = 6, .tile_rows = 20});
    const std::vector<T> y = product<T>(this->runtime(), a, x, m);
    if (time == 0) first = y;
    EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(T)), 0);
    EXPECT_NEAR(a.norm_bound(), norm_1(dense), 1e-6 * norm_1(dense));
  }
  const auto full = CsrMatrix<V, T>::build(this->runtime(), {begins, columns, values}, 5);
  const std::vector<T> csr = product<T>(this->runtime(), full, x, m);
  EXPECT_NEAR(full.norm_bound(), norm_1(dense), 1e-12 * norm_1(dense));
  const double bound = 4 * std::numeric_limits<V>::epsilon() * norm_1(dense) * 8;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      double sum = 0;
      for (Index k = 0; k < n; ++k) sum += dense(i, k) * x[static_cast<std::size_t>(k * m + j)];
      EXPECT_NEAR(first[static_cast<std::size_t>(i * m + j)], sum, bound);
      EXPECT_NEAR(csr[static_cast<std::size_t>(i * m + j)], sum, bound);
    }
}

/// B of A x = lambda B x with different tiles, one of which ends within a tile of A and others
/// inside it. Rows of B must be requested from one tile of B at a time, and B must be partitioned
/// like A.
TYPED_TEST(CsbMatrixTest, LikeWithOtherTiles) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  class Strict final : public SymmetricRows {
   public:
    explicit Strict(const ListRows& rows) : rows_(rows) {}
    Index order() const override { return rows_.order(); }
    std::span<const Index> tiles() const override { return rows_.tiles(); }
    void entries(Index first, Index end, Index begin, Index last,
                 std::vector<SparseEntry>& out) const override {
      const auto tile_of = [&](Index row) {
        return std::upper_bound(tiles().begin(), tiles().end(), row) - tiles().begin();
      };
      if (first >= end || tile_of(first) != tile_of(end - 1)) ++broken;
      rows_.entries(first, end, begin, last, out);
    }
    mutable std::atomic<int> broken = 0;

   private:
    const ListRows& rows_;
  };
  const std::vector<Index> tiles_of_a{0, 1, 40, 41, 90, 120};
  const ListRows rows_of_a = random_rows(120, 6, 3, tiles_of_a);
  const CsbOptions options{.groups = 2, .segments = 2};
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows_of_a, options);
  for (const auto& tiles : {std::vector<Index>{0, 120}, {0, 1, 2, 17, 40, 60, 61, 119, 120}, {0, 41, 120}}) {
    const ListRows lists = random_rows(120, 5, 4, tiles);
    const Strict rows(lists);
    CsbOptions as_a = options;
    as_a.like = &rows_of_a;
    const auto b = CsbMatrix<V, T>::build(this->runtime(), rows, as_a);
    EXPECT_EQ(rows.broken, 0);
    EXPECT_EQ(*b.segments(), *a.segments());
    EXPECT_EQ(b.stored_entries(), lists.stored());
    for (Index s = 0; s < a.segments()->count(); ++s)
      EXPECT_EQ(b.diagonal_tiles(s).begins, a.diagonal_tiles(s).begins);
    const std::vector<double> x = whole_block(120, 3, 5), expected = lists.multiply(x, 3);
    const std::vector<T> y = product<T>(this->runtime(), b, x, 3);
    EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin()));
  }
}

/// The partition must not depend on the type of the values. With this number of entries,
/// partitioning by bytes would give a double matrix more segments than a float matrix.
TEST(CsbMatrixLike, CutDoesNotDependOnTheValues) {
  Runtime runtime({.cores = 2, .gpus = 0});
  constexpr Index n = 680, m = 2;
  ListRows::Lists lists(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j)
      lists[static_cast<std::size_t>(i)].emplace_back(j, static_cast<double>((i + 2 * j) % 5 - 2));
  const ListRows rows(lists), others = random_rows(n, 3, 6);
  const auto a = CsbMatrix<float, double>::build(runtime, rows, {.tile_rows = 10});
  const auto same = CsbMatrix<double, double>::build(runtime, rows, {.tile_rows = 10});
  const auto b = CsbMatrix<double, double>::build(runtime, others, {.tile_rows = 10, .like = &rows});
  EXPECT_GT(a.segments()->count(), 1);
  EXPECT_EQ(*a.segments(), *same.segments());
  EXPECT_EQ(*a.segments(), *b.segments());
  const std::vector<double> x = whole_block(n, m, 7);
  EXPECT_EQ(product<double>(runtime, a, x, m), rows.multiply(x, m));
  EXPECT_EQ(product<double>(runtime, b, x, m), others.multiply(x, m));
}

TYPED_TEST(CsbMatrixTest, BadEntries) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const auto refuse = [&](Lists lists, std::vector<Index> tiles = {}) {
    expect_refused("rows", [&] {
      CsbMatrix<V, T>::build(this->runtime(), ListRows(std::move(lists), std::move(tiles)));
    });
  };
  const double infinite = std::numeric_limits<double>::infinity();
  refuse(Lists{List{{0, 1}, {1, 1}}, List{}});                     // above the diagonal
  refuse(Lists{List{}, List{{0, 1}, {1, 2}, {0, 3}}});             // twice
  refuse(Lists{List{}, List{}, List{{0, 1}, {0, 1}}}, {0, 2, 3});  // twice, outside the diagonal tiles
  refuse(Lists{List{{0, not_a_number<double>()}}});
  refuse(Lists{List{}, List{{0, infinite}}});
  if (sizeof(V) == 4) refuse(Lists{List{{0, 1e300}}});
  class Outside final : public SymmetricRows {
   public:
    Index order() const override { return 10; }
    void entries(Index first, Index end, Index begin, Index last,
                 std::vector<SparseEntry>& out) const override {
      out.push_back({static_cast<std::uint32_t>(end - first), 0, 1.0});
      (void)begin, (void)last;
    }
  };
  expect_refused("rows", [&] { CsbMatrix<V, T>::build(this->runtime(), Outside()); });
  class Changing final : public SymmetricRows {
   public:
    Index order() const override { return 4; }
    void entries(Index first, Index end, Index, Index, std::vector<SparseEntry>& out) const override {
      if (end - first == 4 && calls++ == 0) return;
      for (Index row = first; row < end; ++row)
        out.push_back({static_cast<std::uint32_t>(row - first), 0, 1.0});
    }
    mutable int calls = 0;
  };
  expect_refused("rows", [&] { CsbMatrix<V, T>::build(this->runtime(), Changing()); });
  class Throwing final : public SymmetricRows {
   public:
    Index order() const override { return 1000; }
    void entries(Index, Index end, Index, Index, std::vector<SparseEntry>&) const override {
      if (end > 700) throw InvalidArgument("seed", "700", "another one");
    }
  };
  expect_refused("seed", [&] { CsbMatrix<V, T>::build(this->runtime(), Throwing()); });
}

TYPED_TEST(CsbMatrixTest, BadArguments) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  Runtime& runtime = this->runtime();
  const ListRows rows = random_rows(10, 2, 1);
  const auto refuse = [&](const char* name, const CsbOptions& options) {
    expect_refused(name, [&] { CsbMatrix<V, T>::build(runtime, rows, options); });
  };
  refuse("groups", {.groups = -1});
  refuse("segments", {.segments = -1});
  refuse("tile_rows", {.tile_rows = -1});
  refuse("tile_rows", {.tile_rows = csb_cell_rows + 1});
  refuse("piece_bytes", {.piece_bytes = -1});
  expect_refused("rows", [&] { CsbMatrix<V, T>::build(runtime, ListRows(Lists{})); });
  for (const auto& tiles : {std::vector<Index>{0, 9}, {1, 10}, {0, 5, 5, 10}, {0, 7, 3, 10}}) {
    const ListRows bad = random_rows(10, 2, 1, tiles), large = random_rows(11, 2, 1);
    expect_refused("tiles", [&] { CsbMatrix<V, T>::build(runtime, bad); });
    expect_refused("tiles", [&] { CsbMatrix<V, T>::build(runtime, rows, {.like = &bad}); });
    expect_refused("tiles", [&] { CsbMatrix<V, T>::build(runtime, bad, {.like = &rows}); });
    expect_refused("like", [&] { CsbMatrix<V, T>::build(runtime, rows, {.like = &large}); });
  }

  const auto a = CsbMatrix<V, T>::build(runtime, rows, {.segments = 2, .tile_rows = 2});
  const BlockVectors<T> x(runtime, a.segments(), 3), y(runtime, a.segments(), 4),
      other(runtime, RowSegments::even(runtime, 10, 5), 3), wide(runtime, a.segments(), 40);
  Sequence sequence(runtime);
  expect_refused("x", [&] { a.apply(sequence, other, y, 2); });
  expect_refused("y", [&] { a.apply(sequence, x, other, 2); });
  expect_refused("y", [&] { a.apply(sequence, x, x, 2); });
  expect_refused("columns", [&] { a.apply(sequence, x, y, 0); });
  expect_refused("columns", [&] { a.apply(sequence, x, y, 4); });
  expect_refused("columns", [&] { a.apply(sequence, wide, BlockVectors<T>(runtime, a.segments(), 40), 33); });
}

TEST(BalancedSubMatrices, EveryPairOnceAndColumnsEqual) {
  for (Index n = 1; n <= 12; ++n) {
    const auto all = balanced_sub_matrices(n);
    EXPECT_EQ(static_cast<Index>(all.size()), n * (n + 1) / 2);
    std::vector<int> seen(static_cast<std::size_t>(n * n)), held(static_cast<std::size_t>(n));
    for (const auto& [row, column, holder] : all) {
      EXPECT_GE(row, column);
      EXPECT_TRUE(holder == row || holder == column);
      EXPECT_EQ(seen[static_cast<std::size_t>(row * n + column)]++, 0);
      ++held[static_cast<std::size_t>(holder)];
    }
    const auto [least, most] = std::minmax_element(held.begin(), held.end());
    EXPECT_LE(*most - *least, n % 2 == 0 ? 1 : 0);
  }
  // Five groups as in Maris et al. 2022, Fig. 1; (4,1), (5,1) and (5,2) are taken above the
  // diagonal.
  const auto all = balanced_sub_matrices(5);
  const std::vector<std::vector<Index>> expected{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 1, 1}, {2, 1, 1},
                                                 {3, 1, 1}, {2, 2, 2}, {3, 2, 2}, {4, 2, 2}, {3, 3, 3},
                                                 {4, 3, 3}, {3, 0, 3}, {4, 4, 4}, {4, 0, 4}, {4, 1, 4}};
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ((std::vector<Index>{all[i].row, all[i].column, all[i].holder}), expected[i]);
}

}  // namespace
}  // namespace tessera::test
