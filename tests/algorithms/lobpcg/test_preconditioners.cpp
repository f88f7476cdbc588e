// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include <tests/codelets/sparse/diagonal_tiles.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/preconditioners.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::test {
namespace {

template <class Pair>
class Preconditioners : public RuntimeTest<typename Pair::T, true> {
 public:
  using V = typename Pair::V;
  using T = typename Pair::T;

  /// w = T r for the first `columns` columns. The vectors are four columns wider; the extra columns
  /// start as garbage and must become zero.
  template <class P>
  static Matrix<double> apply(P& preconditioner, const std::shared_ptr<const RowSegments>& segments,
                              const Matrix<double>& r) {
    Runtime& runtime = Preconditioners::runtime();
    const Index n = r.rows(), columns = r.cols(), width = columns + 4;
    BlockVectors<T> x(runtime, segments, width), w(runtime, segments, width);
    std::vector<T> rows(std::size_t(n * width), T(3));
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < columns; ++j) rows[std::size_t(i * width + j)] = T(r(i, j));
    x.set(rows.data(), width, width);
    const Status status =
        Preconditioners::run([&](Sequence& sequence) { preconditioner.apply(sequence, x, w, columns); });
    EXPECT_TRUE(status.ok()) << status.message();
    Matrix<double> result(n, columns);
    if (!status) return result;
    w.get(rows.data(), width, width);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width; ++j) {
        const T found = rows[std::size_t(i * width + j)];
        if (j < columns)
          result(i, j) = double(found);
        else
          EXPECT_EQ(found, T(0)) << "row " << i << ", column " << j;
      }
    return result;
  }
  template <class P>
  static void prepare(P& preconditioner, const std::vector<double>& values) {
    Preconditioners::run([&](Sequence& sequence) { preconditioner.prepare(sequence, values, 0); });
  }
  static Matrix<double> random_columns(Index rows, Index columns) {
    Matrix<double> r(rows, columns);
    for (Index j = 0; j < columns; ++j)
      for (Index i = 0; i < rows; ++i) r(i, j) = double(float(random_uniform(17, 2, i, j)));
    return r;
  }
};
TYPED_TEST_SUITE(Preconditioners, TypePairs);

/// Entries of the lower triangle.
struct Entries {
  std::vector<Index> rows, columns;
  std::vector<double> values;
  void add(Index row, Index column, double value) {
    rows.push_back(row);
    columns.push_back(column);
    values.push_back(value);
  }
  CoordinateRows matrix(Index order, std::vector<Index> tiles = {}) const {
    return CoordinateRows::from_coordinates(order, rows, columns, values, Uplo::lower, std::move(tiles));
  }
};

/// Tiles with coupling entries between them, which the preconditioners must ignore.
CoordinateRows coupled(const Tiles& tiles) {
  Entries entries;
  std::vector<Index> begins(tiles.begins.begin(), tiles.begins.end());
  for (std::size_t t = 0; t < tiles.dense.size(); ++t)
    for (Index i = 0; i < tiles.dense[t].rows(); ++i) {
      for (Index j = 0; j <= i; ++j)
        if (tiles.dense[t](i, j) != 0) entries.add(begins[t] + i, begins[t] + j, tiles.dense[t](i, j));
      for (Index j = 0; j < begins[t]; j += 5) entries.add(begins[t] + i, j, 0.25);
    }
  return entries.matrix(begins.back(), begins);
}

