// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/generated.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

constexpr std::array<Symmetry, 4> symmetries{Symmetry::none, Symmetry::symmetric, Symmetry::antisymmetric,
                                             Symmetry::hermitian};

std::vector<Index> sizes_of(std::vector<Index> pattern, Index elements) {
  return repeated_block_sizes(pattern, elements);
}

/// Element (i, j) that the symmetry implies for element (j, i) = x.
template <class T>
T mirror(Symmetry symmetry, T x) {
  return symmetry == Symmetry::antisymmetric ? -x : symmetry == Symmetry::hermitian ? conjugate(x) : x;
}

/// Fraction of blocks of the whole matrix that are stored or implied by symmetry.
template <class T>
double block_occupation(const BlockSparseMatrix<T>& a) {
  const Index stored = a.pattern().blocks(), n = a.block_rows();
  const Index whole = a.symmetry() == Symmetry::none ? stored : 2 * stored - n;
  return static_cast<double>(whole) / static_cast<double>(n * n);
}

template <class T>
class Generate : public RuntimeTest<T> {};
TYPED_TEST_SUITE(Generate, Scalars);

TYPED_TEST(Generate, RandomOccupationIsThatAskedFor) {
  const std::vector<Index> sizes(300, 2);
  for (const double occupation : {0.001, 0.1, 0.7})
    for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric}) {
      const auto a =
          random_block_sparse<TypeParam>(this->runtime(), square_layout(sizes, symmetry), occupation, 5);
      const double drawn = symmetry == Symmetry::none ? 300.0 * 299 : 300.0 * 299 / 2;
      const double found = static_cast<double>(a.pattern().blocks() - 300);
      EXPECT_NEAR(found, drawn * occupation, 5 * std::sqrt(drawn * occupation * (1 - occupation)));
      for (Index i = 0; i < 300; ++i) EXPECT_TRUE(a.pattern().find(i, i));
    }
}

TYPED_TEST(Generate, RandomExtremes) {
  const std::vector<Index> sizes{3, 0, 2, 1};
  auto& runtime = this->runtime();
  EXPECT_EQ(
      random_block_sparse<TypeParam>(runtime, square_layout(sizes, Symmetry::none), 1, 1).pattern().blocks(),
      16);
  EXPECT_EQ(
      random_block_sparse<TypeParam>(runtime, square_layout(sizes, Symmetry::none), 0, 1).pattern().blocks(),
      4);
  EXPECT_EQ(random_block_sparse<TypeParam>(runtime, square_layout(sizes, Symmetry::symmetric), 1, 1)
                .pattern()
                .blocks(),
            10);
  EXPECT_EQ(
      random_block_sparse<TypeParam>(runtime, square_layout({}, Symmetry::none), 0.5, 1).pattern().blocks(),
      0);
  const BlockLayout wide = make_block_layout(runtime, {2, 3}, {1, 1, 4, 2});
  EXPECT_EQ(random_block_sparse<TypeParam>(runtime, wide, 0, 1).pattern().blocks(), 2);
  EXPECT_EQ(random_block_sparse<TypeParam>(runtime, wide, 1, 1).pattern().blocks(), 8);
}

TYPED_TEST(Generate, RandomValuesAreUniform) {
  using R = RealOf<TypeParam>;
  const auto a = random_block_sparse<TypeParam>(
      this->runtime(), square_layout(sizes_of({13, 5, 5}, 230), Symmetry::none), 0.5, 3);
  double sum = 0, squares = 0, imaginary = 0;
  a.for_each_block([&](Index, Index, MatrixView<const TypeParam> v) {
    for (Index j = 0; j < v.cols; ++j)
      for (Index i = 0; i < v.rows; ++i) {
        const R x = real_part(v(i, j)), y = imag_part(v(i, j));
        ASSERT_TRUE(x >= -1 && x < 1 && y >= -1 && y < 1);
        sum += x, squares += x * x, imaginary += y * y;
      }
  });
  const double count = static_cast<double>(a.pattern().elements());
  // The variances of x and x^2 are 1/3 and 4/45.
  EXPECT_NEAR(sum / count, 0, 5 * std::sqrt(1 / 3. / count));
  EXPECT_NEAR(squares / count, 1 / 3., 5 * std::sqrt(4 / 45. / count));
  const double expected = is_complex<TypeParam> ? 1 / 3. : 0;
  EXPECT_NEAR(imaginary / count, expected, 5 * std::sqrt(4 / 45. / count));
}

