// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/dense/check.hpp>
#include <tessera/codelets/dense/copy.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class CopyCodelets : public RuntimeTest<T> {
 public:
  using R = RealOf<T>;
  static Data reals(std::initializer_list<R> values) {
    return upload(RuntimeTest<T>::runtime(), std::vector<R>(values));
  }
  static bool counts(Uplo uplo, Index row, Index col) {
    return uplo == Uplo::lower ? row >= col : uplo == Uplo::upper ? row <= col : true;
  }
};
TYPED_TEST_SUITE(CopyCodelets, Scalars);

TYPED_TEST(CopyCodelets, MaxAbsOfThePartThatCounts) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index rows = 6, cols = 5;
  // Tiles left of, on and right of the diagonal, including unaligned ones.
  for (const auto& [row0, col0] : {std::pair<Index, Index>{0, 0}, {8, 2}, {3, 0}, {0, 3}, {2, 9}})
    for (const Uplo uplo : {Uplo::lower, Uplo::upper}) {
      auto a = random_matrix<T>(rows, cols, 1);
      R largest = 0;
      for (Index j = 0; j < cols; ++j)
        for (Index i = 0; i < rows; ++i) {
          if (this->counts(uplo, row0 + i, col0 + j))
            largest = std::max({largest, std::abs(real_part(a(i, j))), std::abs(imag_part(a(i, j)))});
          else
            a(i, j) = not_a_number<T>();
        }
      const Data data = upload(this->runtime(), a), out = Data::bytes(this->runtime(), sizeof(R));
      MaxAbs<T> task{.tile = data, .out = out, .uplo = uplo, .row0 = row0, .col0 = col0};
      ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(task); }));
      EXPECT_EQ(download_values<R>(out)[0], largest);
      // For NaN or infinity in an entry that is read, the status must name its column.
      for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
        Index bad_row = -1, bad_col = -1;
        for (Index j = 0; j < cols; ++j)
          for (Index i = 0; i < rows; ++i)
            if (this->counts(uplo, row0 + i, col0 + j)) bad_row = i, bad_col = j;
        if (bad_row < 0) continue;
        auto broken = a;
        broken(bad_row, bad_col) = T(bad);
        if constexpr (is_complex<T>) broken(bad_row, bad_col) = T(0, bad);
        const Data data_broken = upload(this->runtime(), broken);
        task.tile = data_broken;
        const Status status = this->run([&](Sequence& s) { s.insert(task); });
        EXPECT_EQ(status.code, StatusCode::not_finite);
        EXPECT_EQ(status.index, col0 + bad_col + 1);
      }
    }
}

TYPED_TEST(CopyCodelets, ScaleBringsTheLargestToOne) {
  using R = RealOf<TypeParam>;
  const auto scale_of = [&](std::initializer_list<R> values) {
    std::vector<Data> pieces;
    std::vector<const Data*> pointers;
    for (R value : values) pieces.push_back(this->reals({value}));
    for (const Data& piece : pieces) pointers.push_back(&piece);
    const Data scale = Data::bytes(this->runtime(), sizeof(R));
    EXPECT_TRUE(
        this->run([&](Sequence& s) { s.insert(ChooseScale<R>{.values = pointers, .scale = scale}); }));
    return download_values<R>(scale)[0];
  };
  EXPECT_EQ(scale_of({0, 0}), 1);
  EXPECT_EQ(scale_of({}), 1);
  for (const R value : {R(1), R(3), R(0.001), R(7e20), std::numeric_limits<R>::max(), R(1e-30)}) {
    const R scale = scale_of({value / 2, value, 0});
    int exponent;
    EXPECT_EQ(std::frexp(scale, &exponent), R(0.5)) << "a power of two";
    EXPECT_GE(scale * value, R(0.5)) << value;
    // The scale is not 2^-max_exponent, which would be subnormal, so the largest numbers stay below
    // 2.
    EXPECT_LT(scale * value, value == std::numeric_limits<R>::max() ? R(2) : R(1)) << value;
  }
  // The inverse of the smallest numbers overflows, but the scale must not.
  for (const R value : {std::numeric_limits<R>::min(), std::numeric_limits<R>::denorm_min()}) {
    const R scale = scale_of({value});
    EXPECT_TRUE(std::isfinite(scale));
    EXPECT_GT(scale, 1);
  }
}

