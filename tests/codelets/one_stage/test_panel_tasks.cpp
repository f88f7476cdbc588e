// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>
#include <tests/codelets/one_stage/work_problem.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/one_stage/matrix_tasks.hpp>
#include <tessera/codelets/one_stage/panel_tasks.hpp>

namespace tessera::test {
using namespace detail;
namespace {

/// Work rows of 5 and 4 rows, two in each tile; the last tile has one of 5 rows.
constexpr Index order = 23, tile_size = 9, wanted = 5, width = 3;

template <class T>
class TridiagonalizePanelCodelets : public RuntimeTest<T> {
 public:
  using Problem = WorkProblem<T>;
  static double tolerance(Index n) { return 20 * double(n + 2) * precision<T>; }
  static Runtime& runtime() { return RuntimeTest<T>::runtime(); }

  /// Column `p` of the panel that begins with column `first` of A.
  static ColumnStep step(const Problem& problem, const RowChunks& chunks, Index first, Index p, Index k) {
    ColumnStep step{.chunks = chunks,
                    .p = std::int32_t(p),
                    .k = std::int32_t(k),
                    .q = problem.layout.padded(first + p),
                    .next = problem.layout.padded(first + p + 1)};
    if (!step.last()) step.after = problem.layout.padded(first + p + 2);
    return step;
  }
  static Matrix<T> nothing(Index rows, Index cols) {
    Matrix<T> a(rows, cols);
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) a(i, j) = not_a_number<T>();
    return a;
  }
  static std::vector<T> nothing(Index size) { return std::vector<T>(std::size_t(size), not_a_number<T>()); }

