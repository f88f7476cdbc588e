// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/data.hpp>
#include <tessera/matgen.hpp>

/// Small dense matrices for tests, with plain loops as references for kernels.
namespace tessera::test {

using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
using Reals = ::testing::Types<float, double>;

template <class T>
inline T not_a_number() {
  return T(std::numeric_limits<RealOf<T>>::quiet_NaN());
}

/// Column-major matrix with `padding` additional rows in memory, which contain NaN.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(Index rows, Index cols, Index padding = 0)
      : rows_(rows),
        cols_(cols),
        ld_(std::max<Index>(rows, 1) + padding),
        data_(static_cast<std::size_t>(std::max<Index>(ld_ * cols, 1)), not_a_number<T>()) {
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) (*this)(i, j) = T(0);
  }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index ld() const { return ld_; }
  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  T& operator()(Index i, Index j) { return data_[static_cast<std::size_t>(i + j * ld_)]; }
  const T& operator()(Index i, Index j) const { return data_[static_cast<std::size_t>(i + j * ld_)]; }
  MatrixView<T> view() { return {data(), rows_, cols_, ld_}; }
  MatrixView<const T> view() const { return {data(), rows_, cols_, ld_}; }
  Matrix block(Index row, Index col, Index m, Index n) const {
    Matrix part(m, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < m; ++i) part(i, j) = (*this)(row + i, col + j);
    return part;
  }
  void set_block(Index row, Index col, const Matrix& part) {
    for (Index j = 0; j < part.cols(); ++j)
      for (Index i = 0; i < part.rows(); ++i) (*this)(row + i, col + j) = part(i, j);
  }

 private:
  Index rows_ = 0, cols_ = 0, ld_ = 1;
  std::vector<T> data_;
};

template <class T>
T random_scalar(std::uint64_t seed, Index i, Index j) {
  if constexpr (is_complex<T>)
    return T(RealOf<T>(random_uniform(seed, 0, i, j)), RealOf<T>(random_uniform(seed, 1, i, j)));
  else
    return T(random_uniform(seed, 0, i, j));
}

/// Real and imaginary parts are uniform in [-1, 1].
template <class T>
Matrix<T> random_matrix(Index rows, Index cols, std::uint64_t seed, Index padding = 0) {
  Matrix<T> a(rows, cols, padding);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) a(i, j) = random_scalar<T>(seed, i, j);
  return a;
}

template <class T>
Matrix<T> random_hermitian(Index n, std::uint64_t seed, double diagonal = 0) {
  Matrix<T> a(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = j; i < n; ++i) {
      const T x = random_scalar<T>(seed, i, j);
      a(i, j) = i == j ? T(real_part(x) + RealOf<T>(diagonal)) : x;
      a(j, i) = conjugate(a(i, j));
    }
  return a;
}

template <class T>
Matrix<T> identity(Index n) {
  Matrix<T> a(n, n);
  for (Index i = 0; i < n; ++i) a(i, i) = T(1);
  return a;
}

/// alpha op(a) op(b) + beta c, by three loops; c may be empty.
template <class T>
Matrix<T> multiply(Op op_a, const Matrix<T>& a, Op op_b, const Matrix<T>& b, T alpha = T(1), T beta = T(0),
                   const Matrix<T>& c = {}) {
  const Index m = op_a == Op::none ? a.rows() : a.cols(), k = op_a == Op::none ? a.cols() : a.rows();
  const Index n = op_b == Op::none ? b.cols() : b.rows();
  const auto element = [](Op op, const Matrix<T>& x, Index i, Index j) {
    return op == Op::none ? x(i, j) : op == Op::transpose ? x(j, i) : conjugate(x(j, i));
  };
  Matrix<T> result(m, n);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < m; ++i) {
      T sum(0);
      for (Index p = 0; p < k; ++p) sum += element(op_a, a, i, p) * element(op_b, b, p, j);
      result(i, j) = alpha * sum + (beta == T(0) ? T(0) : beta * c(i, j));
    }
  return result;
}
template <class T>
Matrix<T> multiply(const Matrix<T>& a, const Matrix<T>& b) {
  return multiply(Op::none, a, Op::none, b);
}

/// One triangle of `a`, zero elsewhere.
template <class T>
Matrix<T> triangle(const Matrix<T>& a, Uplo uplo) {
  Matrix<T> t(a.rows(), a.cols());
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i)
      if (uplo == Uplo::lower ? i >= j : i <= j) t(i, j) = a(i, j);
  return t;
}

/// `a` with NaN in the strict triangle opposite to `uplo`.
template <class T>
Matrix<T> poison_other_triangle(Matrix<T> a, Uplo uplo) {
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i)
      if (uplo == Uplo::lower ? i < j : uplo == Uplo::upper && i > j) a(i, j) = not_a_number<T>();
  return a;
}

/// Largest |a - b| in a triangle (or in all entries); infinite if there is a NaN or the shapes
/// differ.
template <class T>
double difference(const Matrix<T>& a, const Matrix<T>& b, Uplo uplo = Uplo::general) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) {
      if (uplo == Uplo::lower ? i < j : uplo == Uplo::upper && i > j) continue;
      const double d = std::abs(a(i, j) - b(i, j));
      if (std::isnan(d)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, d);
    }
  return largest;
}

/// Whether the matrices are bitwise equal, including padding and NaN.
template <class T>
bool identical(const Matrix<T>& a, const Matrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && a.ld() == b.ld() &&
         (a.ld() * a.cols() == 0 ||
          std::memcmp(a.data(), b.data(), sizeof(T) * static_cast<std::size_t>(a.ld() * a.cols())) == 0);
}

/// Largest column sum of absolute values; infinite if there is a NaN.
template <class T>
double norm_1(const Matrix<T>& a) {
  double largest = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (Index i = 0; i < a.rows(); ++i) sum += std::abs(a(i, j));
    if (std::isnan(sum)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, sum);
  }
  return largest;
}

template <class T>
Data upload(Runtime& runtime, const Matrix<T>& a) {
  Data data = Data::matrix(runtime, a.rows(), a.cols(), sizeof(T));
  HostAccess access(data, HostAccess::Mode::write);
  const auto view = access.matrix<T>();
  for (Index j = 0; j < a.cols(); ++j)
    for (Index i = 0; i < a.rows(); ++i) view(i, j) = a(i, j);
  return data;
}
template <class T>
Data upload(Runtime& runtime, const std::vector<T>& values) {
  Data data = Data::bytes(runtime, sizeof(T) * std::max<std::size_t>(values.size(), 1));
  HostAccess access(data, HostAccess::Mode::write);
  std::copy(values.begin(), values.end(), access.array<T>().begin());
  return data;
}
template <class T>
Matrix<T> download(const Data& data) {
  HostAccess access(data, HostAccess::Mode::read);
  const auto view = access.matrix<T>();
  Matrix<T> a(view.rows, view.cols);
  for (Index j = 0; j < view.cols; ++j)
    for (Index i = 0; i < view.rows; ++i) a(i, j) = view(i, j);
  return a;
}
template <class T>
std::vector<T> download_values(const Data& data) {
  HostAccess access(data, HostAccess::Mode::read);
  const auto array = access.array<T>();
  return {array.begin(), array.end()};
}

}  // namespace tessera::test
