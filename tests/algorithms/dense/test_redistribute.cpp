// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/algorithms/dense/redistribute.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class Redistribute : public RuntimeTest<T> {
 public:
  /// Assembles the lower tiles into one matrix.
  static Matrix<T> gather(const TiledMatrix<T>& tiles) {
    Matrix<T> a(tiles.rows(), tiles.cols());
    const Index tile = tiles.layout().tile_rows;
    for (Index j = 0; j < tiles.col_tiles(); ++j)
      for (Index i = j; i < tiles.row_tiles(); ++i)
        a.set_block(i * tile, j * tile, download<T>(tiles.tile(i, j)));
    return a;
  }
};
TYPED_TEST_SUITE(Redistribute, Scalars);

TYPED_TEST(Redistribute, AnyTilesAndTriangleIntoLowerTiles) {
  using T = TypeParam;
  for (const Index n : {1, 2, 9, 31})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general})
      for (const Index from : {1, 4, 7, 40})
        for (const Index to : {3, 7, 16}) {
          if (n > 9 && from == 1) continue;
          SCOPED_TRACE(::testing::Message()
                       << "n " << n << " uplo " << char(uplo) << " tiles " << from << " to " << to);
          const auto a = random_hermitian<T>(n, 1);
          // With a general layout the lower triangle is read. Imaginary parts of the diagonal are
          // ignored.
          auto source = poison_other_triangle(a, uplo == Uplo::upper ? Uplo::upper : Uplo::lower);
          if constexpr (is_complex<T>)
            for (Index i = 0; i < n; ++i) source(i, i) += T(0, 5);
          auto tiles = TiledMatrix<T>::wrap(this->runtime(), source.data(), source.ld(),
                                            {n, n, from, uplo == Uplo::general ? from + 1 : from, {}, uplo});
          const TiledMatrix<T> copy(this->runtime(), {n, n, to, to, {}, Uplo::lower});
          ASSERT_TRUE(this->run([&](Sequence& s) { copy_hermitian<T>(s, tiles, unit_scale<T>(s), copy); }));
          EXPECT_EQ(difference(this->gather(copy), a, Uplo::lower), 0);
        }
}

TYPED_TEST(Redistribute, ScaleIsExactAndComesFromTheTriangleThatCounts) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 19;
  for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general}) {
    auto a = random_hermitian<T>(n, 1);
    a(12, 5) = T(R(-3000));
    a(5, 12) = T(R(-3000));
    auto source = poison_other_triangle(a, uplo == Uplo::upper ? Uplo::upper : Uplo::lower);
    auto tiles = TiledMatrix<T>::wrap(this->runtime(), source.data(), source.ld(), {n, n, 5, 5, {}, uplo});
    const TiledMatrix<T> copy(this->runtime(), {n, n, 8, 8, {}, Uplo::lower});
    Data scale, power_of_four;
    ASSERT_TRUE(this->run([&](Sequence& s) {
      scale = check_and_scale<T>(s, tiles);
      power_of_four = check_and_scale<T>(s, tiles, true);
      copy_hermitian<T>(s, tiles, scale, copy);
    }));
    EXPECT_EQ(download_values<R>(scale)[0], R(1) / R(4096));
    EXPECT_EQ(download_values<R>(power_of_four)[0], R(1) / R(4096));  // 12 is even
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) a(i, j) *= R(1) / R(4096);
    EXPECT_EQ(difference(this->gather(copy), a, Uplo::lower), 0);
  }
}

TYPED_TEST(Redistribute, NotFiniteEntriesAreFoundInTheTriangleThatCounts) {
  using T = TypeParam;
  const Index n = 19;
  for (const bool power_of_four : {true, false})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper, Uplo::general}) {
      auto a = random_hermitian<T>(n, 1);
      a(14, 3) = not_a_number<T>();
      auto tiles = TiledMatrix<T>::wrap(this->runtime(), a.data(), a.ld(), {n, n, 5, 5, {}, uplo});
      const Status status = this->run([&](Sequence& s) { check_and_scale<T>(s, tiles, power_of_four); });
      if (uplo == Uplo::upper) {
        EXPECT_TRUE(status.ok());
      } else {
        EXPECT_EQ(status.code, StatusCode::not_finite);
        EXPECT_EQ(status.index, 4);
      }
    }
}

}  // namespace
}  // namespace tessera::test
