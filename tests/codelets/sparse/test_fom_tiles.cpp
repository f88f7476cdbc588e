// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>

#include <tests/codelets/sparse/diagonal_tiles.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/codelets/sparse/fom_tiles.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Row-major vectors with `width` elements per row.
template <class T>
std::vector<T> random_rows(Index rows, Index width, std::uint64_t seed) {
  std::vector<T> v(static_cast<std::size_t>(rows * width));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = random_scalar<T>(seed, Index(i), 0);
  return v;
}

template <class Pair>
class FomTiles : public RuntimeTest<typename Pair::T, true> {
 public:
  using V = typename Pair::V;
  using T = typename Pair::T;

  /// Result of the kernel. Rows are padded by two elements, which must not change.
  static std::vector<T> fom(const Tiles& tiles, int columns, int steps, FomShift shift,
                            const std::vector<T>& r, Index cut = 16, std::size_t most = 50) {
    const TilesPiece<V> piece(tiles, cut, most);
    const Index ldw = columns + 2;
    std::vector<T> w(std::size_t(tiles.rows() * ldw), T(7)), result;
    Index largest = 0;
    for (const auto& k : tiles.dense) largest = std::max(largest, k.rows());
    std::vector<T> basis(std::size_t(steps * largest * columns), not_a_number<T>());
    kernels::fom_tiles<V, T>(piece.view(), std::int64_t(tiles.dense.size()), tiles.begins.data(), columns,
                             steps, shift, r.data(), columns, w.data(), ldw, basis.data());
    for (Index i = 0; i < tiles.rows(); ++i) {
      const T* const row = w.data() + i * ldw;
      EXPECT_TRUE(row[columns] == T(7) && row[columns + 1] == T(7)) << "row " << i;
      result.insert(result.end(), row, row + columns);
    }
    return result;
  }

  /// Column c of tile t.
  static std::vector<double> part(const Tiles& tiles, std::size_t t, const std::vector<T>& rows, int columns,
                                  int c) {
    std::vector<double> x;
    for (Index i = tiles.begins[t]; i < Index(tiles.begins[t + 1]); ++i)
      x.push_back(double(rows[std::size_t(i * columns + c)]));
    return x;
  }

  /// Largest difference from reference(K, r), relative to the largest element of the reference.
  template <class Reference>
  static double error(const Tiles& tiles, int columns, const std::vector<T>& r, const std::vector<T>& w,
                      const Reference& reference) {
    double worst = 0;
    for (std::size_t t = 0; t < tiles.dense.size(); ++t)
      for (int c = 0; c < columns; ++c) {
        const std::vector<double> expected = reference(tiles.dense[t], part(tiles, t, r, columns, c)),
                                  found = part(tiles, t, w, columns, c);
        double size = 0, difference = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          size = std::max(size, std::abs(expected[i]));
          difference = std::max(difference, std::abs(expected[i] - found[i]));
          if (std::isnan(found[i])) return found[i];
        }
        worst = std::max(worst, size > 0 ? difference / size : difference);
      }
    return worst;
  }
};
TYPED_TEST_SUITE(FomTiles, TypePairs);

const std::vector<Index> sizes{1, 1, 2, 7, 1, 30, 64, 3, 101};

TYPED_TEST(FomTiles, AgreesWithPlainFom) {
  using T = typename TestFixture::T;
  const double gate = 200 * precision<T>;
  for (const int columns : {1, 2, 3, 4, 5, 8, 12, 13, 32})
    for (const int steps : {1, 2, 4, 5}) {
      const Tiles tiles = random_tiles(sizes, 0.4, 3, 10 + std::uint64_t(columns));
      const auto r = random_rows<T>(tiles.rows(), columns, 5);
      const auto w = this->fom(tiles, columns, steps, -1.5, r);
      EXPECT_LT(this->error(tiles, columns, r, w,
                            [&](const auto& k, const auto& x) { return plain_fom(k, -1.5, x, steps); }),
                gate)
          << columns << " columns, " << steps << " steps";
    }
}