  /// A piece x_c of the padded column x from a plain loop; the header for rows of V and W stays
  /// zero.
  static std::vector<T> column_piece(const ColumnStep& s, Index c, const Matrix<T>& x, Index q, Index next) {
    const Index begin = s.chunks.padded_begin(c), base = s.chunks.padded_begin(0),
                header = ColumnPiece::header(s.k);
    std::vector<T> piece(std::size_t(header + s.chunks.rows(c)));
    double squares = 0;
    for (Index i = begin; i < begin + s.chunks.rows(c); ++i) {
      const T value = x(i - base, 0);
      if (i == q) piece[ColumnPiece::diagonal] = value;
      if (i == next) piece[ColumnPiece::alpha] = value;
      if (i > next) squares += std::norm(value);
      if (i >= next) piece[std::size_t(header + i - begin)] = value;
    }
    piece[ColumnPiece::norm_scale] = T(1);
    piece[ColumnPiece::norm_squares] = T(RealOf<T>(squares));
    return piece;
  }
  /// Largest difference of two pieces x_c. Norms are compared as numbers; rows of V and W (the
  /// first `row` of each) are compared separately.
  static double column_difference(const ColumnStep& s, const std::vector<T>& x,
                                  const std::vector<T>& expected, Index row) {
    const auto norm = [](const std::vector<T>& piece) {
      return (long double)(real_part(piece[ColumnPiece::norm_scale])) *
             std::sqrt((long double)(real_part(piece[ColumnPiece::norm_squares])));
    };
    double largest = std::abs(double(norm(x) - norm(expected)));
    const auto compare = [&](Index i) {
      const double d = std::abs(x[std::size_t(i)] - expected[std::size_t(i)]);
      largest = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(largest, d);
    };
    compare(ColumnPiece::alpha);
    compare(ColumnPiece::diagonal);
    for (Index l = 0; l < row; ++l) {
      compare(ColumnPiece::row + l);
      compare(ColumnPiece::row + s.k + l);
    }
    for (Index i = ColumnPiece::header(s.k); i < Index(x.size()); ++i) compare(i);
    return largest;
  }
};
TYPED_TEST_SUITE(TridiagonalizePanelCodelets, Scalars);

/// Sum of the columns of two groups (a third group has none), with elements of ordinary and extreme
/// size.
TYPED_TEST(TridiagonalizePanelCodelets, PanelStart) {
  using T = TypeParam;
  using R = RealOf<T>;
  const WorkProblem<T> problem(order, tile_size, wanted, 3, 1);
  const R least = std::numeric_limits<R>::min();
  for (const Index count : {1, 2})
    for (const Index first : {Index(5), Index(7)})
      for (const R size : {R(1), least * 4, R(0.25) / least}) {
        SCOPED_TRACE(::testing::Message() << "chunks " << count << ", column " << first << ", size " << size);
        const auto chunks = problem.chunks(1, count);
        const auto step = this->step(problem, chunks, first, 0, 2);
        const Index base = chunks.padded_begin(0), start = problem.layout.start(1), k = 2;
        Matrix<T> columns[2], sum(order - start, k);
        PanelPieces pieces;
        for (int g = 0; g < 2; ++g) {
          columns[g] = random_matrix<T>(order - start, k, 2 + g);
          for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < order - start; ++i) {
              // The columns of the groups do not overlap.
              columns[g](i, j) = i % 2 == g ? columns[g](i, j) * size : T(0);
              sum(i, j) += columns[g](i, j);
            }
          pieces.extracted.push_back(upload(this->runtime(), problem.spread(columns[g], 1)));
          if (g == 0) pieces.extracted.emplace_back();
        }
        for (Index c = 0; c < count; ++c) {
          pieces.x.push_back(upload(this->runtime(), this->nothing(ColumnPiece::header(k) + chunks.rows(c))));
          pieces.p.push_back(upload(this->runtime(), this->nothing(chunks.rows(c), k)));
        }
        ASSERT_TRUE(this->run([&](Sequence& s) {
          for (Index c = 0; c < count; ++c) insert_panel_start<T>(s, 0, step, c, pieces);
        }));
        const auto padded = problem.spread(sum, 1);
        for (Index c = 0; c < count; ++c) {
          EXPECT_EQ(difference(download<T>(pieces.p[std::size_t(c)]), problem.chunk(chunks, c, padded)), 0);
          auto x = download_values<T>(pieces.x[std::size_t(c)]);
          auto expected = this->column_piece(step, c, padded, step.q, step.next);
          // The square of the norm overflows or underflows without scaling.
          long double squares = 0;
          for (Index i = chunks.padded_begin(c); i < chunks.padded_begin(c) + chunks.rows(c); ++i)
            if (i > step.next) {
              const T value = padded(i - base, 0);
              const long double re = real_part(value), im = imag_part(value);
              squares += re * re + im * im;
            }
          const long double norm = (long double)(real_part(x[ColumnPiece::norm_scale])) *
                                   std::sqrt((long double)(real_part(x[ColumnPiece::norm_squares])));
          EXPECT_LE(std::abs(norm - std::sqrt(squares)), this->tolerance(order) * std::sqrt(squares));
          x[ColumnPiece::norm_scale] = expected[ColumnPiece::norm_scale] = T(0);
          x[ColumnPiece::norm_squares] = expected[ColumnPiece::norm_squares] = T(0);
          EXPECT_EQ(this->column_difference(step, x, expected, 0), 0);
        }
      }
}

