// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/codelets/linalg/blas.hpp>

#include "vector_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace operations_test;
using test::Matrix;

template <class T>
class SpectralBounds : public RuntimeTest<T> {
 protected:
  /// A layout of square matrices with the default distribution.
  BlockLayout square(const std::vector<Index>& sizes, Symmetry symmetry = Symmetry::hermitian) {
    return make_block_layout(this->runtime(), sizes, sizes, symmetry);
  }
  /// factor times the identity, plus one on the last element.
  BlockSparseMatrix<T> diagonal(T factor, double last) {
    const std::vector<Index> sizes{4, 0, 5, 3};
    std::vector<T> values(12, factor);
    values.back() += T(RealOf<T>(last));
    BlockSparseBuilder<T> builder(this->runtime(), square(sizes));
    builder.reserve_diagonal();
    BlockSparseMatrix<T> a = builder.finalize();
    run_sequence(this->runtime(),
                 [&](Sequence& sequence) { set_diagonal(sequence, std::span<const T>(values), a); });
    return a;
  }
};
TYPED_TEST_SUITE(SpectralBounds, Scalars);

/// Half-stored and full.
template <class T>
std::vector<Symmetry> hermitian_symmetries() {
  if (is_complex<T>) return {Symmetry::none, Symmetry::hermitian};
  return {Symmetry::none, Symmetry::symmetric, Symmetry::hermitian};
}

TYPED_TEST(SpectralBounds, HoldTheSpectrum) {
  using T = TypeParam;
  for_each_symmetry<T>(this->runtime(), 5, hermitian_symmetries<T>(),
                       [&](Symmetry, const BlockLayout& first, const BlockLayout& second) {
                         check_spectrum<T>(this->runtime(), first);
                         check_spectrum<T>(this->runtime(), second, 1);
                       });
}

TYPED_TEST(SpectralBounds, OfLargerMatrices) {
  using T = TypeParam;
  std::vector<Index> sizes(20, 13);
  sizes[3] = 0, sizes[7] = 5, sizes[11] = 1, sizes[19] = 0;
  for (const Symmetry symmetry : hermitian_symmetries<T>()) {
    check_spectrum<T>(this->runtime(), this->square(sizes, symmetry), 0.3);
    check_spectrum<T>(this->runtime(), this->square(sizes, symmetry), 0.3, 1, 0.05);
  }
}

TYPED_TEST(SpectralBounds, OfNothingAndOfOneElement) {
  using T = TypeParam;
  const std::vector<std::vector<Index>> small{{}, {0, 0}, {1}, {0, 1, 0}, {2}};
  for (const auto& sizes : small)
    for (const Symmetry symmetry : hermitian_symmetries<T>()) {
      check_spectrum<T>(this->runtime(), this->square(sizes, symmetry), 1);
      check_spectrum<T>(this->runtime(), this->square(sizes, symmetry), 0);
    }
}

/// The squares of elements are beyond the numbers of T, or below.
TYPED_TEST(SpectralBounds, OfMatricesOfAnyScale) {
  using T = TypeParam;
  const bool wide_range = sizeof(RealOf<T>) == 8;
  for (const double factor : {wide_range ? 1e200 : 1e30, wide_range ? 1e-200 : 1e-30})
    check_spectrum<T>(this->runtime(), this->square(mixed_sizes()), 0.5, factor);
}

/// The Krylov subspace is exhausted after one vector, or two.
TYPED_TEST(SpectralBounds, OfFewEigenvalues) {
  using T = TypeParam;
  for (const double last : {0.0, 2.5}) {
    const auto a = this->diagonal(T(3), last);
    const auto r = extremal_eigenvalues(this->runtime(), {.a = a});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.lowest.value, 3, 50 * precision<T>);
    EXPECT_NEAR(r.highest.value, 3 + last, 50 * precision<T>);
    EXPECT_LE(r.highest.residual, 100 * precision<T>);
    EXPECT_GE(r.highest.bound, 3 + last - 1e-13);
    EXPECT_LE(r.lowest.safe_bound, 3 + 1e-13);
    EXPECT_GE(r.lowest.safe_bound, 3 - 1e-3);
  }
  const auto zero = this->diagonal(T(0), 0);
  const auto r = extremal_eigenvalues({.a = zero});
  ASSERT_TRUE(r);
  EXPECT_EQ(r.lowest.bound, 0);
  EXPECT_EQ(r.highest.safe_bound, 0);
}

TYPED_TEST(SpectralBounds, NanAndInfinityAreAStatus) {
  using T = TypeParam;
  for (const T bad : {not_a_number<T>(), T(std::numeric_limits<RealOf<T>>::infinity())})
    for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
      auto [a, dense] = hermitian_problem<T>(this->runtime(), this->square({3, 4}, symmetry), 1);
      Matrix<T> block = dense.block(3, 0, 4, 3);
      block(2, 1) = bad;
      a.put_block(1, 0, std::as_const(block).view());
      EXPECT_TRUE(std::isnan(gershgorin_bounds(a).lower));
      EXPECT_TRUE(std::isnan(gershgorin_bounds(a).upper));
      const auto r = extremal_eigenvalues(this->runtime(), {.a = a});
      EXPECT_EQ(r.status().code, StatusCode::not_finite);
      EXPECT_EQ(r.products, 0);
    }
}

