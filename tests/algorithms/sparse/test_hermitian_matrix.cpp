// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <tests/algorithms/matgen/sparse_rows_checks.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/hermitian_rows.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/symmetric_rows.hpp>
#include <tests/support/temporary_file.hpp>

#include <tessera/saved_rows.hpp>
#include <tessera/sparse_matrix.hpp>

/// Complex Hermitian matrices, stored as halves and by rows: Gaussian integers, whose products are exact.
namespace tessera::test {
namespace {

using Number = HermitianLists::Number;
using List = HermitianLists::List;

template <class P>
using HermitianMatrix = RuntimeTest<P>;
TYPED_TEST_SUITE(HermitianMatrix, ComplexPairs);

TYPED_TEST(HermitianMatrix, ProductsOfHalves) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  std::vector<Index> tiles{0, 30, 31, 100, 230};
  for (const HermitianLists& rows :
       {HermitianLists({List{{0, 3.0}}}), HermitianLists({List{}}),
        HermitianLists({List{}, List{{0, {1, 2}}}}), random_hermitian_rows(230, 6, 1),
        random_hermitian_rows(230, 9, 2, tiles), random_hermitian_rows(90, 60, 3, {}, false)})
    for (const CsbOptions& options : {CsbOptions{}, CsbOptions{.groups = 3, .segments = 2, .tile_rows = 7},
                                      CsbOptions{.groups = 2, .piece_bytes = 2000}}) {
      SCOPED_TRACE(fmt::format("order {} groups {}", rows.order(), options.groups));
      const auto a = CsbMatrix<V, T>::build(this->runtime(), rows, options);
      EXPECT_EQ(a.order(), rows.order());
      EXPECT_EQ(a.stored_entries(), rows.stored());
      EXPECT_NEAR(a.norm_bound(), rows.norm(), 1e-6 * rows.norm());
      const Matrix<Number> dense = rows.dense();
      const std::vector<double> diagonal = a.diagonal();
      for (Index i = 0; i < rows.order(); ++i)
        EXPECT_EQ(diagonal[static_cast<std::size_t>(i)], dense(i, i).real());
      for (const Index m : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 21, 32})
        for (const Index wider : {0, 3}) {
          if (m + 2 * wider > 32) continue;
          const std::vector<Number> x = complex_block(rows.order(), m, 3);
          expect_equal(complex_product<T>(this->runtime(), a, x, m, wider), times(dense, x, m));
        }
    }
}

/// Cells with long runs and large pieces, all columns at once.
TYPED_TEST(HermitianMatrix, ManyEntries) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const HermitianLists rows = random_hermitian_rows(700, 300, 5);
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows);
  for (const Index m : {6, 32}) {
    const std::vector<Number> x = complex_block(rows.order(), m, 8);
    expect_equal(complex_product<T>(this->runtime(), a, x, m), times(rows.dense(), x, m));
  }
}

TYPED_TEST(HermitianMatrix, ProductsByRows) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const HermitianLists rows = random_hermitian_rows(150, 5, 4);
  const Matrix<Number> dense = rows.dense();
  std::vector<Index> begins{0}, columns;
  std::vector<Number> values;
  for (Index i = 0; i < rows.order(); ++i) {
    for (Index j = 0; j < rows.order(); ++j)
      if (dense(i, j) != 0.0) columns.push_back(j), values.push_back(dense(i, j));
    begins.push_back(static_cast<Index>(columns.size()));
  }
  for (const Index segments : {0, 1, 4}) {
    const auto a = CsrMatrix<V, T>::build(this->runtime(), {begins, columns, {}, values}, segments);
    EXPECT_NEAR(a.norm_bound(), rows.norm(), 1e-6 * rows.norm());
    for (const Index m : {1, 4, 8, 11, 32}) {
      const std::vector<Number> x = complex_block(rows.order(), m, 4);
      expect_equal(complex_product<T>(this->runtime(), a, x, m, m < 30 ? 1 : 0), times(dense, x, m));
    }
  }
  std::vector<Number> imaginary = values;
  imaginary[0] = {1, 1};
  ASSERT_EQ(columns[0], 0);
  expect_refused("complex_values", [&] {
    (void)CsrMatrix<V, T>::build(this->runtime(), {begins, columns, {}, imaginary});
  });
  expect_refused("complex_values", [&] {
    (void)CsrMatrix<RealOf<V>, RealOf<T>>::build(this->runtime(), {begins, columns, {}, values});
  });
  std::vector<double> real(columns.size(), 1.0);
  expect_refused("values", [&] {
    (void)CsrMatrix<V, T>::build(this->runtime(), {begins, columns, real, values});
  });
  const auto widened = CsrMatrix<V, T>::build(this->runtime(), {begins, columns, real});
  EXPECT_EQ(widened.order(), rows.order());
}