/// Two product tasks with the same groups and chunks, against LAPACK's larfg and whole matrices.
TYPED_TEST(TridiagonalizePanelCodelets, ColumnProduct) {
  using T = TypeParam;
  const Index groups = 3, k = width, count = 2;
  const WorkProblem<T> problem(order, tile_size, wanted, groups, 1);
  const auto chunks = problem.chunks(1, count);
  const Index base = chunks.padded_begin(0), height = problem.padded_order() - base,
              header = ProductPiece::header(k), top = problem.layout.start(1);
  // The last column of a work row: the remaining rows begin with the next work row.
  for (const Index first : {Index(5), Index(6)})
    for (const Index p : {0, 1, 2}) {
      SCOPED_TRACE(::testing::Message() << "first column " << first << ", p " << p);
      const auto step = this->step(problem, chunks, first, p, k);
      const Index next = first + p + 1, m = order - next;
      auto x = random_matrix<T>(order - top, 1, 2);
      const auto padded_x = problem.spread(x, 1);
      const auto vw = random_matrix<T>(order - top, 3 * k, 3);
      PanelPieces pieces;
      std::vector<T> rows;
      for (Index c = 0; c < count; ++c) {
        auto piece = this->column_piece(step, c, padded_x, step.q, step.next);
        for (Index l = 0; l < 2 * k && c == 0; ++l)
          rows.push_back(piece[std::size_t(ColumnPiece::row + l)] = random_scalar<T>(4, l, 0));
        pieces.x.push_back(upload(this->runtime(), piece));
        pieces.v.push_back(upload(this->runtime(), problem.chunk(chunks, c, problem.spread(vw, 1))));
      }
      // Tiles of earlier work columns must not be read.
      const Index column = step.next / problem.layout.w;
      std::vector<Data> tiles;
      for (Index g = 0; g < groups; ++g)
        tiles.push_back(upload(this->runtime(), problem.trailing_group(g, column)));
      const Data workspace = Data::scratch(this->runtime(), sizeof(T) * std::size_t(height));
      std::vector<Data> y;
      for (int task = 0; task < 2; ++task)
        y.push_back(upload(this->runtime(), this->nothing(header + height)));
      ASSERT_TRUE(this->run([&](Sequence& s) {
        for (Index task = 0; task < 2; ++task) {
          ProductWork work{.tiles = &problem.tiles,
                           .first_group = task,
                           .stride = 2,
                           .count = task == 0 ? 2 : 1,
                           .first_inner = 1 - task,
                           .inner_stride = 2,
                           .inner = p > 0 ? 1 : 0};
          std::vector<const Data*> own{&tiles[std::size_t(task)]};
          if (task == 0) own.push_back(&tiles[2]);
          insert_column_product<T>(s, 0, step, work, own, pieces, y[std::size_t(task)], workspace);
        }
      }));

      Matrix<T> v(order - top, 1);
      std::vector<T> tail;
      T alpha = x(next - top, 0), tau;
      for (Index i = next + 1; i < order; ++i) tail.push_back(x(i - top, 0));
      blas::larfg(m, &alpha, tail.data(), 1, &tau);
      v(next - top, 0) = T(1);
      for (Index i = next + 1; i < order; ++i) v(i - top, 0) = tail[std::size_t(i - next - 1)];
      const auto a_v = multiply(problem.a.block(top, top, order - top, order - top), v);
      const auto v_y = multiply(Op::adjoint, v, Op::none, a_v);
      const auto v_v = multiply(Op::adjoint, vw, Op::none, v);
      std::vector<T> total = download_values<T>(y[0]);
      const auto second = download_values<T>(y[1]);
      for (const Index same : {ProductPiece::tau, ProductPiece::beta, ProductPiece::factor})
        EXPECT_EQ(total[std::size_t(same)], second[std::size_t(same)]);
      for (std::size_t i = ProductPiece::v_y; i < total.size(); ++i)
        if (Index(i) < ProductPiece::row(k) || Index(i) >= header) total[i] += second[i];
      const double tolerance = this->tolerance(order);
      EXPECT_LE(std::abs(total[ProductPiece::tau] - tau), tolerance);
      EXPECT_LE(std::abs(total[ProductPiece::beta] - alpha), tolerance * std::abs(alpha));
      EXPECT_LE(std::abs(total[ProductPiece::factor] * (x(next - top, 0) - alpha) - T(1)), tolerance);
      EXPECT_LE(std::abs(total[ProductPiece::v_y] - v_y(0, 0)), tolerance * order);
      for (Index l = 0; l < p; ++l) {
        EXPECT_LE(std::abs(total[std::size_t(ProductPiece::sums + l)] - v_v(l, 0)), tolerance);
        EXPECT_LE(std::abs(total[std::size_t(ProductPiece::sums + k + l)] - v_v(k + l, 0)), tolerance);
      }
      for (Index l = 0; l < 2 * k; ++l)
        EXPECT_EQ(total[std::size_t(ProductPiece::row(k) + l)], rows[std::size_t(l)]);
      for (Index i = next; i < order; ++i)
        EXPECT_LE(std::abs(total[std::size_t(header + problem.layout.padded(i) - base)] - a_v(i - top, 0)),
                  tolerance);
    }
}

