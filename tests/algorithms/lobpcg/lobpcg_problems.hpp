// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/lobpcg.hpp>
#include <tessera/operators.hpp>

/// Operators with known spectra, and checks of solutions, on plain arrays.
namespace tessera::test {

/// A symmetric matrix stored by rows, with entries (column, value).
struct SparseRows {
  std::vector<std::vector<std::pair<Index, double>>> rows;
  explicit SparseRows(Index n) : rows(static_cast<std::size_t>(n)) {}
  Index order() const { return static_cast<Index>(rows.size()); }
  void add(Index i, Index j, double value) {
    rows[static_cast<std::size_t>(i)].emplace_back(j, value);
    if (i != j) rows[static_cast<std::size_t>(j)].emplace_back(i, value);
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

inline Matrix<double> dense(const SparseRows& a) {
  Matrix<double> all(a.order(), a.order());
  for (Index i = 0; i < a.order(); ++i)
    for (const auto& [j, value] : a.rows[std::size_t(i)]) all(i, j) += value;
  return all;
}

inline SparseRows diagonal(const std::vector<double>& values) {
  SparseRows a(static_cast<Index>(values.size()));
  for (Index i = 0; i < a.order(); ++i) a.add(i, i, values[static_cast<std::size_t>(i)]);
  return a;
}

/// 1-D Laplacian with eigenvalues 2 - 2 cos(k pi / (n + 1)).
inline SparseRows laplacian(Index n) {
  SparseRows a(n);
  for (Index i = 0; i < n; ++i) {
    a.add(i, i, 2);
    if (i > 0) a.add(i, i - 1, -1);
  }
  return a;
}
inline double laplacian_value(Index n, Index k) {
  const double s = std::sin(double(k) * std::numbers::pi / (2.0 * double(n + 1)));
  return 4 * s * s;
}
/// Element i (from 0) of the k-th normalized eigenvector of the 1-D Laplacian.
inline double laplacian_vector(Index n, Index i, Index k) {
  return std::sqrt(2.0 / double(n + 1)) * std::sin(double((i + 1) * k) * std::numbers::pi / double(n + 1));
}

/// Laplacian of an m x m grid. Its eigenvalues are sums of two eigenvalues of the 1-D Laplacian.
inline SparseRows grid_laplacian(Index m) {
  SparseRows a(m * m);
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < m; ++j) {
      a.add(i * m + j, i * m + j, 4);
      if (i > 0) a.add(i * m + j, (i - 1) * m + j, -1);
      if (j > 0) a.add(i * m + j, i * m + j - 1, -1);
    }
  return a;
}
inline std::vector<double> grid_values(Index m) {
  std::vector<double> values;
  for (Index i = 1; i <= m; ++i)
    for (Index j = 1; j <= m; ++j) values.push_back(laplacian_value(m, i) + laplacian_value(m, j));
  std::sort(values.begin(), values.end());
  return values;
}

/// Laplacian of a ring. It is singular on the constant vector; its eigenvalues 2 - 2 cos(2 pi k /
/// n) are mostly double.
inline SparseRows ring_laplacian(Index n) {
  SparseRows a = laplacian(n);
  a.add(n - 1, 0, -1);
  return a;
}

/// K x = lambda M x with eigenvalues k^2 (Mikota, Z. Angew. Math. Mech. 81 (2001) S201).
inline std::pair<SparseRows, SparseRows> mikota(Index n) {
  SparseRows k(n), m(n);
  for (Index i = 0; i < n; ++i) {
    k.add(i, i, 2.0 * double(n - i) - 1);
    if (i > 0) k.add(i, i - 1, -double(n - i));
    m.add(i, i, 1.0 / double(i + 1));
  }
  return {k, m};
}

template <class T>
UserFunction<T> function_of(SparseRows a) {
  return [a = std::move(a)](Index first, Index end, Index columns, const T* x, Index ldx, T* y, Index ldy) {
    for (Index i = first; i < end; ++i, y += ldy)
      for (Index j = 0; j < columns; ++j) {
        double sum = 0;
        for (const auto& [k, value] : a.rows[static_cast<std::size_t>(i)])
          sum += value * double(x[k * ldx + j]);
        y[j] = T(sum);
      }
  };
}

template <class T>
UserOperator<T> operator_of(Runtime& runtime, const SparseRows& a, Index segments = 1,
                            bool with_norm = true) {
  return UserOperator<T>(runtime, RowSegments::even(runtime, a.order(), segments), function_of<T>(a),
                         with_norm ? a.norm() : 0);
}

/// T r computed by a user function.
template <class T>
class UserPreconditioner final : public Preconditioner<T> {
 public:
  UserPreconditioner(Runtime& runtime, std::shared_ptr<const RowSegments> segments, UserFunction<T> function)
      : operator_(runtime, std::move(segments), std::move(function)) {}
  const char* name() const override { return "user"; }
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override {
    operator_.apply(sequence, r, w, columns);
  }