TYPED_TEST(Generate, SameForAnyPanels) {
  const auto sizes = sizes_of({13, 5, 5}, 400);
  for (const Symmetry symmetry : symmetries) {
    const auto make = [&](Index panel, std::uint64_t seed, bool water) {
      const BlockLayout layout = square_layout(sizes, symmetry, {}, panel);
      return fingerprint(water ? water_block_sparse<TypeParam>(this->runtime(), layout, 0.3, seed, 3)
                               : random_block_sparse<TypeParam>(this->runtime(), layout, 0.3, seed));
    };
    for (const bool water : {false, true}) {
      const std::uint64_t one = make(0, 7, water);
      EXPECT_EQ(make(40, 7, water), one);
      EXPECT_EQ(make(1, 7, water), one);
      EXPECT_NE(make(0, 8, water), one);
    }
  }
}

TYPED_TEST(Generate, DiagonalBlocksHaveTheSymmetry) {
  for (const Symmetry symmetry : symmetries) {
    if (symmetry == Symmetry::none) continue;
    const auto a =
        random_block_sparse<TypeParam>(this->runtime(), square_layout({4, 1, 7}, symmetry), 0.5, 3);
    for (Index b = 0; b < 3; ++b) {
      const auto values = a.get_block(b, b);
      ASSERT_TRUE(values);
      const Index n = a.pattern().rows().size(b);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) EXPECT_EQ((*values)[i + j * n], mirror(symmetry, (*values)[j + i * n]));
    }
  }
}

TYPED_TEST(Generate, WaterIsTheSameWholeOrHalf) {
  const auto sizes = sizes_of({13, 5, 5}, 23 * 20);
  auto& runtime = this->runtime();
  const auto full = water_block_sparse<TypeParam>(runtime, square_layout(sizes, Symmetry::none), 0.4, 2, 3);
  const auto half =
      water_block_sparse<TypeParam>(runtime, square_layout(sizes, Symmetry::hermitian), 0.4, 2, 3);
  const Index diagonal = half.block_rows();
  EXPECT_EQ(full.pattern().blocks(), 2 * (half.pattern().blocks() - diagonal) + diagonal);
  half.for_each_block([&](Index row, Index col, MatrixView<const TypeParam> v) {
    const auto lower = full.get_block(row, col), upper = full.get_block(col, row);
    ASSERT_TRUE(lower && upper);
    for (Index j = 0; j < v.cols; ++j)
      for (Index i = 0; i < v.rows; ++i) {
        EXPECT_EQ((*lower)[i + j * v.rows], v(i, j));
        EXPECT_EQ((*upper)[j + i * v.cols], conjugate(v(i, j)));
      }
  });
}

using GenerateWater = RuntimeTest<double>;

TEST_F(GenerateWater, OccupationWithinTenPercent) {
  for (const Index molecules : {100, 512, 1000, 3000})
    for (const double occupation : {0.05, 0.1, 0.3, 0.9}) {
      const std::vector<Index> sizes(static_cast<std::size_t>(molecules), 1);
      for (const Symmetry symmetry : {Symmetry::none, Symmetry::symmetric}) {
        if (molecules == 3000 && (occupation > 0.2 || symmetry == Symmetry::none)) continue;
        const auto a = water_block_sparse<double>(runtime(), square_layout(sizes, symmetry), occupation, 1);
        EXPECT_NEAR(block_occupation(a), occupation, 0.1 * occupation) << molecules;
      }
    }
}