TYPED_TEST(CopyCodelets, CopyTileMirrorsScalesAndDropsImaginaryDiagonals) {
  using T = TypeParam;
  using R = RealOf<T>;
  const auto source = random_matrix<T>(9, 8, 1), before = random_matrix<T>(7, 6, 2);
  const Data scale = this->reals({R(0.25)}), one = this->reals({1});
  const Data data_source = upload(this->runtime(), source), data_before = upload(this->runtime(), before);
  for (const Op op : {Op::none, Op::adjoint}) {
    const TilePart to(1, 2, 4, 3), from = op == Op::none ? TilePart(5, 3, 4, 3) : TilePart(3, 4, 3, 4);
    const Data data = Data::matrix(this->runtime(), 7, 6, sizeof(T));
    // The part begins at (11, 10) of the whole matrix, so its diagonal entries are (0, 1) and (1,
    // 2). Entries around it, written by another task of the sequence, must not change.
    ASSERT_TRUE(this->run([&](Sequence& s) {
      s.insert(CopyTile<T>{.source = data_before,
                           .scale = one,
                           .destination = data,
                           .from = {0, 0, 7, 6},
                           .to = {0, 0, 7, 6},
                           .col0 = 100});
      s.insert(CopyTile<T>{.source = data_source,
                           .scale = scale,
                           .destination = data,
                           .from = from,
                           .to = to,
                           .op = op,
                           .row0 = 11,
                           .col0 = 10});
    }));
    auto expected = before;
    for (Index j = 0; j < to.cols; ++j)
      for (Index i = 0; i < to.rows; ++i) {
        const T x = op == Op::none ? source(from.row + i, from.col + j)
                                   : conjugate(source(from.row + j, from.col + i));
        expected(to.row + i, to.col + j) = R(0.25) * (11 + i == 10 + j ? T(real_part(x)) : x);
      }
    EXPECT_EQ(difference(download<T>(data), expected), 0);
  }
  const Data fresh = Data::matrix(this->runtime(), 9, 8, sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(CopyTile<T>{.source = data_source,
                         .scale = scale,
                         .destination = fresh,
                         .from = {0, 0, 9, 8},
                         .to = {0, 0, 9, 8},
                         .col0 = 100});
  }));
  EXPECT_EQ(difference(download<T>(fresh), multiply(Op::none, source, Op::none, identity<T>(8), T(0.25))), 0);
}

TYPED_TEST(CopyCodelets, CopyCyclicTakesTheBlocksOfAProcess) {
  using T = TypeParam;
  const auto source = random_matrix<T>(17, 13, 1), before = random_matrix<T>(9, 8, 2);
  const Data data_source = upload(this->runtime(), source), data = upload(this->runtime(), before);
  // Rows 1 and 2, the end of a block of 4 from row -1 on, and 8 to 11; columns 5, 8, 9, 12.
  const CyclicIndices rows{.begin = -1, .lead = 2, .block = 4, .stride = 9},
      cols{.begin = 4, .lead = 1, .block = 2, .stride = 4};
  const std::vector<Index> from_rows{1, 2, 8, 9, 10, 11}, from_cols{5, 8, 9, 12};
  const TilePart to(2, 3, 6, 4);
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(CopyCyclic<T>{
        .source = data_source, .destination = add_to(data), .rows = rows, .cols = cols, .to = to});
  }));
  auto expected = before;
  for (Index j = 0; j < to.cols; ++j)
    for (Index i = 0; i < to.rows; ++i)
      expected(to.row + i, to.col + j) =
          source(from_rows[static_cast<std::size_t>(i)], from_cols[static_cast<std::size_t>(j)]);
  EXPECT_EQ(difference(download<T>(data), expected), 0);
  const Data part = Data::matrix(this->runtime(), 5, 3, sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(CopyCyclic<T>{.source = data_source,
                           .destination = part,
                           .rows = {.begin = 12},
                           .cols = {.begin = 2},
                           .to = {0, 0, 5, 3}});
  }));
  EXPECT_EQ(difference(download<T>(part), source.block(12, 2, 5, 3)), 0);
}

