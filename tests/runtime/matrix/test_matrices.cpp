// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/column_slabs.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/matrix/band_matrix.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera::test {
using namespace detail;
namespace {

TEST(LocalExtent, CountsTheEntriesThatAProcessOwns) {
  for (const Index n : {0, 1, 5, 12, 37})
    for (const Index block : {1, 3, 8, 50})
      for (const int count : {1, 2, 3, 6}) {
        Index total = 0;
        for (int index = 0; index < count; ++index) {
          Index owned = 0;
          for (Index i = 0; i < n; ++i) owned += (i / block) % count == index;
          EXPECT_EQ(local_extent(n, block, index, count), owned);
          for (int first = 0; first < count; ++first)
            EXPECT_EQ(local_extent(n, block, (index + first) % count, count, first), owned);
          total += local_extent(n, block, index, count);
        }
        EXPECT_EQ(total, n);
      }
}

TEST(ProcessGrid, RanksOfTilesInBothOrders) {
  const ProcessGrid rows{2, 3, false}, columns{2, 3, true};
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 7; ++j) {
      EXPECT_EQ(rows.rank(i, j), i % 2 * 3 + j % 3);
      EXPECT_EQ(columns.rank(i, j), i % 2 + j % 3 * 2);
    }
  for (const auto& [ranks, p, q] :
       {std::array{1, 1, 1}, {2, 1, 2}, {3, 1, 3}, {4, 2, 2}, {6, 2, 3}, {7, 1, 7}, {12, 3, 4}}) {
    EXPECT_EQ(ProcessGrid::squarest(ranks).rows, p);
    EXPECT_EQ(ProcessGrid::squarest(ranks).cols, q);
  }
}

/// A part has the tiles of the whole, on the same ranks, and shorter ones where it begins.
TEST(TileLayout, PartsKeepTheirTiles) {
  const TileLayout whole{.rows = 40,
                         .cols = 31,
                         .tile_rows = 6,
                         .tile_cols = 4,
                         .grid = {2, 3, true},
                         .first_row = 1,
                         .first_col = 2};
  for (const auto& [row, col] : {std::pair<Index, Index>{0, 0}, {6, 8}, {7, 3}, {23, 30}}) {
    const TileLayout part = whole.part(row, col, 40 - row, 31 - col), again = part.part(9, 0, 1, 1);
    Index rows = 0;
    for (Index i = 0; i < part.row_tiles(); ++i) {
      EXPECT_EQ(part.row_begin(i), rows);
      rows = part.row_end(i);
      const Index of_whole = (row + part.row_begin(i)) / 6;
      EXPECT_EQ((row + rows - 1) / 6, of_whole);
      for (Index j = 0; j < part.col_tiles(); ++j)
        EXPECT_EQ(part.owner(i, j), whole.owner(of_whole, (col + part.col_begin(j)) / 4));
    }
    EXPECT_EQ(rows, 40 - row);
    if (row + 9 < 40) {
      EXPECT_EQ(again.owner(0, 0), whole.owner((row + 9) / 6, col / 4));
    }
  }
}

TEST(TileLayout, TilesOfATriangleHaveEntriesOfIt) {
  for (const Uplo uplo : {Uplo::lower, Uplo::upper})
    for (const auto& [offset_rows, offset_cols] : {std::pair<Index, Index>{0, 0}, {2, 3}}) {
      const TileLayout layout{.rows = 23,
                              .cols = 23,
                              .tile_rows = 5,
                              .tile_cols = 4,
                              .uplo = uplo,
                              .row_offset = offset_rows,
                              .col_offset = offset_cols};
      for (Index j = 0; j < layout.col_tiles(); ++j)
        for (Index i = 0; i < layout.row_tiles(); ++i) {
          bool any = false;
          for (Index c = layout.col_begin(j); c < layout.col_end(j); ++c)
            for (Index r = layout.row_begin(i); r < layout.row_end(i); ++r)
              any = any || (uplo == Uplo::lower ? r >= c : r <= c);
          EXPECT_EQ(layout.exists(i, j), any);
        }
    }
}

template <class T>
class Matrices : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Matrices, Scalars);

