// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>

namespace tessera::test {
namespace {

/// A ring with a flux through it: eigenvalues 2 - 2 cos((2 pi k + phi) / n).
template <class T>
class CHermitian : public CTest<T> {
 public:
  using Number = std::complex<double>;
  static constexpr Index n = 120, count = 4;
  static constexpr double phi = 0.8;
  static constexpr bool single = sizeof(RealOf<T>) == 4;
  static Number hop() { return -std::polar(1.0, phi / double(n)); }
  void SetUp() override {
    for (Index k = 0; k < n; ++k) exact.push_back(2 - 2 * std::cos((2 * M_PI * double(k) + phi) / double(n)));
    std::sort(exact.begin(), exact.end());
    const auto put = [&](Index i, Index j, Number value) {
      rows.push_back(i), columns.push_back(j), values.push_back(value);
    };
    begins = {0};
    for (Index i = 0; i < n; ++i) {
      if (i == n - 1) put(i, 0, std::conj(hop()));
      if (i > 0) put(i, i - 1, hop());
      put(i, i, 2);
      begins.push_back(static_cast<Index>(columns.size()));
    }
    tessera_lobpcg_problem_init(&problem);
    tessera_lobpcg_options_init(&options);
    options.count = count;
    options.iterations = 2000;
  }
  void expect_solved(double factor = 1) {
    double found[count], residuals[count];
    std::vector<T> vectors(static_cast<std::size_t>(n * count));
    tessera_lobpcg_result result;
    ASSERT_C(tessera_lobpcg(&problem, &options, found, residuals, vectors.data(), count, &result));
    for (Index k = 0; k < count; ++k) {
      EXPECT_NEAR(found[k], factor * exact[std::size_t(k)], single ? 1e-4 : 1e-9);
      double residual = 0;
      for (Index i = 0; i < n; ++i) {
        const auto x = [&](Index r) {
          return Number(vectors[static_cast<std::size_t>((r + n) % n * count + k)]);
        };
        residual +=
            std::norm(2.0 * x(i) + hop() * x(i - 1) + std::conj(hop()) * x(i + 1) - found[k] / factor * x(i));
      }
      EXPECT_LT(std::sqrt(residual), single ? 1e-2 : 1e-6);
    }
  }
  std::vector<double> exact;
  std::vector<Index> begins, rows, columns;
  std::vector<Number> values;
  tessera_lobpcg_problem problem;
  tessera_lobpcg_options options;
};
using Complexes = ::testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CHermitian, Complexes);

TYPED_TEST(CHermitian, ArraysAndPreconditioners) {
  using T = TypeParam;
  Operator a;
  for (const int storage : {TESSERA_FLOAT, TESSERA_DOUBLE}) {
    if (this->single && storage == TESSERA_DOUBLE) continue;
    ASSERT_C(tessera_operator_from_csr(CTest<T>::runtime, CTest<T>::type, storage, this->n,
                                       this->begins.data(), this->columns.data(), this->values.data(), 'L',
                                       nullptr, &a));
    if (storage == TESSERA_FLOAT && !this->single) continue;  // only that it is made: values are rounded
    this->problem.a = a;
    this->problem.preconditioner = nullptr;
    this->expect_solved();
    PreconditionerHandle preconditioner;
    tessera_preconditioner_options options;
    tessera_preconditioner_options_init(&options);
    for (const auto make :
         {tessera_preconditioner_jacobi, tessera_preconditioner_fom, tessera_preconditioner_chebyshev}) {
      ASSERT_C(make(a, &options, &preconditioner));
      this->problem.preconditioner = preconditioner;
      this->expect_solved();
    }
  }
  ASSERT_C(tessera_operator_from_coordinates(CTest<T>::runtime, CTest<T>::type, TESSERA_FLOAT, this->n,
                                             static_cast<Index>(this->rows.size()), this->rows.data(),
                                             this->columns.data(), this->values.data(), 'L', nullptr, &a));
}

/// A function of the caller's, and B = 2 I as a matrix of the same cut.
TYPED_TEST(CHermitian, FunctionsAndB) {
  using T = TypeParam;
  Operator a, b;
  const auto apply = [](tessera_index first, tessera_index end, tessera_index columns, const void* x,
                        tessera_index ldx, void* y, tessera_index ldy, void*) {
    constexpr Index n = TestFixture::n;
    const T hop = T(TestFixture::hop());
    for (Index i = first; i < end; ++i)
      for (Index j = 0; j < columns; ++j) {
        const auto at = [&](Index r) { return static_cast<const T*>(x)[(r + n) % n * ldx + j]; };
        static_cast<T*>(y)[(i - first) * ldy + j] =
            T(2) * at(i) + hop * at(i - 1) + std::conj(hop) * at(i + 1);
      }
    return 0;
  };
  ASSERT_C(
      tessera_operator_create(CTest<T>::runtime, CTest<T>::type, this->n, 1, apply, nullptr, nullptr, 4, &a));
  this->problem.a = a;
  this->expect_solved();
  const auto twice = [](tessera_index first, tessera_index end, tessera_index columns, const void* x,
                        tessera_index ldx, void* y, tessera_index ldy, void*) {
    for (Index i = first; i < end; ++i)
      for (Index j = 0; j < columns; ++j)
        static_cast<T*>(y)[(i - first) * ldy + j] = T(2) * static_cast<const T*>(x)[i * ldx + j];
    return 0;
  };
  ASSERT_C(
      tessera_operator_create(CTest<T>::runtime, CTest<T>::type, this->n, 1, twice, nullptr, nullptr, 2, &b));
  this->problem.b = b;
  this->expect_solved(0.5);
}

TYPED_TEST(CHermitian, BadArguments) {
  using T = TypeParam;
  Operator a;
  const auto made = [&](int type, int storage) {
    return tessera_operator_from_csr(CTest<T>::runtime, type, storage, this->n, this->begins.data(),
                                     this->columns.data(), this->values.data(), 'L', nullptr, &a);
  };
  EXPECT_EQ(made(TESSERA_COMPLEX_FLOAT, TESSERA_DOUBLE), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(made(CTest<T>::type, TESSERA_COMPLEX_DOUBLE), TESSERA_INVALID_ARGUMENT);
  this->values[0] += std::complex<double>(0, 1e-3);  // the diagonal
  EXPECT_EQ(made(CTest<T>::type, TESSERA_FLOAT), TESSERA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::test