TYPED_TEST(Preconditioners, FomSolvesTheDiagonalTiles) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const Tiles tiles = random_tiles({1, 4, 9, 1, 1, 7, 10, 2, 8, 6, 3, 10, 1, 5}, 0.8, 3, 8);
  const CoordinateRows rows = coupled(tiles);
  for (const Index groups : {1, 3}) {
    const auto a = CsbMatrix<V, T>::build(this->runtime(), rows, {.groups = groups, .segments = 2});
    FomPreconditioner<V, T> fom(this->runtime(), a, {.steps = 10});
    this->prepare(fom, {1.5, 1.75, 1.625});
    const double shift = fom.shift();
    EXPECT_DOUBLE_EQ(shift, 1.25) << "the spread, 0.25, below 1.5";
    const Matrix<double> r = this->random_columns(tiles.rows(), 6), w = this->apply(fom, a.segments(), r);
    for (std::size_t t = 0; t < tiles.dense.size(); ++t)
      for (Index j = 0; j < 6; ++j) {
        std::vector<double> right;
        for (Index i = tiles.begins[t]; i < Index(tiles.begins[t + 1]); ++i) right.push_back(r(i, j));
        const std::vector<double> exact = solve_shifted(tiles.dense[t], shift, right);
        for (std::size_t i = 0; i < exact.size(); ++i)
          EXPECT_NEAR(w(Index(tiles.begins[t] + i), j), exact[i], 1e3 * precision<T>) << "tile " << t;
      }
    // With another number of columns and few steps, each step must come closer to the solution.
    double before = HUGE_VAL;
    for (const int steps : {1, 2, 4, 6}) {
      FomPreconditioner<V, T> few(this->runtime(), a, {.steps = steps, .shift = shift});
      const Matrix<double> near = this->apply(few, a.segments(), r);
      double squares = 0;
      for (Index i = 0; i < tiles.rows(); ++i)
        for (Index j = 0; j < 6; ++j) squares += std::pow(near(i, j) - w(i, j), 2);
      EXPECT_LT(squares, 0.5 * before) << steps;
      before = squares;
    }
  }
}

/// The expected end of the spectrum sets the shift until the Ritz values have passed the Ritz value
/// that was given with it.
TYPED_TEST(Preconditioners, ShiftBeginsWhereTheEndIsExpected) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const CoordinateRows rows = coupled(random_tiles({1, 4, 9, 1, 1, 7, 10, 2}, 0.8, 3, 8));
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows);
  for (const double sign : {1.0, -1.0}) {
    FomPreconditioner<V, T> fom(this->runtime(), a,
                                {.end = sign > 0 ? EigenEnd::smallest : EigenEnd::largest, .b_norm = 4});
    EXPECT_TRUE(fom.asks_for_the_end());
    const auto prepare = [&](double outermost) {
      this->prepare(fom, {sign * outermost, sign * (outermost + 50)});
    };
    fom.expect(sign * -100, 3);
    prepare(-20);
    EXPECT_DOUBLE_EQ(fom.shift(), sign * (4 * -100 - 3)) << "instead of -280";
    EXPECT_FALSE(fom.asks_for_the_end()) << "in another solve";
    prepare(-75);
    EXPECT_DOUBLE_EQ(fom.shift(), sign * 4 * (-75 - 50)) << "further out";
    prepare(-101);
    EXPECT_DOUBLE_EQ(fom.shift(), sign * 4 * (-101 - 50));
    this->prepare(fom, {sign * -101, sign * -100.5});
    EXPECT_DOUBLE_EQ(fom.shift(), sign * 4 * (-101 - 0.5)) << "-400 has been passed";
  }
  FomPreconditioner<V, T> given(this->runtime(), a, {.shift = -1});
  EXPECT_FALSE(given.asks_for_the_end());
}

