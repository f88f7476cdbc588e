// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <tests/algorithms/matgen/sparse_rows_checks.hpp>

#include <tessera/sparse_matrix.hpp>

namespace {

using namespace tessera;
using namespace tessera::test;

using Indices = std::vector<Index>;
using Values = std::vector<double>;
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

/// Lower entries of a random symmetric matrix, with an empty row and a stored zero.
EntryMap sample(Index n) {
  EntryMap entries;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j)
      if (i != n / 2 && random_uniform(3, 1, i, j) > 0.4) entries[{i, j}] = random_uniform(3, 0, i, j);
  entries[{n - 1, 0}] = 0;
  return entries;
}

struct Arrays {
  Indices rows, columns;
  Values values;
};

/// The entries of a triangle in arbitrary order.
Arrays arrays(const EntryMap& entries, Uplo triangle) {
  std::vector<std::tuple<std::uint64_t, Index, Index, double>> shuffled;
  for (const auto& [place, value] : entries) {
    const auto [i, j] = place;
    const auto key = [&](Index s) { return std::uint64_t(i * 2654435761 + j * 40503 + s) % 10007; };
    if (triangle != Uplo::upper) shuffled.emplace_back(key(0), i, j, value);
    if (triangle == Uplo::upper || (triangle == Uplo::general && i != j))
      shuffled.emplace_back(key(1), j, i, value);
  }
  std::sort(shuffled.begin(), shuffled.end());
  Arrays all;
  for (const auto& [key, i, j, value] : shuffled)
    all.rows.push_back(i), all.columns.push_back(j), all.values.push_back(value);
  return all;
}

TEST(CoordinateRows, HoldWhatTheyAreGiven) {
  for (Index n : {1, 2, 9, 40}) {
    const EntryMap entries = sample(n);
    for (Uplo triangle : {Uplo::lower, Uplo::upper, Uplo::general}) {
      const Arrays a = arrays(entries, triangle);
      const auto rows = CoordinateRows::from_coordinates(n, a.rows, a.columns, a.values, triangle);
      EXPECT_EQ(rows.order(), n);
      EXPECT_EQ(rows.stored_entries(), static_cast<Index>(entries.size()));
      EXPECT_EQ(gather(rows, n, n), entries);
      EXPECT_EQ(gather(rows, 3, 4), entries);
      // Compressed rows must give the same matrix.
      Indices begins(1, 0), columns;
      Values values;
      for (Index i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < a.rows.size(); ++k)
          if (a.rows[k] == i) columns.push_back(a.columns[k]), values.push_back(a.values[k]);
        begins.push_back(static_cast<Index>(columns.size()));
      }
      EXPECT_EQ(gather(CoordinateRows::from_compressed_rows(n, begins, columns, values, triangle), n, n),
                entries);
    }
  }
}

TEST(CoordinateRows, EmptyMatricesAndTiles) {
  EXPECT_EQ(CoordinateRows::from_coordinates(0, {}, {}, Values{}).order(), 0);
  EXPECT_TRUE(gather(CoordinateRows::from_coordinates(5, {}, {}, Values{}), 5, 5).empty());
  const auto tiled = CoordinateRows::from_coordinates(5, {}, {}, Values{}, Uplo::lower, {0, 2, 5});
  EXPECT_EQ(tiled.tiles().size(), 3U);
  for (const Indices& tiles :
       {Indices{0}, Indices{0, 2}, Indices{1, 5}, Indices{0, 2, 2, 5}, Indices{0, 3, 2, 5}})
    expect_refused("tiles",
                   [&] { CoordinateRows::from_coordinates(5, {}, {}, Values{}, Uplo::lower, tiles); });
}

