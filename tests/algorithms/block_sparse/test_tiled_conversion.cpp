// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include "tiled_checks.hpp"

namespace tessera::test {
namespace {

template <class T>
using TiledConversion = RuntimeTest<T>;
TYPED_TEST_SUITE(TiledConversion, Scalars);

TYPED_TEST(TiledConversion, EverySymmetryAndTriangle) {
  for (const Symmetry symmetry : all_symmetries)
    for (std::uint64_t seed = 1; seed < 3; ++seed)
      check_square_tiles<TypeParam>(this->runtime(), symmetry, seed);
}

TYPED_TEST(TiledConversion, RectangularAndEmpty) {
  check_rectangular_tiles<TypeParam>(this->runtime(), square, wide, 1);
  check_rectangular_tiles<TypeParam>(this->runtime(), wide, square, 2);
  check_rectangular_tiles<TypeParam>(this->runtime(), {}, wide, 3);
  check_rectangular_tiles<TypeParam>(this->runtime(), {0, 0}, {0, 4}, 3);
  check_rectangular_tiles<TypeParam>(this->runtime(), {}, {}, 3);
}

TYPED_TEST(TiledConversion, MemoryOfTheCaller) {
  using T = TypeParam;
  const BlockLayout layout = random_layout(this->runtime(), square, wide, Symmetry::none, 2);
  const auto a = drawn_matrix<T>(this->runtime(), layout, 0.5, 2);
  const Matrix<T> dense = contents_of(a).elements;
  Matrix<T> given(a.rows(), a.cols(), 3);
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) given(i, j) = T(7);
  TileLayout tiles{a.rows(), a.cols(), 6, 5};
  TiledMatrix<T> tiled = TiledMatrix<T>::wrap(this->runtime(), given.data(), given.ld(), tiles);
  Sequence sequence(this->runtime());
  copy_to_tiled(sequence, a, tiled);
  const auto back = from_tiled(sequence, tiled, a.pattern_pointer());
  ASSERT_TRUE(sequence.wait().ok());
  tiled.release();
  EXPECT_EQ(difference(given, dense), 0);
  EXPECT_EQ(difference(contents_of(back).elements, dense), 0);
}

TYPED_TEST(TiledConversion, NanIsAboveEveryThreshold) {
  using T = TypeParam;
  const BlockLayout layout = make_block_layout(this->runtime(), {3, 4}, {3, 4});
  Matrix<T> dense(7, 7);
  dense(5, 1) = not_a_number<T>();
  dense(6, 2) = T(1);
  const auto tiled = tiled_of(this->runtime(), dense, TileLayout{7, 7, 7, 7});
  Sequence sequence(this->runtime());
  const auto a = from_tiled(sequence, tiled, layout, 100);
  ASSERT_TRUE(sequence.wait().ok());
  EXPECT_EQ(a.pattern().blocks(), 1);
  EXPECT_TRUE(a.pattern().find(1, 0));
}

TYPED_TEST(TiledConversion, RefusesWhatDoesNotFit) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  Sequence sequence(runtime);
  const auto matrix = [&](Symmetry symmetry) {
    return zero_matrix<T>(
        sequence, BlockPattern::make(runtime, make_block_layout(runtime, {2, 3}, {2, 3}, symmetry), {}));
  };
  const auto a = matrix(Symmetry::none), odd = matrix(Symmetry::antisymmetric);
  const TileLayout good{5, 5, 2, 2}, lower{5, 5, 2, 2, {}, Uplo::lower};
  expect_refused("tiles", [&] { to_tiled(sequence, a, TileLayout{5, 4, 2, 2}); });
  expect_refused("tile", [&] { to_tiled(sequence, a, TileLayout{5, 5, 0, 2}); });
  expect_refused("tiles", [&] { to_tiled(sequence, a, TileLayout{5, 5, 2, 2}.part(1, 0, 5, 5)); });
  expect_refused("a", [&] { to_tiled(sequence, odd, lower); });
  expect_refused("a", [&] { to_tiled(sequence, BlockSparseMatrix<T>(), good); });
  expect_refused(
      "tiles", [&] { copy_to_tiled(sequence, BlockSparseMatrix<T>(a.pattern_pointer()), TiledMatrix<T>()); });
  expect_refused("tile", [&] { tile_layout_for(a, 0); });
  const auto tiled = to_tiled(sequence, a, good), half = to_tiled(sequence, a, lower);
  expect_refused("tiled", [&] { from_tiled(sequence, half, odd.pattern_pointer()); });
  expect_refused("tiled", [&] { from_tiled(sequence, half, odd.layout()); });
  expect_refused("tiled", [&] { from_tiled(sequence, tiled, make_block_layout(runtime, {5}, {4})); });
  expect_refused("pattern", [&] { from_tiled(sequence, tiled, BlockPatternPointer()); });
  if (is_complex<T>) expect_refused("a", [&] { to_tiled(sequence, matrix(Symmetry::symmetric), lower); });
  EXPECT_EQ(tile_layout_for(a, 2).uplo, Uplo::general);
  EXPECT_EQ(tile_layout_for(matrix(Symmetry::hermitian), 2).uplo, Uplo::lower);
  EXPECT_EQ(tile_layout_for(matrix(Symmetry::symmetric), 2).uplo,
            is_complex<T> ? Uplo::general : Uplo::lower);
  EXPECT_TRUE(sequence.wait().ok());
}

}  // namespace
}  // namespace tessera::test