TYPED_TEST(CopyCodelets, CheckDiagonalNamesTheFirstEntryThatIsNotPositive) {
  using T = TypeParam;
  const auto good = random_hermitian<T>(300, 1, 3);
  const auto status = [&](const Matrix<T>& l) {
    const Data data = upload(this->runtime(), l);
    return this->run(
        [&](Sequence& s) { s.insert(CheckDiagonal<T>{.l = data, .first_row = 40}, {.execute_on = 0}); });
  };
  EXPECT_TRUE(status(good));
  for (const T bad : {T(0), T(-1), not_a_number<T>()}) {
    auto l = good;
    l(299, 299) = l(270, 270) = bad;
    const Status failed = status(l);
    EXPECT_EQ(failed.code, StatusCode::not_positive_definite);
    EXPECT_EQ(failed.index, 40 + 271);
  }
}

TYPED_TEST(CopyCodelets, BytesAndValues) {
  using R = RealOf<TypeParam>;
  const Data source = this->reals({1, 2, 3, 4, 5}), copy = Data::bytes(this->runtime(), 5 * sizeof(R));
  const Data scale = this->reals({4}), out = Data::bytes(this->runtime(), 3 * sizeof(R));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(CopyBytes{.source = source, .destination = copy}, {.execute_on = 0});
    s.insert(ExportValues<R>{.values = copy, .scale = scale, .out = out, .first = 1, .count = 3});
  }));
  EXPECT_EQ(download_values<R>(copy), (std::vector<R>{1, 2, 3, 4, 5}));
  EXPECT_EQ(download_values<R>(out), (std::vector<R>{0.5, 0.75, 1}));
}

TYPED_TEST(CopyCodelets, NormaliseColumns) {
  using T = TypeParam;
  const Index rows = 37;
  auto before = random_matrix<T>(rows, 3, 4);
  for (Index i = 0; i < rows; ++i) before(i, 1) = T(0);
  const Data data = upload(this->runtime(), before);
  ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(NormaliseColumns<T>{.x = data}); }));
  const auto x = download<T>(data);
  for (Index j = 0; j < 3; ++j) {
    double squares = 0;
    for (Index i = 0; i < rows; ++i) squares += std::norm(before(i, j));
    for (Index i = 0; i < rows; ++i)
      EXPECT_LE(std::abs(x(i, j) - (j == 1 ? T(0) : before(i, j) / RealOf<T>(std::sqrt(squares)))),
                4 * precision<T>);
  }
}

TYPED_TEST(CopyCodelets, HermitianTimesSlab) {
  using T = TypeParam;
  const Index n = 11, tile = 4, cols = 3;
  const auto a = random_hermitian<T>(n, 1);
  const auto x = random_matrix<T>(n, cols, 2);
  const Data data_x = upload(this->runtime(), x),
             data_y = upload(this->runtime(), random_matrix<T>(n, cols, 3));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    for (Index j = 0; j < n; j += tile)
      for (Index i = j; i < n; i += tile) {
        const auto block =
            poison_other_triangle(a, Uplo::lower).block(i, j, std::min(tile, n - i), std::min(tile, n - j));
        const Data piece = upload(this->runtime(), block);
        s.insert(HermitianTimesSlab<T>{.a = piece, .x = data_x, .y = data_y, .row0 = i, .col0 = j});
      }
  }));
  EXPECT_LE(difference(download<T>(data_y), multiply(a, x)), 10 * n * precision<T>);
}