TYPED_TEST(FomTiles, IsExactWithAsManyStepsAsRows) {
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles({1, 2, 3, 5, 8, 10, 1}, 1, 2, 3);
  const auto r = random_rows<T>(tiles.rows(), 5, 6);
  // The shifted matrix is positive definite, negative definite, and indefinite.
  for (const double shift : {-2.0, 7.0, 2.03}) {
    const auto w = this->fom(tiles, 5, 10, shift, r);
    EXPECT_LT(
        this->error(tiles, 5, r, w, [&](const auto& k, const auto& x) { return solve_shifted(k, shift, x); }),
        (shift == 2.03 ? 1e5 : 1e3) * precision<T>)
        << "shift " << shift;
  }
}

/// In each tile and column r^T w has the wanted sign also where the shift lies inside or on the other side of the
/// spectrum; where it does not, nothing changes.
TYPED_TEST(FomTiles, IsDefiniteWhereItMustBe) {
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles({1, 2, 3, 5, 8, 30, 1}, 1, 2, 3);
  const int columns = 5;
  const auto r = random_rows<T>(tiles.rows(), columns, 6);
  for (const int sign : {1, -1})
    for (const int steps : {1, 2, 3, 7})
      for (const double shift : {-20.0, -2.0, 2.03, 7.0, 20.0}) {
        const auto w = this->fom(tiles, columns, steps, FomShift(shift, sign), r);
        for (std::size_t t = 0; t < tiles.dense.size(); ++t)
          for (int c = 0; c < columns; ++c) {
            const auto x = this->part(tiles, t, r, columns, c), y = this->part(tiles, t, w, columns, c);
            EXPECT_GT(sign * std::inner_product(x.begin(), x.end(), y.begin(), 0.0), 0)
                << "tile " << t << " sign " << sign << " steps " << steps << " shift " << shift;
          }
        if (std::abs(shift) == 20 && sign * shift < 0)
          EXPECT_EQ(w, this->fom(tiles, columns, steps, shift, r));
      }
}

TYPED_TEST(FomTiles, EndsWhereTheKrylovSpaceDoes) {
  using T = typename TestFixture::T;
  // A multiple of the identity, a tile with two eigenvalues, and a residual that is an eigenvector.
  Tiles tiles = random_tiles({6, 40, 9}, 0, 0, 1);
  for (Index i = 0; i < 6; ++i) tiles.dense[0](i, i) = 2;
  for (Index i = 0; i < 40; ++i) tiles.dense[1](i, i) = i < 13 ? 1 : 5;
  for (Index i = 0; i < 9; ++i) tiles.dense[2](i, i) = double(i + 1);
  auto r = random_rows<T>(tiles.rows(), 3, 6);
  for (Index i = 46; i < 55; ++i)
    for (Index c = 0; c < 3; ++c) r[std::size_t(i * 3 + c)] = T(i == 50 + c);
  for (const int steps : {2, 3, 4, 8, fom_max_steps}) {
    const auto w = this->fom(tiles, 3, steps, 0.5, r);
    EXPECT_LT(
        this->error(tiles, 3, r, w, [&](const auto& k, const auto& x) { return solve_shifted(k, 0.5, x); }),
        200 * precision<T>)
        << steps << " steps";
  }
}

TYPED_TEST(FomTiles, ZeroAndNotFiniteColumnsStayApart) {
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles({5, 20, 1, 33}, 0.5, 3, 2);
  auto r = random_rows<T>(tiles.rows(), 9, 6);
  const auto clean = this->fom(tiles, 9, 4, -1, r);
  for (Index i = 5; i < 25; ++i) r[std::size_t(i * 9 + 2)] = T(0);  // column 2 of tile 1
  r[std::size_t(7 * 9 + 4)] = not_a_number<T>();                    // column 4 of tile 1
  const auto w = this->fom(tiles, 9, 4, -1, r);
  for (Index i = 0; i < tiles.rows(); ++i)
    for (Index c = 0; c < 9; ++c) {
      const T found = w[std::size_t(i * 9 + c)];
      const bool tile1 = i >= 5 && i < 25;
      if (tile1 && c == 2) {
        EXPECT_EQ(found, T(0));
      } else if (tile1 && c == 4) {
        EXPECT_TRUE(std::isnan(found)) << i;
      } else {
        EXPECT_EQ(found, clean[std::size_t(i * 9 + c)]) << "row " << i << " column " << c;
      }
    }
}