TYPED_TEST(Matrices, WrappedTilesAreTheCallersMemory) {
  using T = TypeParam;
  for (const Uplo uplo : {Uplo::general, Uplo::lower, Uplo::upper}) {
    auto a = random_matrix<T>(11, 11, 1, 2);
    const auto before = a;
    {
      auto tiles = TiledMatrix<T>::wrap(this->runtime(), a.data(), a.ld(),
                                        {11, 11, 4, 5, {}, uplo == Uplo::general ? uplo : Uplo::general});
      EXPECT_EQ(tiles.row_tiles(), 3);
      EXPECT_EQ(tiles.col_tiles(), 3);
      EXPECT_EQ(tiles.tile_rows(2), 3);
      EXPECT_EQ(tiles.tile_cols(2), 1);
      for (Index j = 0; j < 3; ++j)
        for (Index i = 0; i < 3; ++i)
          EXPECT_EQ(difference(download<T>(tiles.tile(i, j)),
                               before.block(i * 4, j * 5, tiles.tile_rows(i), tiles.tile_cols(j))),
                    0);
      ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(SetZero<T>{.a = tiles.tile(1, 1)}); }));
    }
    auto expected = before;
    expected.set_block(4, 5, Matrix<T>(4, 5));
    EXPECT_TRUE(identical(a, expected)) << "padding included";
    // Triangular layouts store no tiles in the other triangle.
    const auto square = TiledMatrix<T>::wrap(this->runtime(), a.data(), a.ld(), {11, 11, 4, 4, {}, uplo});
    for (Index j = 0; j < 3; ++j)
      for (Index i = 0; i < 3; ++i)
        EXPECT_EQ(square.tile(i, j).valid(),
                  uplo == Uplo::general || (uplo == Uplo::lower ? i >= j : i <= j));
  }
}

TYPED_TEST(Matrices, OwnedTilesAreAllocatedWhenWritten) {
  using T = TypeParam;
  TiledMatrix<T> tiles(this->runtime(), {7, 9, 4, 4, {}, Uplo::general});
  ASSERT_TRUE(this->run([&](Sequence& s) {
    for (Index j = 0; j < tiles.col_tiles(); ++j)
      for (Index i = 0; i < tiles.row_tiles(); ++i) s.insert(SetZero<T>{.a = tiles.tile(i, j)});
  }));
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = 0; i < tiles.row_tiles(); ++i)
      EXPECT_EQ(difference(download<T>(tiles.tile(i, j)), Matrix<T>(tiles.tile_rows(i), tiles.tile_cols(j))),
                0);
  tiles.release_tile(0, 0);
  EXPECT_FALSE(tiles.tile(0, 0).valid());
  TiledMatrix<T> empty(this->runtime(), {0, 0, 4, 4, {}, Uplo::lower});
  EXPECT_EQ(empty.row_tiles(), 0);
}

TYPED_TEST(Matrices, BlockCyclicOnOneProcessIsTheLapackLayout) {
  using T = TypeParam;
  auto a = random_matrix<T>(10, 7, 1, 1);
  const auto tiles =
      TiledMatrix<T>::wrap_block_cyclic(this->runtime(), a.data(), a.ld(), {10, 7, 3, 2, {}, Uplo::general});
  for (Index j = 0; j < tiles.col_tiles(); ++j)
    for (Index i = 0; i < tiles.row_tiles(); ++i)
      EXPECT_EQ(difference(download<T>(tiles.tile(i, j)),
                           a.block(3 * i, 2 * j, tiles.tile_rows(i), tiles.tile_cols(j))),
                0);
}

TYPED_TEST(Matrices, SlabsCoverTheColumns) {
  using T = TypeParam;
  auto z = random_matrix<T>(5, 8, 1, 2);
  for (const Index width : {1, 3, 8, 20}) {
    const auto slabs = ColumnSlabs<T>::wrap(this->runtime(), z.data(), z.ld(), 5, 8, width);
    EXPECT_EQ(slabs.count(), ceil_div(8, width));
    Index next = 0;
    for (Index j = 0; j < slabs.count(); ++j) {
      EXPECT_EQ(slabs.first_col(j), next);
      EXPECT_EQ(difference(download<T>(slabs.slab(j)), z.block(0, next, 5, slabs.slab_cols(j))), 0);
      next += slabs.slab_cols(j);
    }
    EXPECT_EQ(next, 8);
  }
  EXPECT_EQ(ColumnSlabs<T>(this->runtime(), 5, 0, 3).count(), 0);
  EXPECT_EQ(ColumnSlabs<T>(this->runtime(), 0, 5, 3).count(), 0);
}

TYPED_TEST(Matrices, BandSegmentsHaveRoomForTheBulge) {
  using T = TypeParam;
  for (const Index n : {1, 5, 8, 17})
    for (const Index b : {1, 2, 4}) {
      const BandMatrix<T> band(this->runtime(), n, b);
      EXPECT_EQ(band.segment_count(), ceil_div(n, 2 * b));
      Index columns = 0;
      for (Index s = 0; s < band.segment_count(); ++s) {
        EXPECT_EQ(band.segment_of(columns), s);
        EXPECT_EQ(band.first_col(s), columns);
        HostAccess access(band.segment(s), HostAccess::Mode::write);
        EXPECT_EQ(access.template matrix<T>().rows, 2 * b);
        EXPECT_EQ(access.template matrix<T>().cols, band.segment_cols(s));
        columns += band.segment_cols(s);
      }
      EXPECT_EQ(columns, n);
    }
}