/// Symmetric rows in complex numbers: B of a complex A.
TYPED_TEST(HermitianMatrix, SymmetricRowsAreHermitian) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const ListRows rows = random_rows(120, 4, 6);
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows);
  Matrix<Number> dense(rows.order(), rows.order());
  for (Index i = 0; i < rows.order(); ++i)
    for (const auto& [j, value] : rows.lists()[static_cast<std::size_t>(i)])
      dense(i, j) = dense(j, i) = value;
  const std::vector<Number> x = complex_block(rows.order(), 5, 8);
  expect_equal(complex_product<T>(this->runtime(), a, x, 5), times(dense, x, 5));
}

TYPED_TEST(HermitianMatrix, SavedAndLoaded) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const HermitianLists rows = random_hermitian_rows(230, 9, 2, {0, 40, 100, 230});
  const auto a = CsbMatrix<V, T>::build(this->runtime(), rows, {.groups = 3});
  const TemporaryFile file(this->runtime(), ".h5");
  EXPECT_EQ(a.save(file.path()), double(rows.stored()) * (sizeof(V) + 4));
  const SavedRows saved = SavedRows::open(file.path());
  EXPECT_TRUE(saved.hermitian());
  EXPECT_EQ(saved.value_bytes(), int(sizeof(V)));
  std::vector<SparseEntry> none;
  expect_refused("rows", [&] { saved.entries(0, 1, 0, 1, none); });
  const std::vector<Number> x = complex_block(rows.order(), 6, 8), expected = times(rows.dense(), x, 6);
  for (const CsbOptions& options : {CsbOptions{.groups = 3}, CsbOptions{.groups = 2, .tile_rows = 9}}) {
    const auto again = CsbMatrix<V, T>::load(this->runtime(), file.path(), options);
    EXPECT_EQ(again.stored_entries(), a.stored_entries());
    expect_equal(complex_product<T>(this->runtime(), again, x, 6), expected);
  }
  using Other = std::complex<float>;
  const auto rounded = CsbMatrix<Other, Other>::load(this->runtime(), file.path());
  expect_equal(complex_product<Other>(this->runtime(), rounded, x, 6), expected);
  expect_refused("rows", [&] { (void)CsbMatrix<double, double>::load(this->runtime(), file.path()); });
}

TYPED_TEST(HermitianMatrix, BadEntries) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const auto& bad :
       {List{{1, {2, 0.5}}}, List{{0, {1, infinity}}}, List{{0, {nan, 0}}}, List{{0, {1, 1}}, {0, {1, 1}}}})
    expect_refused("rows", [&] {
      (void)CsbMatrix<V, T>::build(this->runtime(), HermitianLists({List{{0, 1.0}}, bad}));
    });
  expect_refused("rows", [&] {
    (void)CsbMatrix<RealOf<V>, RealOf<T>>::build(this->runtime(), HermitianLists({List{{0, 1.0}}}));
  });
}

/// A saved real matrix in complex numbers.
TEST(HermitianFiles, RealMatricesInComplexNumbers) {
  Runtime runtime({.cores = 2});
  const ListRows rows = random_rows(120, 4, 6);
  const TemporaryFile file(runtime, ".h5");
  CsbMatrix<float, float>::build(runtime, rows).save(file.path());
  EXPECT_FALSE(SavedRows::open(file.path()).hermitian());
  const auto a = CsbMatrix<Number, Number>::load(runtime, file.path());
  const std::vector<double> diagonal = a.diagonal();
  std::vector<Number> x(120, 1.0), y = complex_product<Number>(runtime, a, x, 1);
  const std::vector<double> expected = rows.multiply(std::vector<double>(120, 1.0), 1);
  expect_equal(y, {expected.begin(), expected.end()});
}

using Entries = std::vector<Number>;

/// All entries of the lower triangle, row-major, in a matrix.
Matrix<Number> lower_of(const SymmetricRows& rows) {
  Matrix<Number> a(rows.order(), rows.order());
  std::vector<ComplexSparseEntry> out;
  rows.complex_entries(0, rows.order(), 0, rows.order(), out);
  for (const ComplexSparseEntry& entry : out) a(entry.row, entry.column) += entry.value;
  return a;
}