TYPED_TEST(SpectralBounds, WithoutConvergenceTheNumbersHold) {
  using T = TypeParam;
  const auto [a, dense] =
      hermitian_problem<T>(this->runtime(), this->square(std::vector<Index>(20, 11)), 0.4);
  const std::vector<double> exact = eigenvalues(dense);
  const auto r = extremal_eigenvalues(this->runtime(), {.a = a}, {.tolerance = 1e-6, .max_products = 3});
  EXPECT_EQ(r.status().code, StatusCode::iterations_exhausted);
  EXPECT_EQ(r.products, 3);
  EXPECT_GE(r.lowest.value, exact.front());
  EXPECT_LE(r.highest.value, exact.back());
  EXPECT_GT(r.highest.residual, 0);
  EXPECT_LE(r.lowest.safe_bound, exact.front());
  EXPECT_GE(r.highest.safe_bound, exact.back());
}

/// The start depends on the seed; a submitted iteration gives the same bits as one that is waited for.
TYPED_TEST(SpectralBounds, AreRepeatable) {
  using T = TypeParam;
  const auto a = hermitian_problem<T>(this->runtime(), this->square(std::vector<Index>(20, 11)), 0.4).matrix;
  const auto first = extremal_eigenvalues(this->runtime(), {.a = a}, {.seed = 3});
  auto submitted = submit_extremal_eigenvalues(this->runtime(), {.a = a}, {.seed = 3});
  ASSERT_TRUE(submitted.wait());
  EXPECT_TRUE(submitted.ready());
  EXPECT_EQ(submitted.result().lowest.value, first.lowest.value);
  EXPECT_EQ(submitted.result().highest.residual, first.highest.residual);
  const auto other = extremal_eigenvalues(this->runtime(), {.a = a}, {.seed = 4});
  EXPECT_NE(other.highest.residual, first.highest.residual);
}

TYPED_TEST(SpectralBounds, RefuseBadArguments) {
  using T = TypeParam;
  const BlockSparseMatrix<T> empty;
  const auto a = hermitian_problem<T>(this->runtime(), this->square({3, 4}), 1).matrix;
  const auto oblong =
      make_problem<T>(this->runtime(), make_block_layout(this->runtime(), {3, 2}, {2, 2}), 1).matrix;
  const auto odd = make_problem<T>(this->runtime(), this->square({3, 4}, Symmetry::antisymmetric), 1).matrix;
  expect_refused("a", [&] { gershgorin_bounds(empty); });
  expect_refused("a", [&] { gershgorin_bounds(oblong); });
  expect_refused("a", [&] { gershgorin_bounds(odd); });
  const auto call = [&](const BlockSparseMatrix<T>& m, const ExtremalOptions& options) {
    return [&m, options, this] { std::ignore = extremal_eigenvalues(this->runtime(), {.a = m}, options); };
  };
  expect_refused("a", call(empty, {}));
  expect_refused("a", call(oblong, {}));
  expect_refused("a", call(odd, {}));
  if (is_complex<T>) {
    const auto plain = make_problem<T>(this->runtime(), this->square({3, 4}, Symmetry::symmetric), 1).matrix;
    expect_refused("a", [&] { gershgorin_bounds(plain); });
    expect_refused("a", call(plain, {}));
  }
  expect_refused("tolerance", call(a, {.tolerance = -1}));
  expect_refused("tolerance", call(a, {.tolerance = std::numeric_limits<double>::quiet_NaN()}));
  expect_refused("max_products", call(a, {.max_products = 0}));
}

/// Bitwise the same, however many workers there are.
TEST(SpectralBoundsRepeated, DoNotDependOnTheWorkers) {
  using T = std::complex<double>;
  const std::vector<Index> sizes(30, 7);
  std::vector<ExtremalResult> results;
  for (const int cores : {1, 3}) {
    Runtime runtime({.cores = cores, .gpus = 0, .bind = false});
    const auto a =
        hermitian_problem<T>(runtime, random_layout(runtime, sizes, sizes, Symmetry::hermitian, 3));
    for (int round = 0; round < 2; ++round) results.push_back(extremal_eigenvalues(runtime, {.a = a.matrix}));
  }
  for (const ExtremalResult& r : results) {
    EXPECT_EQ(r.products, results.front().products);
    EXPECT_EQ(r.lowest.value, results.front().lowest.value);
    EXPECT_EQ(r.highest.residual, results.front().highest.residual);
  }
}

/// Against all eigenpairs of the tridiagonal matrix.
TEST(RitzEnds, AreThoseOfTheWholeMatrix) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const Index k : {1, 2, 3, 16, 97}) {
    SCOPED_TRACE(k);
    const auto size = static_cast<std::size_t>(k);
    KrylovMatrix h;
    for (Index i = 0; i < k; ++i) {
      h.diagonal.push_back(uniform(random));
      h.beside.push_back(0.1 + std::abs(uniform(random)));
    }
    std::vector<double> values = h.diagonal, beside = h.beside, vectors(size * size), work(2 * size);
    ASSERT_EQ(blas::steqr('I', k, values.data(), beside.data(), vectors.data(), k, work.data()), 0);
    const RitzEnds ends = ritz_ends(h);
    const auto check = [&](const RitzEnd& end, std::size_t i) {
      EXPECT_NEAR(end.value, values[i], 1e-14 * static_cast<double>(k));
      EXPECT_NEAR(end.residual, h.beside.back() * std::abs(vectors[size - 1 + i * size]), 1e-12);
    };
    check(ends.lowest, 0);
    check(ends.highest, size - 1);
  }
}

}  // namespace
}  // namespace tessera
