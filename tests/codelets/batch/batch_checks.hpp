// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/eigen_problem.hpp>
#include <tests/support/matrix.hpp>

#include <tessera/codelets/batch/kernels/batch_eigen.hpp>

/// Batches for tests of whatever solves them.
namespace tessera::test {
using namespace detail;

/// A batch in an array with padding, NaN in the other triangles and in the padding, and its results.
template <class T>
struct TestBatch {
  Index n, count, ld, stride;
  Uplo uplo;
  std::vector<Matrix<T>> matrices;
  std::vector<T> a, z;
  std::vector<RealOf<T>> w;
  std::vector<int> info;

  TestBatch(std::vector<Matrix<T>> given, Uplo triangle, Index padding = 0)
      : n(given.front().rows()),
        count(static_cast<Index>(given.size())),
        ld(n + padding),
        stride(ld * n),
        uplo(triangle),
        matrices(std::move(given)),
        a(static_cast<std::size_t>(stride * count), not_a_number<T>()),
        z(a.size(), not_a_number<T>()),
        w(static_cast<std::size_t>(n * count), not_a_number<RealOf<T>>()),
        info(static_cast<std::size_t>(count), -77) {
    for (Index k = 0; k < count; ++k) {
      const auto triangle_of = poison_other_triangle(matrices[static_cast<std::size_t>(k)], uplo);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
          a[static_cast<std::size_t>(k * stride + j * ld + i)] = triangle_of(i, j);
    }
  }
  kernels::EigenBatch<T> arguments(bool vectors) {
    return {n,  count,  uplo,       a.data(), ld, stride, w.data(), n, vectors ? z.data() : nullptr,
            ld, stride, info.data()};
  }
  std::vector<RealOf<T>> values_of(Index k) const { return {w.begin() + k * n, w.begin() + (k + 1) * n}; }
  Matrix<T> vectors_of(Index k) const {
    Matrix<T> x(n, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) x(i, j) = z[static_cast<std::size_t>(k * stride + j * ld + i)];
    return x;
  }
  /// A matrix that has not failed agrees with LAPACK.
  void expect_solved(Index k, bool vectors) const {
    const Matrix<T>& matrix = matrices[static_cast<std::size_t>(k)];
    const auto values = values_of(k);
    const Matrix<T> x = vectors ? vectors_of(k) : Matrix<T>();
    const EigenErrors errors =
        eigen_errors<T>(matrix, nullptr, values, vectors ? &x : nullptr, lapack_eigenvalues(matrix), 0);
    EXPECT_LT(errors.residual, 10) << "n " << n << " matrix " << k;
    EXPECT_LT(errors.orthogonality, 10) << "n " << n << " matrix " << k;
    EXPECT_LT(errors.values, 10) << "n " << n << " matrix " << k << (vectors ? "" : " without vectors");
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end())) << "n " << n << " matrix " << k;
  }
  void expect_all_solved(bool vectors) const {
    for (Index k = 0; k < count; ++k) {
      EXPECT_EQ(info[static_cast<std::size_t>(k)], 0) << "n " << n << " matrix " << k;
      expect_solved(k, vectors);
    }
    if (!vectors) return;
    for (Index column = 0; column < n * count; ++column)
      for (Index i = n; i < ld; ++i)
        EXPECT_TRUE(std::isnan(real_part(z[static_cast<std::size_t>(column * ld + i)])))
            << "padding of " << column;
  }
};

template <class T>
std::vector<Matrix<T>> random_batch(Index n, Index count, double scale = 1) {
  std::vector<Matrix<T>> all;
  for (Index k = 0; k < count; ++k) {
    all.push_back(random_hermitian<T>(n, static_cast<std::uint64_t>(100 * n + k)));
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) all.back()(i, j) *= RealOf<T>(scale);
  }
  return all;
}

/// Zero, identity, descending diagonal, ones, graded over 20 orders of magnitude, nearly the identity, second
/// differences, two equal blocks without coupling, and random ones near over- and underflow.
template <class T>
std::vector<Matrix<T>> special_batch(Index n) {
  using R = RealOf<T>;
  std::vector<Matrix<T>> all;
  const auto add = [&](const auto& element) {
    Matrix<T> a(n, n);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) a(i, j) = element(i, j);
    all.push_back(a);
  };
  const Matrix<T> x = random_hermitian<T>(n, 7);
  add([](Index, Index) { return T(0); });
  add([](Index i, Index j) { return T(i == j ? 1 : 0); });
  add([&](Index i, Index j) { return T(R(i == j ? n - i : 0)); });
  add([](Index, Index) { return T(1); });
  add([&](Index i, Index j) { return x(i, j) * R(std::pow(10.0, -10.0 * double(i + j) / double(n))); });
  add([&](Index i, Index j) { return T(i == j ? 1 : 0) + x(i, j) * (64 * precision<T>); });
  add([](Index i, Index j) { return T(i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0); });
  add([&](Index i, Index j) { return i % 2 == j % 2 ? x(i / 2, j / 2) : T(0); });
  const bool wide = sizeof(R) == 8;
  add([&](Index i, Index j) { return x(i, j) * R(wide ? 1e-300 : 1e-36); });
  add([&](Index i, Index j) { return x(i, j) * R(wide ? 1e300 : 1e36); });
  return all;
}

}  // namespace tessera::test