TYPED_TEST(Matrices, HostAccessSeesFinishedTasksAndHoldsBackLaterOnes) {
  using T = TypeParam;
  const auto a = random_matrix<T>(6, 4, 1);
  const Data data = upload(this->runtime(), a);
  Sequence sequence(this->runtime());
  sequence.insert(SetZero<T>{.a = data});
  {
    HostAccess access(data, HostAccess::Mode::read_write);
    const auto view = access.template matrix<T>();
    for (Index j = 0; j < 4; ++j)
      for (Index i = 0; i < 6; ++i) {
        EXPECT_EQ(view(i, j), T(0));
        view(i, j) = T(1);
      }
    sequence.insert(SetZero<T>{.a = data});
    for (Index j = 0; j < 4; ++j)
      for (Index i = 0; i < 6; ++i) EXPECT_EQ(view(i, j), T(1));
  }
  sequence.wait();
  EXPECT_EQ(difference(download<T>(data), Matrix<T>(6, 4)), 0);
}

/// Prefetched copies must not change results, and must follow the tasks inserted before them.
TYPED_TEST(Matrices, CopiesInTheBackground) {
  using T = TypeParam;
  const Data data = upload(this->runtime(), random_matrix<T>(6, 4, 1));
  Sequence sequence(this->runtime());
  data.prefetch(0, false);
  sequence.insert(SetZero<T>{.a = data});
  data.fetch_to_host();
  EXPECT_EQ(difference(download<T>(data), Matrix<T>(6, 4)), 0);
  data.prefetch(0, false);
  sequence.wait();
  EXPECT_EQ(difference(download<T>(data), Matrix<T>(6, 4)), 0);
}

/// The message must contain all three parts and be a single line.
template <class Call>
void expect_invalid(const Call& call, const char* name, const char* value, const char* expected) {
  try {
    call();
    ADD_FAILURE() << name << " was accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.name(), name);
    EXPECT_EQ(error.value(), value);
    EXPECT_NE(error.expected().find(expected), std::string::npos) << error.expected();
    const std::string text = error.what();
    EXPECT_EQ(text, std::string(name) + " = " + value + ": expected " + error.expected());
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
}

using InvalidMatrices = RuntimeTest<int>;
TEST_F(InvalidMatrices, AreRefusedWithNameValueAndExpectation) {
  double a[64];
  Runtime& r = runtime();
  using Tiles = TiledMatrix<double>;
  expect_invalid([&] { Tiles(r, {-1, 4, 2, 2, {}, Uplo::general}); }, "layout", "-1 x 4", "at least 0");
  expect_invalid([&] { Tiles(r, {4, 4, 0, 2, {}, Uplo::general}); }, "tile", "0 x 2", "at least 1 x 1");
  expect_invalid(
      [&] {
        Tiles(r, {4, 4, 2, 2, {2, 2, false}, Uplo::general});
      },
      "grid", "2 x 2", "at most 1 rank");
  expect_invalid(
      [&] {
        Tiles(r, {4, 4, 2, 2, {0, 1, false}, Uplo::general});
      },
      "grid", "0 x 1", "at most 1 rank");
  expect_invalid([&] { Tiles::wrap(r, a, 3, {4, 4, 2, 2, {}, Uplo::general}); }, "ld", "3", "at least 4");
  expect_invalid(
      [&] {
        Tiles::wrap(r, a, 4, {4, 4, 2, 2, {1, 2, false}, Uplo::general});
      },
      "grid", "1 x 2", "1 x 1");
  expect_invalid([&] { Tiles(r, {.rows = 4, .cols = 4, .first_row = 1}); }, "first", "(1, 0)", "1 x 1");
  expect_invalid([&] { Tiles(r, {.rows = 4, .cols = 4, .tile_rows = 2, .row_offset = 2}); }, "offset",
                 "(2, 0)", "less than a tile");
  // Tiles of one triangle are square but in arrays of the caller.
  const TileLayout triangle{.rows = 4, .cols = 4, .tile_rows = 2, .tile_cols = 3, .uplo = Uplo::lower};
  expect_invalid([&] { Tiles(r, triangle); }, "tile", "2 x 3", "square");
  Tiles::wrap_block_cyclic(r, a, 4, triangle);
  expect_invalid([&] { ColumnSlabs<double>(r, 4, 4, 0); }, "width", "0", "at least 1");
  expect_invalid([&] { ColumnSlabs<double>::wrap(r, a, 3, 4, 4, 2); }, "ldz", "3", "at least 4");
}

}  // namespace
}  // namespace tessera::test