TEST_F(GenerateWater, ExtremeOccupations) {
  const std::vector<Index> sizes(50, 2);
  EXPECT_EQ(
      water_block_sparse<double>(runtime(), square_layout(sizes, Symmetry::none), 0, 1).pattern().blocks(),
      50);
  EXPECT_EQ(
      water_block_sparse<double>(runtime(), square_layout(sizes, Symmetry::none), 1, 1).pattern().blocks(),
      2500);
  EXPECT_EQ(
      water_block_sparse<double>(runtime(), square_layout({}, Symmetry::none), 0.5, 1).pattern().blocks(), 0);
  EXPECT_EQ(
      water_block_sparse<double>(runtime(), square_layout({3}, Symmetry::none), 0.5, 1).pattern().blocks(),
      1);
}

/// Molecules that are close in space have close numbers, so blocks lie closer to the diagonal than
/// evenly spread ones, and the largest blocks are closest.
TEST_F(GenerateWater, ConcentratesNearTheDiagonal) {
  const Index n = 1000;
  const auto a =
      water_block_sparse<double>(runtime(), square_layout(std::vector<Index>(n, 3), Symmetry::none), 0.02, 1);
  double distance = 0;
  Index near = 0;
  double diagonal = 0, rest = 0;
  a.for_each_block([&](Index row, Index col, MatrixView<const double> v) {
    distance += static_cast<double>(std::abs(row - col));
    near += std::abs(row - col) < n / 10;
    double square = 0;
    for (Index k = 0; k < 9; ++k) square += v.data[k] * v.data[k];
    (row == col ? diagonal : rest) += square;
  });
  const double blocks = static_cast<double>(a.pattern().blocks());
  EXPECT_LT(distance / blocks, n / 6.0) << "n / 3 if they were spread evenly";
  EXPECT_GT(static_cast<double>(near) / blocks, 0.5) << "0.19 if they were spread evenly";
  EXPECT_GT(diagonal / n, 10 * rest / (blocks - n)) << "mean squared norms";
}

TEST_F(GenerateWater, BlocksOfOneMoleculeGoTogether) {
  const auto a = water_block_sparse<double>(
      runtime(), square_layout(sizes_of({13, 5, 5}, 23 * 30), Symmetry::none), 0.2, 1, 3);
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 90; ++j)
      EXPECT_EQ(a.pattern().find(i, j).has_value(), a.pattern().find(i / 3 * 3, j / 3 * 3).has_value());
}

TEST_F(GenerateWater, BadArguments) {
  const BlockLayout layout = square_layout({2, 2}, Symmetry::none);
  EXPECT_THROW(water_block_sparse<double>(runtime(), layout, 1.5, 1), InvalidArgument);
  EXPECT_THROW(random_block_sparse<double>(runtime(), layout, -0.5, 1), InvalidArgument);
  EXPECT_THROW(random_block_sparse<double>(runtime(), layout, NAN, 1), InvalidArgument);
  EXPECT_THROW(water_block_sparse<double>(runtime(), layout, 0.5, 1, 0), InvalidArgument);
  EXPECT_THROW(water_block_sparse<double>(runtime(), make_block_layout(runtime(), {2}, {1, 1}), 0.5, 1),
               InvalidArgument);
}

TEST(RepeatedBlockSizes, CutsTheLast) {
  EXPECT_EQ(sizes_of({13, 5, 5}, 40), (std::vector<Index>{13, 5, 5, 13, 4}));
  EXPECT_EQ(sizes_of({23}, 46), (std::vector<Index>{23, 23}));
  EXPECT_TRUE(sizes_of({1}, 0).empty());
  EXPECT_THROW(sizes_of({}, 3), InvalidArgument);
  EXPECT_THROW(sizes_of({2, 0}, 3), InvalidArgument);
  EXPECT_THROW(sizes_of({2}, -1), InvalidArgument);
}

}  // namespace
}  // namespace tessera::test