TYPED_TEST(Preconditioners, JacobiDividesByTheDiagonal) {
  using T = typename TestFixture::T;
  const std::vector<double> diagonal{1, 2, 4, 8, 3, 3, 5, 9, 1.5};
  const auto segments = RowSegments::even(this->runtime(), 9, 4);
  const Matrix<double> r = this->random_columns(9, 3);
  const auto expect = [&](JacobiPreconditioner<T>& jacobi, const std::vector<double>& divisors) {
    const Matrix<double> w = this->apply(jacobi, segments, r);
    for (Index i = 0; i < 9; ++i)
      for (Index j = 0; j < 3; ++j)
        EXPECT_NEAR(w(i, j), r(i, j) / divisors[std::size_t(i)], 4 * precision<T> * std::abs(w(i, j))) << i;
  };
  const auto minus = [&](double shift) {
    std::vector<double> divisors = diagonal;
    for (double& d : divisors) d -= shift;
    return divisors;
  };
  JacobiPreconditioner<T> given(this->runtime(), segments, diagonal, {.shift = 2.5});
  expect(given, minus(2.5));
  // A zero divisor is replaced by 1/1000 of the largest divisor.
  JacobiPreconditioner<T> singular(this->runtime(), segments, diagonal, {.shift = 3});
  std::vector<double> divisors = minus(3);
  divisors[4] = divisors[5] = 6e-3;
  expect(singular, divisors);
  JacobiPreconditioner<T> smallest(this->runtime(), segments, diagonal);
  this->prepare(smallest, {0.5, 0.52});
  EXPECT_DOUBLE_EQ(smallest.shift(), 0.5 - 8. / 100) << "of the diagonal's range";
  expect(smallest, minus(0.42));
  this->prepare(smallest, {0.75, 1.25});
  EXPECT_DOUBLE_EQ(smallest.shift(), 0.5 - 0.5) << "the outermost value ever seen";
  JacobiPreconditioner<T> largest(this->runtime(), segments, diagonal, {.end = EigenEnd::largest});
  this->prepare(largest, {10, 9.5});
  EXPECT_DOUBLE_EQ(largest.shift(), 10.5);
  expect(largest, minus(10.5));
  // The Ritz value lies inside the range of the diagonal. Divisors with the wrong sign become small
  // ones with the right sign.
  this->prepare(smallest, {});
  JacobiPreconditioner<T> early(this->runtime(), segments, diagonal);
  this->prepare(early, {3});
  divisors = minus(3 - 0.08);
  for (std::size_t i : {0, 1, 8}) divisors[i] = 1e-3 * (9 - 2.92);
  expect(early, divisors);
}

/// On an eigenvector of A the polynomial is a number: 1 - (lambda - shift) p(lambda) = t(lambda) /
/// t(shift) with t(x) = T_{degree + 1}((middle - x) / half).
TYPED_TEST(Preconditioners, ChebyshevIsTheBestPolynomial) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const Index n = 30;
  Entries entries;
  for (Index i = 0; i < n; ++i) {
    entries.add(i, i, 2);
    if (i > 0) entries.add(i, i - 1, -1);
  }
  const auto a = CsbMatrix<V, T>::build(this->runtime(), entries.matrix(n), {.tile_rows = 7});
  EXPECT_NEAR(a.norm_bound(), 4, 1e-6);
  Matrix<double> vectors(n, n);
  std::vector<double> lambda;
  for (Index k = 0; k < n; ++k) {
    const double angle = std::numbers::pi * double(k + 1) / double(n + 1);
    lambda.push_back(2 - 2 * std::cos(angle));
    for (Index i = 0; i < n; ++i) vectors(i, k) = std::sin(angle * double(i + 1));
  }
  const auto first = vectors.block(0, 0, n, 28);
  const auto expect = [&](ChebyshevPreconditioner<T>& chebyshev, int degree, double low, double high) {
    const Matrix<double> w = this->apply(chebyshev, a.segments(), first);
    const double shift = chebyshev.shift(), middle = (low + high) / 2, half = (high - low) / 2;
    const auto t = [&](double x) {  // the recurrence also holds outside [-1, 1]
      const double s = (middle - x) / half;
      double before = 1, now = s;
      for (int k = 1; k < degree + 1; ++k) before = std::exchange(now, 2 * s * now - before);
      return now;
    };
    for (Index k = 0; k < 28; ++k) {
      const double p = (1 - t(lambda[std::size_t(k)]) / t(shift)) / (lambda[std::size_t(k)] - shift);
      for (Index i = 0; i < n; ++i)
        EXPECT_NEAR(w(i, k), p * vectors(i, k), 200 * precision<T> * std::abs(p) + 20 * precision<T>)
            << "degree " << degree << ", vector " << k;
    }
  };
  for (const int degree : {1, 2, 5, 12}) {
    ChebyshevPreconditioner<T> given(this->runtime(), a,
                                     {.degree = degree, .shift = -0.5, .interval = std::pair(0.25, 4.0)});
    expect(given, degree, 0.25, 4);
    EXPECT_EQ(given.multiplications(), degree);
    EXPECT_EQ(given.columns_multiplied(), 28 * degree);
    ChebyshevPreconditioner<T> smallest(this->runtime(), a, {.degree = degree});
    this->prepare(smallest, {0.1, 0.2, 0.5});
    EXPECT_DOUBLE_EQ(smallest.shift(), 0.1 - 0.4);
    expect(smallest, degree, 0.5, a.norm_bound());
    ChebyshevPreconditioner<T> largest(this->runtime(), a, {.end = EigenEnd::largest, .degree = degree});
    this->prepare(largest, {3.75, 3.5, 3.25});
    EXPECT_DOUBLE_EQ(largest.shift(), 3.75 + 0.5);
    expect(largest, degree, -a.norm_bound(), 3.25);
  }
}