TYPED_TEST(CopyCodelets, SumsOfAbsoluteValues) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index n = 7, cols = 4, first = 2;
  const double tolerance = 20 * n * precision<T>;
  const auto r = random_matrix<T>(n, cols, 1), y = random_matrix<T>(n, cols, 2),
             x = random_matrix<T>(n, 3, 3);
  const std::vector<R> values{1, 2, 3, 4, 5, 6};
  const Data data_r = upload(this->runtime(), r), data_y = upload(this->runtime(), y),
             data_x = upload(this->runtime(), x), data_values = upload(this->runtime(), values);
  const auto doubles = [&](Index count) {
    return Data::bytes(this->runtime(), sizeof(double) * static_cast<std::size_t>(count));
  };
  const Data plain = doubles(cols), weighted = doubles(cols), inner = doubles(3), own = doubles(cols),
             inner_by_columns = doubles(3), own_by_columns = doubles(cols), tile = doubles(n + cols),
             diagonal = doubles(n);
  // For all columns at once, and for three columns of X or two of Y.
  const Data workspace = Data::scratch(this->runtime(), sizeof(T) * 64),
             narrow = Data::scratch(this->runtime(), sizeof(T) * 9);
  const auto h = random_hermitian<T>(n, 4);
  const Data data_h = upload(this->runtime(), poison_other_triangle(h, Uplo::lower));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    s.insert(AbsoluteColumnSums<T>{.r = data_r, .sums = plain});
    s.insert(AbsoluteColumnSums<T>{
        .r = data_r, .y = data_y, .values = data_values, .sums = weighted, .first = first});
    for (const bool by_columns : {false, true}) {
      const Data& work = by_columns ? narrow : workspace;
      s.insert(AbsoluteInnerSums<T>{
          .x = data_x, .y = data_y, .sums = by_columns ? inner_by_columns : inner, .work = work});
      s.insert(AbsoluteInnerSums<T>{
          .x = data_y, .y = data_y, .sums = by_columns ? own_by_columns : own, .work = work, .same = true});
    }
    s.insert(AbsoluteTileSums<T>{.a = data_r, .sums = tile});
    s.insert(AbsoluteTileSums<T>{.a = data_h, .sums = diagonal, .diagonal = true});
  }));
  const auto x_y = multiply(Op::adjoint, x, Op::none, y), y_y = multiply(Op::adjoint, y, Op::none, y);
  for (Index c = 0; c < cols; ++c) {
    double sum = 0, difference = 0, orthogonal = 0;
    for (Index i = 0; i < n; ++i) {
      sum += std::abs(r(i, c));
      difference += std::abs(r(i, c) - values[static_cast<std::size_t>(first + c)] * y(i, c));
    }
    for (Index k = 0; k < cols; ++k) orthogonal += std::abs(y_y(c, k) - T(c == k));
    EXPECT_NEAR(download_values<double>(plain)[static_cast<std::size_t>(c)], sum, tolerance);
    EXPECT_NEAR(download_values<double>(weighted)[static_cast<std::size_t>(c)], difference, 6 * tolerance);
    for (const Data* sums : {&own, &own_by_columns})
      EXPECT_NEAR(download_values<double>(*sums)[static_cast<std::size_t>(c)], orthogonal, 6 * tolerance);
    EXPECT_NEAR(download_values<double>(tile)[static_cast<std::size_t>(c)], sum, tolerance);
  }
  for (Index d = 0; d < 3; ++d) {
    double sum = 0;
    for (Index c = 0; c < cols; ++c) sum += std::abs(x_y(d, c));
    for (const Data* sums : {&inner, &inner_by_columns})
      EXPECT_NEAR(download_values<double>(*sums)[static_cast<std::size_t>(d)], sum, 6 * tolerance);
  }
  for (Index i = 0; i < n; ++i) {
    double rows = 0, whole = 0;
    for (Index c = 0; c < cols; ++c) rows += std::abs(r(i, c));
    for (Index c = 0; c < n; ++c) whole += std::abs(h(i, c));
    EXPECT_NEAR(download_values<double>(tile)[static_cast<std::size_t>(cols + i)], rows, tolerance);
    EXPECT_NEAR(download_values<double>(diagonal)[static_cast<std::size_t>(i)], whole, tolerance);
  }
}

}  // namespace
}  // namespace tessera::test
