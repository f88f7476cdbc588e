// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/block_reflector.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class BlockReflectorCodelets : public RuntimeTest<T> {
 public:
  static double tolerance(Index k) { return 30 * double(k + 2) * precision<T>; }
};
TYPED_TEST_SUITE(BlockReflectorCodelets, Scalars);

TYPED_TEST(BlockReflectorCodelets, GatheredReflectorsStartBelowTheirPanel) {
  using T = TypeParam;
  const Index b = 3;
  for (const Index rows : {4, 9, 10})
    for (const Index below : {1, 5}) {
      const Index k = std::min<Index>(9, rows);
      const auto tile = random_matrix<T>(rows, rows, 1), lower = random_matrix<T>(below, rows, 2);
      const Data data = upload(this->runtime(), tile), data_lower = upload(this->runtime(), lower);
      const std::vector<const Data*> pieces{&data, &data_lower};
      for (const Index first : {Index(0), b}) {
        const Index m = rows + below - first, cols = k - first;
        const Data v = Data::matrix(this->runtime(), m, cols, sizeof(T));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          s.insert(
              GatherReflectors<T>{.tiles = pieces, .v = v, .b = b, .first_row = first, .first_col = first});
        }));
        Matrix<T> expected(m, cols);
        for (Index j = 0; j < cols; ++j)
          for (Index i = (j / b + 1) * b; i < m; ++i)
            expected(i, j) =
                first + i < rows ? tile(first + i, first + j) : lower(first + i - rows, first + j);
        EXPECT_EQ(difference(download<T>(v), expected), 0);
      }
    }
}

/// Merges V of three panels from two pieces; I - V T V^H must be the product of the panels'
/// reflectors.
TYPED_TEST(BlockReflectorCodelets, MergedFactorIsTheProductOfThePanels) {
  using T = TypeParam;
  for (const Index b : {1, 2, 3})
    for (const Index panels : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << panels << " panels of " << b);
      const Index k = b * panels, m1 = 10, m2 = 6, m = m1 + m2, cols = 5, first_row = 4;
      auto v = random_matrix<T>(m, k, 1);
      for (Index j = 0; j < k; ++j)
        for (Index i = 0; i <= j; ++i) v(i, j) = T(i == j ? 1 : 0);
      std::vector<Data> t_data;
      std::vector<const Data*> t_pieces;
      auto product = identity<T>(m);
      for (Index p = 0; p < panels; ++p) {
        const auto t = triangle(random_matrix<T>(b, b, 20 + p), Uplo::upper);
        const auto v_p = v.block(0, p * b, m, b);
        const auto h = multiply(Op::none, multiply(v_p, t), Op::adjoint, v_p, T(-1), T(1), identity<T>(m));
        product = multiply(product, h);
        t_data.push_back(upload(this->runtime(), t));
      }
      for (const Data& t : t_data) t_pieces.push_back(&t);
      const Data v1 = upload(this->runtime(), v.block(0, 0, m1, k)),
                 v2 = upload(this->runtime(), v.block(m1, 0, m2, k));
      const std::vector<const Data*> pieces{&v1, &v2};
      const Data t = upload(this->runtime(), random_matrix<T>(k, k, 4));
      const auto c = random_matrix<T>(first_row + m, cols, 3);
      const Data data_c = upload(this->runtime(), c);
      const Data workspace =
          Data::scratch(this->runtime(), sizeof(T) * static_cast<std::size_t>(2 * k * cols));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        s.insert(MergeT<T>{.v = pieces, .t_panels = t_pieces, .t = t, .rows = m, .k = k, .b = b});
        s.insert(ApplyBlockReflector<T>{.v = pieces,
                                        .t = t,
                                        .c = data_c,
                                        .work = workspace,
                                        .first_row = first_row,
                                        .rows = m,
                                        .k = k,
                                        .cols = cols});
      }));
      // V and T grow by powers of ten here, so the error is relative to the product.
      const double scale = std::max(1.0, norm_1(product));
      const auto merged = download<T>(t);
      EXPECT_EQ(difference(merged, triangle(merged, Uplo::upper)), 0) << "GPUs multiply by all of T";
      const auto h = multiply(Op::none, multiply(v, merged), Op::adjoint, v, T(-1), T(1), identity<T>(m));
      EXPECT_LE(difference(h, product), this->tolerance(m) * scale * 10);
      auto expected = c;
      expected.set_block(first_row, 0, multiply(product, c.block(first_row, 0, m, cols)));
      EXPECT_LE(difference(download<T>(data_c), expected), this->tolerance(m) * scale * 10);
    }
}

TYPED_TEST(BlockReflectorCodelets, SolveAdjointRowByRowIsTheWholeSolve) {
  using T = TypeParam;
  const Index tile = 4, n = 11, cols = 3, count = 3;
  auto l = triangle(random_matrix<T>(n, n, 1), Uplo::lower);
  for (Index i = 0; i < n; ++i) l(i, i) = T(RealOf<T>(n));
  const auto x = random_matrix<T>(n, cols, 2);
  const Data data = upload(this->runtime(), x);
  std::vector<Data> tiles;
  ASSERT_TRUE(this->run([&](Sequence& s) {
    for (Index k = count - 1; k >= 0; --k) {
      const Index rows = std::min(tile, n - k * tile);
      std::vector<Data> row;
      std::vector<const Data*> pieces;
      for (Index i = 0; i <= k; ++i)
        row.push_back(
            upload(this->runtime(), poison_other_triangle(l, Uplo::lower)
                                        .block(k * tile, i * tile, rows, std::min(tile, n - i * tile))));
      for (const Data& piece : row) pieces.push_back(&piece);
      s.insert(SolveAdjointRow<T>{.l_row = pieces, .x = data, .tile = tile, .rows = rows, .cols = cols});
    }
  }));
  EXPECT_LE(difference(multiply(Op::adjoint, l, Op::none, download<T>(data)), x), this->tolerance(n));
}

}  // namespace
}  // namespace tessera::test