TEST(HermitianCoordinates, OfEitherTriangleOrBoth) {
  const Matrix<Number> whole = random_hermitian_rows(9, 5, 7).dense();
  for (const Uplo triangle : {Uplo::lower, Uplo::upper, Uplo::general}) {
    std::vector<Index> rows, columns, begins{0};
    Entries values;
    for (Index i = 0; i < 9; ++i) {
      for (Index j = 0; j < 9; ++j) {
        if ((triangle == Uplo::lower && j > i) || (triangle == Uplo::upper && j < i) || whole(i, j) == 0.0)
          continue;
        rows.push_back(i), columns.push_back(j), values.push_back(whole(i, j));
      }
      begins.push_back(static_cast<Index>(columns.size()));
    }
    for (const CoordinateRows& made :
         {CoordinateRows::from_coordinates(9, rows, columns, std::span<const Number>(values), triangle),
          CoordinateRows::from_compressed_rows(9, begins, columns, std::span<const Number>(values),
                                               triangle)}) {
      EXPECT_TRUE(made.hermitian());
      const Matrix<Number> found = lower_of(made);
      for (Index i = 0; i < 9; ++i)
        for (Index j = 0; j < 9; ++j) EXPECT_EQ(found(i, j), j <= i ? whole(i, j) : Number(0));
      std::vector<SparseEntry> none;
      expect_refused("rows", [&] { made.entries(0, 9, 0, 9, none); });
    }
  }
}

TEST(HermitianCoordinates, BadArraysAreRefused) {
  const auto refused = [](std::vector<Index> rows, std::vector<Index> columns, Entries values,
                          Uplo triangle) {
    expect_refused("entries", [&] {
      (void)CoordinateRows::from_coordinates(3, rows, columns, std::span<const Number>(values), triangle);
    });
  };
  refused({1}, {1}, {{1, 1e-3}}, Uplo::lower);                    // a diagonal that is not real
  refused({1, 0}, {0, 1}, {{1, 2}, {1, 2}}, Uplo::general);       // symmetric, not Hermitian
  refused({1, 0}, {0, 1}, {{1, 2}, {1, -2.001}}, Uplo::general);  // nearly Hermitian
  refused({1}, {0}, {{0, 2}}, Uplo::general);                     // one of two
  refused({1}, {0}, {{0, std::nan("")}}, Uplo::lower);
}

void expect_file_error(const std::string& text, const std::string& reason, Index line = 0) {
  const TextFile file("rows.mtx", text);
  expect_input_error([&] { (void)CoordinateRows::from_matrix_market(file.path()); }, file.path(), line,
                     reason);
}

TEST(HermitianCoordinates, MatrixMarketFiles) {
  const std::string head = "%%MatrixMarket matrix coordinate complex ";
  for (const std::string text :
       {"hermitian\n3 3 4\n1 1 2 0\n2 1 0 1\n3 2 1 -1\n3 3 5 0\n",
        "general\n3 3 6\n1 1 2 0\n2 1 0 1\n1 2 0 -1\n3 2 1 -1\n2 3 1 1\n3 3 5 0\n"}) {
    const TextFile file("rows.mtx", head + text);
    const CoordinateRows made = CoordinateRows::from_matrix_market(file.path());
    EXPECT_TRUE(made.hermitian());
    const Matrix<Number> a = lower_of(made);
    EXPECT_EQ(a(0, 0), Number(2));
    EXPECT_EQ(a(1, 0), Number(0, 1));
    EXPECT_EQ(a(2, 1), Number(1, -1));
    EXPECT_EQ(a(2, 2), Number(5));
    EXPECT_EQ(made.stored_entries(), 4);
  }
  expect_file_error(head + "hermitian\n2 2 2\n1 1 2 0.5\n2 1 0 1\n", "is not real", 3);
  expect_file_error(head + "general\n1 1 1\n1 1 2 0.5\n", "a real diagonal, at row 1, column 1");
  expect_file_error(head + "symmetric\n2 2 2\n1 1 2 0\n2 1 0 1\n", "a Hermitian matrix");
  expect_file_error(head + "general\n2 2 2\n1 2 2 1\n2 1 2 1\n", "a Hermitian matrix");
}

}  // namespace
}  // namespace tessera::test