 private:
  UserOperator<T> operator_;
};

/// The exact inverse of a diagonally dominant tridiagonal matrix, times a factor.
template <class T>
UserFunction<T> tridiagonal_inverse(Index n, double diagonal, double off, double factor = 1) {
  return [=](Index first, Index end, Index columns, const T* x, Index ldx, T* y, Index ldy) {
    std::vector<double> pivot(static_cast<std::size_t>(n)), solution(static_cast<std::size_t>(n));
    pivot[0] = diagonal;
    for (std::size_t i = 1; i < pivot.size(); ++i) pivot[i] = diagonal - off * off / pivot[i - 1];
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < n; ++i)
        solution[std::size_t(i)] =
            double(x[i * ldx + j]) -
            (i > 0 ? off / pivot[std::size_t(i - 1)] * solution[std::size_t(i - 1)] : 0);
      for (Index i = n - 1; i >= 0; --i)
        solution[std::size_t(i)] =
            (solution[std::size_t(i)] - (i + 1 < n ? off * solution[std::size_t(i + 1)] : 0)) /
            pivot[std::size_t(i)];
      for (Index i = first; i < end; ++i) y[(i - first) * ldy + j] = T(factor * solution[std::size_t(i)]);
    }
  };
}

template <class T>
std::vector<T> columns_of(const BlockVectors<T>& v, Index columns) {
  std::vector<T> values(static_cast<std::size_t>(v.rows() * columns));
  v.get(values.data(), columns, columns);
  return values;
}

template <class T>
BlockVectors<T> vectors_of(Runtime& runtime, const std::shared_ptr<const RowSegments>& segments,
                           Index columns, const std::function<double(Index, Index)>& element) {
  BlockVectors<T> v(runtime, segments, columns);
  std::vector<T> values(static_cast<std::size_t>(v.rows() * columns));
  for (Index i = 0; i < v.rows(); ++i)
    for (Index j = 0; j < columns; ++j) values[std::size_t(i * columns + j)] = T(element(i, j));
  v.set(values.data(), columns, columns);
  return v;
}

/// Checks residuals and orthonormality of a solution with plain loops.
template <class T>
void expect_eigenpairs(const LobpcgResult<T>& result, const SparseRows& a, const SparseRows* b,
                       double residual_gate, double orthogonality_gate) {
  const auto count = static_cast<Index>(result.values.size());
  const Index n = a.order();
  const std::vector<T> x = columns_of(result.vectors, count);
  const auto times = [&](const SparseRows& m, Index i, Index j) {
    double sum = 0;
    for (const auto& [k, value] : m.rows[std::size_t(i)])
      sum += value * double(x[std::size_t(k * count + j)]);
    return sum;
  };
  std::vector<double> bx(x.begin(), x.end());
  if (b)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < count; ++j) bx[std::size_t(i * count + j)] = times(*b, i, j);
  for (Index j = 0; j < count; ++j) {
    double square = 0;
    for (Index i = 0; i < n; ++i) {
      const double r = times(a, i, j) - result.values[std::size_t(j)] * bx[std::size_t(i * count + j)];
      square += r * r;
    }
    EXPECT_LT(std::sqrt(square), residual_gate) << "residual of pair " << j;
    EXPECT_NEAR(std::sqrt(square), result.residuals[std::size_t(j)],
                0.01 * std::sqrt(square) + 100 * double(precision<T>) * a.norm())
        << "reported residual of pair " << j;
    for (Index k = 0; k < count; ++k) {
      double sum = 0;
      for (Index i = 0; i < n; ++i)
        sum += double(x[std::size_t(i * count + k)]) * bx[std::size_t(i * count + j)];
      EXPECT_NEAR(sum, j == k, orthogonality_gate) << j << " " << k;
    }
  }
}

template <class T>
void expect_values(const LobpcgResult<T>& result, const std::vector<double>& values, double gate) {
  EXPECT_EQ(result.status().code, StatusCode::success)
      << to_string(result.status().code) << ": " << result.status().message();
  for (std::size_t k = 0; k < result.values.size(); ++k)
    EXPECT_NEAR(result.values[k], values[k], gate) << "eigenvalue " << k;
}

}  // namespace tessera::test
