// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/sparse_matrix.hpp>

namespace tessera::test {

/// Hermitian rows from lists of (column, value), column <= row, in any order.
class HermitianLists final : public HermitianRows {
 public:
  using Number = std::complex<double>;
  using List = std::vector<std::pair<Index, Number>>;
  explicit HermitianLists(std::vector<List> rows, std::vector<Index> tiles = {})
      : rows_(std::move(rows)), tiles_(std::move(tiles)) {}
  Index order() const override { return static_cast<Index>(rows_.size()); }
  std::span<const Index> tiles() const override { return tiles_; }
  void complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                       std::vector<ComplexSparseEntry>& out) const override {
    for (Index row = first_row; row < end_row; ++row)
      for (const auto& [column, value] : rows_[static_cast<std::size_t>(row)])
        if (column >= first_column && column < end_column)
          out.push_back({static_cast<std::uint32_t>(row - first_row),
                         static_cast<std::uint32_t>(column - first_column), value});
  }
  const std::vector<List>& lists() const { return rows_; }

  Index stored() const {
    Index sum = 0;
    for (const List& row : rows_) sum += static_cast<Index>(row.size());
    return sum;
  }
  /// Both triangles.
  Matrix<Number> dense() const {
    Matrix<Number> a(order(), order());
    for (Index row = 0; row < order(); ++row)
      for (const auto& [column, value] : rows_[static_cast<std::size_t>(row)]) {
        a(row, column) = value;
        a(column, row) = std::conj(value);
      }
    return a;
  }
  /// The largest sum of magnitudes of a row.
  double norm() const {
    const Matrix<Number> a = dense();
    double norm = 0;
    for (Index i = 0; i < order(); ++i) {
      double sum = 0;
      for (Index j = 0; j < order(); ++j) sum += std::abs(a(i, j));
      norm = std::max(norm, sum);
    }
    return norm;
  }

 private:
  std::vector<List> rows_;
  std::vector<Index> tiles_;
};

/// Gaussian integers with some entries in each row, in no order.
inline HermitianLists random_hermitian_rows(Index n, Index of_row, std::uint64_t seed,
                                            std::vector<Index> tiles = {}, bool diagonal = true) {
  const auto integer = [&](std::uint64_t stream, Index i, Index j) {
    return std::floor(8 * random_uniform(seed, stream, i, j));
  };
  std::vector<HermitianLists::List> rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    if (diagonal) row.emplace_back(i, integer(0, i, i));
    std::vector<bool> there(static_cast<std::size_t>(i));
    for (Index k = 0; k < of_row && i > 0; ++k) {
      const Index j = static_cast<Index>((random_uniform(seed, 3, i, k) + 1) / 2 * double(i)) % i;
      if (there[static_cast<std::size_t>(j)]) continue;
      there[static_cast<std::size_t>(j)] = true;
      row.emplace_back(j, HermitianLists::Number(integer(1, i, j), integer(2, i, j)));
    }
  }
  return HermitianLists(std::move(rows), std::move(tiles));
}

/// Gaussian integers, row-major.
inline std::vector<std::complex<double>> complex_block(Index rows, Index columns, std::uint64_t seed) {
  std::vector<std::complex<double>> x(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto part = [&](Index k) {
      return std::floor(8 * random_uniform(seed, 9, static_cast<Index>(i), k));
    };
    x[i] = {part(0), part(1)};
  }
  return x;
}

/// A times a row-major block.
inline std::vector<std::complex<double>> times(const Matrix<std::complex<double>>& a,
                                               const std::vector<std::complex<double>>& x, Index columns) {
  std::vector<std::complex<double>> y(x.size());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index k = 0; k < a.cols(); ++k)
      for (Index j = 0; j < columns; ++j)
        y[static_cast<std::size_t>(i * columns + j)] +=
            a(i, k) * x[static_cast<std::size_t>(k * columns + j)];
  return y;
}

/// y := A x, x and y with `wider` more columns; y holds NaN before.
template <class T>
std::vector<T> complex_product(Runtime& runtime, const SymmetricOperator<T>& a,
                               const std::vector<std::complex<double>>& x, Index columns, Index wider = 0) {
  std::vector<T> from, result(x.size(), not_a_number<T>());
  for (const auto& element : x) from.push_back(T(element));
  const BlockVectors<T> in(runtime, a.segments(), columns + wider),
      out(runtime, a.segments(), columns + 2 * wider);
  in.set(from.data(), columns, columns);
  Sequence sequence(runtime);
  sequence.begin_stage("product");
  for (int time = 0; time < 2; ++time) a.apply(sequence, in, out, columns);
  EXPECT_TRUE(sequence.wait().ok());
  out.get(result.data(), columns, columns);
  std::vector<T> all(static_cast<std::size_t>(a.order() * out.width()));
  out.get(all.data(), out.width(), out.width());
  for (const T value : all) EXPECT_FALSE(std::isnan(value.real()) || std::isnan(value.imag()));
  return result;
}

template <class T>
void expect_equal(const std::vector<T>& found, const std::vector<std::complex<double>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    ASSERT_EQ(std::complex<double>(found[k]), expected[k]) << "element " << k;
}

template <class Values, class Vectors>
struct ComplexPair {
  using V = std::complex<Values>;
  using T = std::complex<Vectors>;
};
using ComplexPairs =
    ::testing::Types<ComplexPair<double, double>, ComplexPair<float, double>, ComplexPair<float, float>>;

}  // namespace tessera::test