TEST(CoordinateRows, BadArraysAreRefused) {
  const auto refuse = [](Uplo triangle, const Indices& rows, const Indices& columns, const Values& values,
                         const std::string& expected) {
    try {
      CoordinateRows::from_coordinates(3, rows, columns, values, triangle);
      ADD_FAILURE() << "taken: " << expected;
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.name(), "entries");
      EXPECT_NE(error.expected().find(expected), std::string::npos) << error.what();
    }
  };
  refuse(Uplo::lower, {3}, {0}, {1}, "inside");
  refuse(Uplo::lower, {0}, {-1}, {1}, "inside");
  refuse(Uplo::lower, {0}, {1}, {1}, "lower triangle");
  refuse(Uplo::upper, {1}, {0}, {1}, "upper triangle");
  refuse(Uplo::lower, {1}, {0}, {nan_value}, "finite");
  refuse(Uplo::general, {1, 0}, {0, 1}, {infinite, infinite}, "finite");
  refuse(Uplo::lower, {1, 2, 1}, {0, 0, 0}, {1, 1, 1}, "once");
  refuse(Uplo::upper, {1, 1}, {1, 1}, {1, 1}, "once");
  refuse(Uplo::general, {1, 0, 1}, {0, 1, 0}, {1, 1, 1}, "once");
  refuse(Uplo::general, {0, 0}, {1, 1}, {1, 1}, "once");
  refuse(Uplo::general, {1}, {0}, {1}, "symmetric");
  refuse(Uplo::general, {0}, {1}, {1}, "symmetric");
  refuse(Uplo::general, {1, 0}, {0, 1}, {1, 1 + 1e-12}, "symmetric");
  const auto nearly =
      CoordinateRows::from_coordinates(3, Indices{0, 1}, Indices{1, 0}, Values{1 + 1e-14, 1}, Uplo::general);
  EXPECT_EQ(gather(nearly, 3, 3), (EntryMap{{{1, 0}, 1.0}}));
  expect_refused("order", [] { CoordinateRows::from_coordinates(-1, {}, {}, Values{}); });
  expect_refused("values", [] { CoordinateRows::from_coordinates(3, Indices{1}, Indices{1}, Values{}); });
  expect_refused("values", [] {
    CoordinateRows::from_coordinates(3, Indices{1}, Indices{1, 2}, Values{1, 2});
  });
  for (const Indices& begins :
       {Indices{}, Indices{0, 1}, Indices{0, 2, 1, 1}, Indices{1, 1, 1, 1}, Indices{0, 0, 0, 2}})
    expect_refused("row_begins",
                   [&] { CoordinateRows::from_compressed_rows(3, begins, Indices{0}, Values{1}); });
}

EntryMap read(const std::string& text) {
  const TextFile file("rows.mtx", text);
  const SparseGenerator made = make_sparse_generator("matrix-market:" + file.path());
  return gather(*made.a, std::max<Index>(made.a->order(), 1), std::max<Index>(made.a->order(), 1));
}

TEST(CoordinateRows, MatrixMarketFiles) {
  const EntryMap expected{{{0, 0}, 2}, {{1, 0}, -1.5}, {{2, 1}, 4}};
  const std::string head = "%%MatrixMarket matrix ";
  EXPECT_EQ(read(head + "coordinate real symmetric\n3 3 3\n1 1 2\n2 1 -1.5\n3 2 4\n"), expected);
  EXPECT_EQ(read(head + "coordinate real symmetric\n3 3 3\n1 2 -1.5\n1 1 2\n3 2 4\n"), expected);
  EXPECT_EQ(read(head + "coordinate real general\n3 3 5\n1 1 2\n2 1 -1.5\n1 2 -1.5\n2 3 4\n3 2 4\n"),
            expected);
  EXPECT_EQ(read(head + "array real general\n3 3\n2\n-1.5\n0\n-1.5\n0\n4\n0\n4\n0\n"), expected);
  EXPECT_EQ(read(head + "array real symmetric\n3 3\n2\n-1.5\n0\n0\n4\n0\n"), expected);
  EXPECT_EQ(read(head + "coordinate pattern symmetric\n2 2 1\n2 1\n"), (EntryMap{{{1, 0}, 1.0}}));
  EXPECT_EQ(read(head + "coordinate real symmetric\n2 2 1\n2 1 0\n").size(), 1U);
}

TEST(CoordinateRows, BadFilesAreRefused) {
  const std::string head = "%%MatrixMarket matrix ";
  EXPECT_THROW(make_sparse_generator("matrix-market:/nowhere/a.mtx"), InputError);
  expect_refused("kind", [] { make_sparse_generator("matrix-market"); });
  expect_refused("kind", [] { make_sparse_generator("matrix-market:"); });
  for (const char* text :
       {"nothing", "coordinate real symmetric\n3 3 2\n1 1 2\n", "coordinate real symmetric\n3 2 0\n",
        "coordinate real general\n2 2 1\n2 1 1\n", "coordinate real general\n2 2 2\n2 1 1\n1 2 2\n",
        "coordinate complex hermitian\n2 2 1\n1 1 1 1\n", "coordinate real skew-symmetric\n2 2 1\n2 1 1\n",
        "coordinate real symmetric\n2 2 1\n3 1 1\n", "coordinate real symmetric\n2 2 1\n2 1 nan\n",
        "coordinate real symmetric\n2 2 2\n2 1 1\n2 1 1\n",
        "coordinate real symmetric\n2 2 2\n2 1 1\n1 2 1\n", "array real general\n2 2\n1\n2\n3\n4\n"})
    EXPECT_THROW(read(head + text), InputError) << text;
}

}  // namespace