/// A column that needs no reflector gives tau = 0 and a unit vector v.
TYPED_TEST(TridiagonalizePanelCodelets, ColumnProductOfAZeroColumn) {
  using T = TypeParam;
  const WorkProblem<T> problem(order, tile_size, wanted, 1, 1);
  const auto chunks = problem.chunks(0, 1);
  const auto step = this->step(problem, chunks, 0, 0, width);
  const Index header = ProductPiece::header(width), height = problem.padded_order();
  for (const T alpha : {T(0), T(-2)}) {
    Matrix<T> x(height, 1);
    x(step.q, 0) = T(3);
    x(step.next, 0) = alpha;
    PanelPieces pieces;
    pieces.x.push_back(upload(this->runtime(), this->column_piece(step, 0, x, step.q, step.next)));
    const Data group = upload(this->runtime(), problem.group(0, problem.a));
    const Data workspace = Data::scratch(this->runtime(), sizeof(T) * std::size_t(height));
    const Data y = upload(this->runtime(), this->nothing(header + height));
    ASSERT_TRUE(this->run([&](Sequence& s) {
      const Data* groups[] = {&group};
      insert_column_product<T>(s, 0, step, {.tiles = &problem.tiles, .count = 1}, groups, pieces, y,
                               workspace);
    }));
    const auto piece = download_values<T>(y);
    EXPECT_EQ(piece[ProductPiece::tau], T(0));
    EXPECT_EQ(piece[ProductPiece::beta], alpha);
    EXPECT_EQ(piece[ProductPiece::factor], T(0));
    for (Index i = 1; i < order; ++i)
      EXPECT_LE(std::abs(piece[std::size_t(header + problem.layout.padded(i))] - problem.a(i, 1)),
                this->tolerance(1));
  }
}