TYPED_TEST(Preconditioners, CallsTheUsers) {
  using T = typename TestFixture::T;
  const auto segments = RowSegments::even(this->runtime(), 23, 5);
  const Matrix<double> r = this->random_columns(23, 4);
  std::atomic<Index> rows_seen = 0, prepared = 0;
  UserPreconditioner<T> user(
      [&](Index first_row, Index rows, Index columns, const T* x, Index ldx, T* w, Index ldw) {
        rows_seen += rows;
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < columns; ++j) w[i * ldw + j] = T(first_row + i) * x[i * ldx + j];
      },
      [&](std::span<const double> values, Index converged) {
        prepared = static_cast<Index>(values.size()) + converged;
      });
  this->prepare(user, {1, 2, 3});
  EXPECT_EQ(prepared, 3);
  const Matrix<double> w = this->apply(user, segments, r);
  EXPECT_EQ(rows_seen, 23);
  for (Index i = 0; i < 23; ++i)
    for (Index j = 0; j < 4; ++j)
      EXPECT_NEAR(w(i, j), double(i) * r(i, j), 2 * precision<T> * std::abs(w(i, j)));
  UserPreconditioner<T> throws(
      [](Index, Index, Index, const T*, Index, T*, Index) { throw std::runtime_error("no"); });
  EXPECT_THROW(this->apply(throws, segments, r), std::runtime_error);
  expect_refused("rows", [&] { UserPreconditioner<T> empty({}); });
  // A function for GPUs is set as well. Without GPUs the host function must be called.
  const DevicePreconditionRows<T> device = [](Index, Index, Index, const T*, Index, T*, Index, void*) {};
  UserPreconditioner<T> both(this->runtime(), device,
                             [](Index, Index rows, Index columns, const T* x, Index ldx, T* y, Index ldy) {
                               for (Index i = 0; i < rows; ++i)
                                 for (Index j = 0; j < columns; ++j) y[i * ldy + j] = 2 * x[i * ldx + j];
                             });
  const Matrix<double> twice = this->apply(both, segments, r);
  for (Index i = 0; i < 23; ++i) EXPECT_EQ(twice(i, 1), 2 * double(T(r(i, 1))));
  expect_refused("rows", [&] { UserPreconditioner<T> only_device(this->runtime(), device, {}); });
  expect_refused("rows", [&] { UserPreconditioner<T> none(this->runtime(), {}, {}); });
}

