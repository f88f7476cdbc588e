// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gtest/gtest.h>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>

namespace {

using namespace tessera;
using namespace tessera::detail;

template <class T>
std::vector<T> whole(const MatrixGenerator<T>& generator) {
  const Index n = generator.order();
  std::vector<T> a(static_cast<std::size_t>(n * n));
  generator.fill(0, 0, n, n, a.data(), std::max<Index>(n, 1));
  return a;
}

/// Eigenvalues of the lower triangle from LAPACK.
template <class T>
std::vector<RealOf<T>> lapack_eigenvalues(std::vector<T> a, Index n) {
  using Real = RealOf<T>;
  std::vector<Real> w(n), rwork(1 + 10 * n + 2 * n * n);
  std::vector<T> work(1 + 10 * n + 2 * n * n);
  std::vector<int> iwork(10 + 10 * n);
  const int info =
      blas::heevd<T>('N', Uplo::lower, n, a.data(), std::max<Index>(n, 1), w.data(), work.data(),
                     static_cast<Index>(work.size()), rwork.data(), static_cast<Index>(rwork.size()),
                     iwork.data(), static_cast<Index>(iwork.size()));
  EXPECT_EQ(info, 0);
  return w;
}

template <class T>
class Generators : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Generators, Scalars);

TYPED_TEST(Generators, AreHermitianAndTheSameTileByTile) {
  using T = TypeParam;
  for (const GeneratorKind& kind : generator_kinds()) {
    for (Index n : {0, 1, 2, 3, 25, 61}) {
      const auto generator = MatrixGenerator<T>::make(kind.name, n, 7);
      const std::vector<T> a = whole(generator);
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
          EXPECT_EQ(a[i + j * n], conjugate(a[j + i * n])) << kind.name << ' ' << i << ' ' << j;
          EXPECT_EQ(a[i + j * n], generator.element(i, j));
          EXPECT_TRUE(std::isfinite(std::abs(a[i + j * n])));
        }
      const Index tile = 9, ld = 11;
      for (Index column = 0; column < n; column += tile)
        for (Index row = 0; row < n; row += tile) {
          const Index rows = std::min(tile, n - row), columns = std::min(tile, n - column);
          std::vector<T> part(ld * tile, T(-77));
          generator.fill(row, column, rows, columns, part.data(), ld);
          for (Index j = 0; j < tile; ++j)
            for (Index i = 0; i < ld; ++i)
              ASSERT_EQ(part[i + j * ld], i < rows && j < columns ? a[row + i + (column + j) * n] : T(-77));
        }
    }
  }
}

TYPED_TEST(Generators, ExactEigenvaluesAreLapacks) {
  using T = TypeParam;
  int known = 0;
  for (const GeneratorKind& kind : generator_kinds()) {
    for (Index n : {1, 2, 3, 60, 61}) {
      for (double scale : {1.0, -2.5}) {
        const auto generator = MatrixGenerator<T>::make(kind.name, n, 3, scale);
        const auto exact = generator.exact_eigenvalues();
        if (!exact) continue;
        ASSERT_EQ(static_cast<Index>(exact->size()), n);
        const auto computed = lapack_eigenvalues<T>(whole(generator), n);
        const double norm = std::max(std::abs(exact->front()), std::abs(exact->back()));
        for (Index k = 0; k < n; ++k)
          EXPECT_NEAR(computed[k], (*exact)[k], 20 * precision<T> * norm)
              << kind.name << ' ' << n << ' ' << k;
        ++known;
      }
    }
  }
  EXPECT_EQ(known, 12 * 10) << "twelve kinds have known eigenvalues";
}

TYPED_TEST(Generators, TheRandomMatrixIsDenseAndDependsOnTheSeed) {
  using T = TypeParam;
  const Index n = 200;
  const std::vector<T> a = whole(MatrixGenerator<T>::make("random", n, 1));
  const std::vector<T> b = whole(MatrixGenerator<T>::make("random", n, 2));
  double mean = 0, square = 0;
  Index equal = 0;
  for (Index k = 0; k < n * n; ++k) {
    EXPECT_LE(std::abs(real_part(a[k])), 1);
    equal += a[k] == b[k];
    mean += real_part(a[k]);
    square += static_cast<double>(std::norm(a[k]));
  }
  EXPECT_LE(equal, 2);
  EXPECT_NEAR(mean / (n * n), 0, 0.02);
  EXPECT_NEAR(square / (n * n), is_complex<T> ? 2.0 / 3 : 1.0 / 3, 0.02);
}

TYPED_TEST(Generators, TheOverlapIsWellConditioned) {
  using T = TypeParam;
  for (Index n : {1, 2, 17, 150}) {
    const auto values = lapack_eigenvalues<T>(whole(MatrixGenerator<T>::make("overlap", n, 5)), n);
    EXPECT_GT(values.front(), 0.1);
    EXPECT_LT(values.back(), 1.9);
  }
}

TYPED_TEST(Generators, StructureIsWhatTheNameSays) {
  using T = TypeParam;
  const auto banded = MatrixGenerator<T>::make("banded:3", 20, 1);
  const auto blocks = MatrixGenerator<T>::make("block-diagonal:4", 20, 1);
  const auto glued = MatrixGenerator<T>::make("glued-wilkinson:5", 20, 1);
  for (Index j = 0; j < 20; ++j)
    for (Index i = 0; i < 20; ++i) {
      EXPECT_EQ(banded.element(i, j) != T(0), std::abs(i - j) <= 3);
      EXPECT_EQ(blocks.element(i, j) != T(0), i / 4 == j / 4);
    }
  EXPECT_EQ(glued.element(5, 5), T(2));
  EXPECT_EQ(std::abs(glued.element(5, 4)), std::sqrt(precision<T>));
  EXPECT_EQ(std::abs(glued.element(6, 5)), 1);
}

TEST(GeneratorErrors, NameTheArgument) {
  EXPECT_THROW(MatrixGenerator<double>::make("nonsense", 3), InvalidArgument);
  EXPECT_THROW(MatrixGenerator<double>::make("random:3", 3), InvalidArgument);
  EXPECT_THROW(MatrixGenerator<double>::make("banded:", 3), InvalidArgument);
  EXPECT_THROW(MatrixGenerator<double>::make("banded:-1", 3), InvalidArgument);
  EXPECT_THROW(MatrixGenerator<double>::make("random", -1), InvalidArgument);
  EXPECT_THROW(MatrixGenerator<double>::make("random", 1, 1, INFINITY), InvalidArgument);
}

}  // namespace