/// Every column of a panel, from arbitrary parts of y, against the formulas with whole vectors.
TYPED_TEST(TridiagonalizePanelCodelets, ColumnUpdate) {
  using T = TypeParam;
  using R = RealOf<T>;
  const Index k = width, header = ProductPiece::header(k), first = 5, top = first;
  const WorkProblem<T> problem(order, tile_size, wanted, 1, 1);
  for (const Index count : {1, 2})
    for (const Index p : {0, 1, 2}) {
      SCOPED_TRACE(::testing::Message() << "chunks " << count << ", p " << p);
      const auto chunks = problem.chunks(1, count);
      const auto step = this->step(problem, chunks, first, p, k);
      const Index q = first + p, next = q + 1, rows = order - top;
      const auto x = random_matrix<T>(rows, 1, 2), panel = random_matrix<T>(rows, k, 3);
      auto v = random_matrix<T>(rows, k, 4), w = random_matrix<T>(rows, k, 5);
      Matrix<T> vwv(rows, 3 * k);
      for (Index l = 0; l < k; ++l)
        for (Index i = 0; i < rows; ++i) {
          vwv(i, l) = vwv(i, 2 * k + l) = l < p ? v(i, l) : not_a_number<T>();
          vwv(i, k + l) = l < p ? w(i, l) : not_a_number<T>();
        }
      PanelPieces pieces;
      for (Index c = 0; c < count; ++c) {
        pieces.x.push_back(
            upload(this->runtime(), this->column_piece(step, c, problem.spread(x, 1), step.q, step.next)));
        pieces.v.push_back(upload(this->runtime(), problem.chunk(chunks, c, problem.spread(vwv, 1))));
        pieces.p.push_back(upload(this->runtime(), problem.chunk(chunks, c, problem.spread(panel, 1))));
      }
      std::vector<char> before(ScalarPiece<T>::bytes(k));
      pieces.scalars = upload(this->runtime(), before);

      const T tau = random_scalar<T>(6, 0, 0), factor = random_scalar<T>(6, 1, 0);
      const R beta = R(1.5);
      T v_y(0), s_v[width] = {}, s_w[width] = {};  // V^H v and W^H v
      Matrix<T> y(rows, 1);
      std::vector<Data> parts;
      for (int part = 0; part < 2; ++part) {
        const auto y_part = random_matrix<T>(rows, 1, std::uint64_t(10 + part));
        y = multiply(Op::none, identity<T>(rows), Op::none, y_part, T(1), T(1), y);
        const auto padded = problem.spread(y_part, 1);
        auto piece = this->nothing(header + padded.rows());
        piece[ProductPiece::tau] = tau;
        piece[ProductPiece::beta] = T(beta);
        piece[ProductPiece::factor] = factor;
        v_y += piece[ProductPiece::v_y] = random_scalar<T>(7, part, 0);
        for (Index l = 0; l < p; ++l) {
          s_v[l] += piece[std::size_t(ProductPiece::sums + l)] = random_scalar<T>(8, part, l);
          s_w[l] += piece[std::size_t(ProductPiece::sums + k + l)] = random_scalar<T>(9, part, l);
          piece[std::size_t(ProductPiece::row(k) + l)] = v(next - top, l);
          piece[std::size_t(ProductPiece::row(k) + k + l)] = w(next - top, l);
        }
        for (Index i = 0; i < padded.rows(); ++i) piece[std::size_t(header + i)] = padded(i, 0);
        parts.push_back(upload(this->runtime(), piece));
      }
      ASSERT_TRUE(this->run([&](Sequence& s) {
        const Data* pointers[] = {&parts[0], &parts[1]};
        for (Index c = 0; c < count; ++c) insert_column_update<T>(s, 0, step, c, pointers, pieces);
      }));

      // The new v and w, and the next column.
      R v_a_v = real_part(v_y);
      for (Index l = 0; l < p; ++l) v_a_v -= 2 * real_part(conjugate(s_v[l]) * s_w[l]);
      for (Index i = 0; i < rows; ++i) {
        v(i, p) = i + top < next ? T(0) : i + top == next ? T(1) : factor * x(i, 0);
        T sum = y(i, 0);
        for (Index l = 0; l < p; ++l) sum -= v(i, l) * s_w[l] + w(i, l) * s_v[l];
        w(i, p) = i + top < next ? T(0) : tau * sum - v(i, p) * (R(std::norm(tau)) * v_a_v / 2);
      }
      const double tolerance = 10 * this->tolerance(k);
      auto memory = download_values<char>(pieces.scalars);
      const ScalarPiece<T> scalars(memory.data(), k);
      EXPECT_EQ(scalars.d[p], real_part(x(q - top, 0)));
      EXPECT_EQ(scalars.e[p], beta);
      EXPECT_EQ(scalars.tau[p], tau);
      Matrix<T> next_x(rows, 1);
      for (Index i = 0; i < rows && !step.last(); ++i) {
        next_x(i, 0) = panel(i, p + 1);
        for (Index l = 0; l <= p; ++l)
          next_x(i, 0) -= v(i, l) * conjugate(w(next - top, l)) + w(i, l) * conjugate(v(next - top, l));
      }
      for (Index c = 0; c < count; ++c) {
        const auto result = download<T>(pieces.v[std::size_t(c)]);
        const auto expected_v = problem.chunk(chunks, c, problem.spread(v.block(0, 0, rows, p + 1), 1));
        const auto expected_w = problem.chunk(chunks, c, problem.spread(w.block(0, 0, rows, p + 1), 1));
        const Index height = chunks.rows(c);
        EXPECT_LE(difference(result.block(0, 0, height, p + 1), expected_v), tolerance);
        EXPECT_LE(difference(result.block(0, k, height, p + 1), expected_w), tolerance);
        EXPECT_EQ(difference(result.block(0, 2 * k, height, p + 1), result.block(0, 0, height, p + 1)), 0);
        if (step.last()) continue;
        auto expected = this->column_piece(step, c, problem.spread(next_x, 1), step.next, step.after);
        const Index row = c == 0 && p + 2 < k ? p + 1 : 0;
        for (Index l = 0; l < row; ++l) {
          expected[std::size_t(ColumnPiece::row + l)] = v(next + 1 - top, l);
          expected[std::size_t(ColumnPiece::row + k + l)] = w(next + 1 - top, l);
        }
        EXPECT_LE(this->column_difference(step, download_values<T>(pieces.x[std::size_t(c)]), expected, row),
                  tolerance);
      }
    }
}