/// A shift beyond the interval, which Ritz values may cause, must give a finite, definite
/// polynomial.
TYPED_TEST(Preconditioners, ChebyshevWithAShiftBeyondItsInterval) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  const Index n = 12;
  Entries entries;
  for (Index i = 0; i < n; ++i) entries.add(i, i, double(i + 1) / double(n));
  const auto a = CsbMatrix<V, T>::build(this->runtime(), entries.matrix(n));
  Matrix<double> r(n, 1);
  for (Index i = 0; i < n; ++i) r(i, 0) = 1;
  for (const EigenEnd end : {EigenEnd::smallest, EigenEnd::largest})
    for (const bool given : {false, true})
      for (const double scale : {1e-3, 1.0, 50.0, 1e6}) {
        const double sign = end == EigenEnd::smallest ? 1 : -1;
        ChebyshevOptions options{.end = end, .degree = 3, .b_norm = scale};
        if (given) options.interval = std::pair(0.0625, 1.0);
        ChebyshevPreconditioner<T> chebyshev(this->runtime(), a, options);
        for (const double theta : {sign, sign * 0.5}) {
          this->prepare(chebyshev, {theta, theta * (1 + 1e-3)});
          const Matrix<double> w = this->apply(chebyshev, a.segments(), r);
          for (Index i = 0; i < n; ++i) {
            EXPECT_TRUE(std::isfinite(w(i, 0)) && sign * w(i, 0) > 0)
                << w(i, 0) << ", row " << i << ", b_norm " << scale << ", sign " << sign << ", given "
                << given;
          }
        }
      }
}

TYPED_TEST(Preconditioners, BadArguments) {
  using V = typename TestFixture::V;
  using T = typename TestFixture::T;
  Runtime& runtime = this->runtime();
  const Tiles tiles = random_tiles({4, 5}, 1, 2, 1);
  const auto a = CsbMatrix<V, T>::build(runtime, coupled(tiles));
  const auto segments = RowSegments::even(runtime, 9, 2);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_refused("steps", [&] { FomPreconditioner<V, T> bad(runtime, a, {.steps = 0}); });
  expect_refused("steps", [&] { FomPreconditioner<V, T> bad(runtime, a, {.steps = 33}); });
  expect_refused("shift", [&] { FomPreconditioner<V, T> bad(runtime, a, {.shift = nan}); });
  expect_refused("diagonal",
                 [&] { JacobiPreconditioner<T> bad(runtime, segments, std::vector<double>(8, 1.0)); });
  expect_refused("diagonal",
                 [&] { JacobiPreconditioner<T> bad(runtime, segments, std::vector<double>(9, nan)); });
  expect_refused("degree", [&] { ChebyshevPreconditioner<T> bad(runtime, a, {.degree = 0}); });
  expect_refused("interval",
                 [&] { ChebyshevPreconditioner<T> bad(runtime, a, {.interval = std::pair(2., 1.)}); });
  expect_refused("shift", [&] {
    ChebyshevPreconditioner<T> bad(runtime, a, {.shift = 1.5, .interval = std::pair(1., 2.)});
  });
  expect_refused("shift",
                 [&] { ChebyshevPreconditioner<T> bad(runtime, a, {.shift = 1.01 * a.norm_bound()}); });
  for (const double norm : {0.0, -1.0, nan, HUGE_VAL}) {
    expect_refused("b_norm", [&] { FomPreconditioner<V, T> bad(runtime, a, {.b_norm = norm}); });
    expect_refused("b_norm", [&] { ChebyshevPreconditioner<T> bad(runtime, a, {.b_norm = norm}); });
    expect_refused("b_norm", [&] {
      JacobiPreconditioner<T> bad(runtime, segments, std::vector<double>(9, 1.0), {.b_norm = norm});
    });
  }
  FomPreconditioner<V, T> fom(runtime, a);
  const BlockVectors<T> r(runtime, a.segments(), 2), w(runtime, a.segments(), 2), other(runtime, segments, 3);
  Sequence sequence(runtime);
  expect_refused("shift", [&] { fom.apply(sequence, r, w, 2); });
  const double values[]{1, 2};
  fom.prepare(sequence, values, 0);
  expect_refused("columns", [&] { fom.apply(sequence, r, w, 3); });
  expect_refused("columns", [&] { fom.apply(sequence, r, w, 0); });
  if (a.segments()->count() != segments->count())
    expect_refused("vectors", [&] { fom.apply(sequence, r, other, 2); });
}

}  // namespace
}  // namespace tessera::test