TYPED_TEST(FomTiles, ASingularShiftGivesFiniteNumbers) {
  using T = typename TestFixture::T;
  Tiles tiles = random_tiles({1, 4}, 1, 1, 2);
  tiles.dense[0](0, 0) = 1.25;  // equal to the shift
  const auto r = random_rows<T>(tiles.rows(), 2, 6);
  for (const T x : this->fom(tiles, 2, 4, 1.25, r)) EXPECT_TRUE(std::isfinite(x));
}

TYPED_TEST(FomTiles, CellsDoNotMatter) {
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles(sizes, 0.6, 3, 21);
  const auto r = random_rows<T>(tiles.rows(), 6, 5);
  const auto whole = this->fom(tiles, 6, 4, -1, r, 1000, 16384),
             again = this->fom(tiles, 6, 4, -1, r, 1000, 16384), cut = this->fom(tiles, 6, 4, -1, r, 5, 3);
  EXPECT_EQ(whole, again);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(double(whole[i]), double(cut[i]), 100 * precision<T>) << i;
}

TYPED_TEST(FomTiles, AsATask) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles(sizes, 0.4, 3, 4);
  const int columns = 5, width = 8, steps = 4;
  const Index rows = tiles.rows(), count = Index(sizes.size());
  auto r = random_rows<T>(rows, width, 5);
  std::vector<T> w(r.size(), not_a_number<T>());
  const TilesPiece<V> piece(tiles, 16, 50);
  std::vector<char> bytes = piece.bytes();
  std::vector<std::uint32_t> begins = tiles.begins;
  Runtime& runtime = this->runtime();
  for (const bool stored : {true, false}) {
    const CsbPieceShape shape =
        stored ? CsbPieceShape{std::int64_t(piece.cells.size()), std::int64_t(piece.values.size()), true}
               : CsbPieceShape{};
    {
      const Data piece_data = Data::wrap_bytes(runtime, bytes.data(), bytes.size());
      Data begin_data = Data::wrap_bytes(runtime, begins.data(), begins.size() * sizeof begins[0]);
      Data r_data = Data::wrap_matrix(runtime, r.data(), width, rows, width, sizeof(T));
      Data w_data = Data::wrap_matrix(runtime, w.data(), width, rows, width, sizeof(T));
      const std::vector<Index> tile_begins(begins.begin(), begins.end());
      const auto scratch_bytes = fom_scratch_on_cpu(tile_begins, columns, steps, sizeof(T));
      EXPECT_EQ(scratch_bytes,
                steps * columns * *std::max_element(sizes.begin(), sizes.end()) * Index(sizeof(T)));
      const Data scratch = Data::scratch(runtime, std::size_t(scratch_bytes));
      const Status status = this->run([&](Sequence& sequence) {
        insert_fom_tiles(sequence, detail::FomTiles<V, T>{.piece = stored ? &piece_data : nullptr,
                                                          .begins = begin_data,
                                                          .r = r_data,
                                                          .w = w_data,
                                                          .scratch = scratch,
                                                          .shape = shape,
                                                          .rows = rows,
                                                          .tiles = count,
                                                          .columns = columns,
                                                          .steps = steps,
                                                          .shift = -1});
      });
      EXPECT_TRUE(status) << status.message();
    }
    std::vector<T> r_part, w_part;
    for (Index i = 0; i < rows; ++i) {
      const auto at = [&](std::vector<T>& v) { return v.begin() + i * width; };
      r_part.insert(r_part.end(), at(r), at(r) + columns);
      w_part.insert(w_part.end(), at(w), at(w) + columns);
      for (int c = columns; c < width; ++c) EXPECT_EQ(w[std::size_t(i * width + c)], T(0));
    }
    if (stored)
      EXPECT_EQ(w_part, this->fom(tiles, columns, steps, -1, r_part));
    else
      for (std::size_t i = 0; i < w_part.size(); ++i) EXPECT_NEAR(w_part[i], r_part[i], 10 * precision<T>);
  }
}

}  // namespace
}  // namespace tessera::test
