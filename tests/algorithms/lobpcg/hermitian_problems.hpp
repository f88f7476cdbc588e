// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/lobpcg.hpp>
#include <tessera/operators.hpp>

/// Complex Hermitian operators with known spectra, and checks of solutions, on plain arrays.
namespace tessera::test {

using Complex = std::complex<double>;

/// A Hermitian matrix stored by rows, both triangles, with entries (column, value).
struct HermitianEntries {
  std::vector<std::vector<std::pair<Index, Complex>>> rows;
  explicit HermitianEntries(Index n) : rows(static_cast<std::size_t>(n)) {}
  Index order() const { return static_cast<Index>(rows.size()); }
  void add(Index i, Index j, Complex value) {
    rows[static_cast<std::size_t>(i)].emplace_back(j, value);
    if (i != j) rows[static_cast<std::size_t>(j)].emplace_back(i, std::conj(value));
  }
  double norm() const {
    double norm = 0;
    for (const auto& row : rows) {
      double sum = 0;
      for (const auto& [j, value] : row) sum += std::abs(value);
      norm = std::max(norm, sum);
    }
    return norm;
  }
};

inline Matrix<Complex> dense(const HermitianEntries& a) {
  Matrix<Complex> all(a.order(), a.order());
  for (Index i = 0; i < a.order(); ++i)
    for (const auto& [j, value] : a.rows[std::size_t(i)]) all(i, j) += value;
  return all;
}

/// The ring with the magnetic flux phi through it: eigenvalues 2 - 2 cos((2 pi k + phi) / n).
inline HermitianEntries magnetic_ring(Index n, double phi) {
  HermitianEntries a(n);
  const Complex hop = -std::polar(1.0, phi / double(n));
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, 2);
    if (i > 0) a.add(i, i - 1, hop);
  }
  a.add(n - 1, 0, std::conj(hop));
  return a;
}
inline std::vector<double> ring_values(Index n, double phi) {
  std::vector<double> values;
  for (Index k = 0; k < n; ++k)
    values.push_back(2 - 2 * std::cos((2 * std::numbers::pi * double(k) + phi) / double(n)));
  std::sort(values.begin(), values.end());
  return values;
}

/// A random sparse matrix with some elements in each row, `near` columns before the diagonal.
inline HermitianEntries random_entries(Index n, double diagonal, std::uint64_t seed, Index near = 3) {
  HermitianEntries a(n);
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, diagonal + random_uniform(seed, 0, i, i));
    for (Index j = std::max<Index>(0, i - near); j < i; ++j)
      a.add(i, j, {random_uniform(seed, 0, i, j) / 4, random_uniform(seed, 1, i, j) / 4});
  }
  return a;
}

template <class T>
UserFunction<T> function_of(HermitianEntries a) {
  return [a = std::move(a)](Index first, Index end, Index columns, const T* x, Index ldx, T* y, Index ldy) {
    for (Index i = first; i < end; ++i, y += ldy)
      for (Index j = 0; j < columns; ++j) {
        Complex sum = 0;
        for (const auto& [k, value] : a.rows[static_cast<std::size_t>(i)])
          sum += value * Complex(x[k * ldx + j]);
        y[j] = T(sum);
      }
  };
}

template <class T>
UserOperator<T> operator_of(Runtime& runtime, const HermitianEntries& a, Index segments = 1) {
  return UserOperator<T>(runtime, RowSegments::even(runtime, a.order(), segments), function_of<T>(a),
                         a.norm());
}

template <class T>
std::vector<T> all_columns(const BlockVectors<T>& v, Index columns) {
  std::vector<T> values(static_cast<std::size_t>(v.rows() * columns));
  v.get(values.data(), columns, columns);
  return values;
}

/// Checks residuals and orthonormality of vectors, x(i, j) at i * count + j, with plain loops.
template <class T>
void expect_pairs(const std::vector<double>& values, const std::vector<double>& residuals,
                  const std::vector<T>& x, const HermitianEntries& a, const HermitianEntries* b,
                  double residual_gate, double orthogonality_gate) {
  const auto count = static_cast<Index>(values.size());
  const Index n = a.order();
  const auto at = [&](Index i, Index j) { return Complex(x[std::size_t(i * count + j)]); };
  const auto times = [&](const HermitianEntries& m, Index i, Index j) {
    Complex sum = 0;
    for (const auto& [k, value] : m.rows[std::size_t(i)]) sum += value * at(k, j);
    return sum;
  };
  std::vector<Complex> bx(std::size_t(n * count));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < count; ++j) bx[std::size_t(i * count + j)] = b ? times(*b, i, j) : at(i, j);
  for (Index j = 0; j < count; ++j) {
    double square = 0;
    for (Index i = 0; i < n; ++i)
      square += std::norm(times(a, i, j) - values[std::size_t(j)] * bx[std::size_t(i * count + j)]);
    EXPECT_LT(std::sqrt(square), residual_gate) << "residual of pair " << j;
    EXPECT_NEAR(std::sqrt(square), residuals[std::size_t(j)],
                0.01 * std::sqrt(square) + 100 * double(precision<T>) * a.norm())
        << "reported residual of pair " << j;
    for (Index k = 0; k < count; ++k) {
      Complex sum = 0;
      for (Index i = 0; i < n; ++i) sum += std::conj(at(i, k)) * bx[std::size_t(i * count + j)];
      EXPECT_NEAR(std::abs(sum - Complex(j == k)), 0, orthogonality_gate) << j << " " << k;
    }
  }
}
template <class T>
void expect_pairs(const LobpcgResult<T>& result, const HermitianEntries& a, const HermitianEntries* b,
                  double residual_gate, double orthogonality_gate) {
  expect_pairs(result.values, result.residuals,
               all_columns(result.vectors, static_cast<Index>(result.values.size())), a, b, residual_gate,
               orthogonality_gate);
}

inline void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double gate) {
  ASSERT_LE(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k)
    EXPECT_NEAR(found[k], expected[k], gate) << "eigenvalue " << k;
}

}  // namespace tessera::test