/// All columns of a panel and the following update. With Q from the single reflectors, Q^H A Q must
/// have the panel's d and e, zeros below them, and the trailing matrix in the groups.
TYPED_TEST(TridiagonalizePanelCodelets, WholePanel) {
  using T = TypeParam;
  const Index groups = 2, k = 5, count = 3;
  const WorkProblem<T> problem(order, tile_size, wanted, groups, 1);
  const auto chunks = problem.chunks(0, count);
  const Index height = problem.padded_order();
  PanelPieces pieces;
  pieces.scalars = Data::bytes(this->runtime(), ScalarPiece<T>::bytes(k));
  for (Index c = 0; c < count; ++c) {
    const Index rows = chunks.rows(c);
    pieces.x.push_back(Data::bytes(this->runtime(), sizeof(T) * std::size_t(ColumnPiece::header(k) + rows)));
    pieces.v.push_back(Data::matrix(this->runtime(), rows, 3 * k, sizeof(T)));
    pieces.p.push_back(Data::matrix(this->runtime(), rows, k, sizeof(T)));
  }
  std::vector<Data> tiles;
  for (Index g = 0; g < groups; ++g) {
    tiles.push_back(upload(this->runtime(), problem.group(g, problem.a)));
    pieces.y.push_back(
        Data::bytes(this->runtime(), sizeof(T) * std::size_t(ProductPiece::header(k) + height)));
    pieces.extracted.push_back(Data::matrix(this->runtime(), height, k, sizeof(T)));
  }
  const Data workspace = Data::scratch(this->runtime(), sizeof(T) * std::size_t(height));
  ASSERT_TRUE(this->run([&](Sequence& s) {
    for (Index g = 0; g < groups; ++g)
      s.insert(TridiagonalizeExtract<T>{.group = tiles[std::size_t(g)],
                                        .columns = pieces.extracted[std::size_t(g)],
                                        .tiles = &problem.tiles,
                                        .group_number = g,
                                        .column = 0,
                                        .count = k});
    for (Index p = 0; p < k; ++p) {
      const auto step = this->step(problem, chunks, 0, p, k);
      for (Index c = 0; c < count && p == 0; ++c) insert_panel_start<T>(s, 0, step, c, pieces);
      for (Index g = 0; g < groups; ++g) {
        // The first task has chunks 0 and 2, the second has chunk 1.
        const ProductWork work{.tiles = &problem.tiles,
                               .first_group = g,
                               .stride = groups,
                               .count = 1,
                               .first_inner = g,
                               .inner_stride = 2,
                               .inner = p == 0 ? 0 : 2 - g};
        const Data* own[] = {&tiles[std::size_t(g)]};
        insert_column_product<T>(s, 0, step, work, own, pieces, pieces.y[std::size_t(g)], workspace);
      }
      const Data* parts[] = {&pieces.y[0], &pieces.y[1]};
      for (Index c = 0; c < count; ++c) insert_column_update<T>(s, 0, step, c, parts, pieces);
    }
    const auto v = pointers_to(pieces.v);
    for (Index g = 0; g < groups; ++g)
      s.insert(TridiagonalizeUpdate<T>{.v = v,
                                       .group = tiles[std::size_t(g)],
                                       .tiles = &problem.tiles,
                                       .chunks = chunks,
                                       .group_number = g,
                                       .k = k,
                                       .first_column = 1});
  }));
  Matrix<T> padded(height, k);
  for (Index c = 0; c < count; ++c)
    padded.set_block(chunks.padded_begin(c), 0,
                     download<T>(pieces.v[std::size_t(c)]).block(0, 0, chunks.rows(c), k));
  auto memory = download_values<char>(pieces.scalars);
  const ScalarPiece<T> scalars(memory.data(), k);
  const auto q = product_of_reflectors(problem.compress(padded), scalars.tau);
  const auto reduced = multiply(Op::adjoint, q, Op::none, multiply(problem.a, q));
  const double tolerance = 5 * this->tolerance(order);
  for (Index j = 0; j < k; ++j)
    for (Index i = j; i < order; ++i)
      EXPECT_LE(std::abs(reduced(i, j) - (i == j       ? T(scalars.d[j])
                                          : i == j + 1 ? T(scalars.e[j])
                                                       : T(0))),
                tolerance);
  for (Index g = 0; g < groups; ++g) {
    const Index begin = problem.tiles.first_slot(g, 1) * problem.layout.w;
    const auto result = download<T>(tiles[std::size_t(g)]), expected = problem.group(g, reduced);
    EXPECT_LE(difference(result.block(0, begin, result.rows(), result.cols() - begin),
                         expected.block(0, begin, result.rows(), result.cols() - begin)),
              tolerance);
  }
}

}  // namespace
}  // namespace tessera::test
