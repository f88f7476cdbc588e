// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_cases.hpp"

/// How exact density matrices are, and what they say of it.
namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

template <class T>
class DensityErrors : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(DensityErrors, Scalars);

TYPED_TEST(DensityErrors, IterationsInFloatAndALastStepInDouble) {
  using T = TypeParam;
  if constexpr (sizeof(RealOf<T>) == 8) {
    const auto chain = make_chain<T>(40, 1);
    const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
               s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
    const auto exact = decompose(chain.hamiltonian, chain.overlap);
    double energy = 0;
    for (Index k = 0; k < chain.occupied; ++k) energy += 2 * exact.values[std::size_t(k)];
    Matrix<T> expected = reference_density(exact, chain.occupied);
    for (Index j = 0; j < expected.cols(); ++j)
      for (Index i = 0; i < expected.rows(); ++i) expected(i, j) *= 2;
    for (const DensityMethod method :
         {DensityMethod::purification, DensityMethod::trs4, DensityMethod::tc2}) {
      double last = 1;
      for (const bool mixed : {true, false}) {
        SCOPED_TRACE(fmt::format("{} in {}", to_string(method), mixed ? "float and double" : "double"));
        const auto r = density_matrix(
            this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = 2.0 * double(chain.occupied)},
            {.method = method, .filter_eps = 0, .mixed_precision = mixed});
        ASSERT_TRUE(r) << r.status().message();
        const double error = difference(gathered(r.density), expected);
        // The elements as exact as float, what the last step makes good as exact as double.
        EXPECT_LE(error, mixed ? 1e-5 : 1e-11);
        EXPECT_LE(r.idempotency, 1e-10);
        EXPECT_NEAR(r.electrons, 2.0 * double(chain.occupied), 1e-9);
        EXPECT_NEAR(r.energy, energy, 1e-9 * double(chain.occupied));
        EXPECT_LE(error, last);
        last = error;
      }
    }
  }
}

/// With a former Z, which does not tell the condition of S, the bases are in double and the iterations in float.
TYPED_TEST(DensityErrors, IterationsInFloatBetweenBasesInDouble) {
  using T = TypeParam;
  if constexpr (sizeof(RealOf<T>) == 8) {
    const auto chain = make_chain<T>(40, 1);
    const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
               s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
    const auto exact = decompose(chain.hamiltonian, chain.overlap);
    double energy = 0;
    for (Index k = 0; k < chain.occupied; ++k) energy += 2 * exact.values[std::size_t(k)];
    const double electrons = 2.0 * double(chain.occupied);
    const auto former = density_matrix(
        this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = electrons}, {.filter_eps = 0});
    ASSERT_TRUE(former) << former.status().message();
    for (const DensityMethod method : {DensityMethod::trs4, DensityMethod::tc2, DensityMethod::sp2}) {
      SCOPED_TRACE(to_string(method));
      const auto r = density_matrix(
          this->runtime(),
          {.hamiltonian = h, .overlap = &s, .electrons = electrons, .inverse_factor = &former.inverse_factor},
          {.method = method, .filter_eps = 0, .mixed_precision = true});
      ASSERT_TRUE(r) << r.status().message();
      EXPECT_LE(r.idempotency, 1e-10);
      EXPECT_NEAR(r.electrons, electrons, 1e-9);
      EXPECT_NEAR(r.energy, energy, 1e-9 * double(chain.occupied));
      // In float Z would be off by its rounding.
      const Matrix<T> z = gathered(r.inverse_factor);
      const Matrix<T> metric = test::multiply(Op::adjoint, z, Op::none, product(chain.overlap, z));
      EXPECT_LE(difference(metric, test::identity<T>(z.cols())), 1e-12);
    }
  }
}

/// Without a check the error is an estimate of what the check measures, or not known.
TYPED_TEST(DensityErrors, ErrorsWithoutACheck) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  for (const DensityMethod method :
       {DensityMethod::purification, DensityMethod::trs4, DensityMethod::dense}) {
    SCOPED_TRACE(to_string(method));
    const auto r = density_matrix(
        this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = 2.0 * double(chain.occupied)},
        {.method = method, .filter_eps = 0, .check = false});
    ASSERT_TRUE(r) << r.status().message();
    if (method == DensityMethod::dense)
      EXPECT_TRUE(std::isnan(r.error));
    else
      EXPECT_LE(r.error, 1e3 * this->eps);
    EXPECT_EQ(r.idempotency, 0);
  }
}

/// What the check's own filter leaves out counts: the idempotency is no less than that of the dense P, and 0 for no P that
/// has been filtered.
TYPED_TEST(DensityErrors, IdempotencyIsAnUpperBound) {
  using T = TypeParam;
  const auto chain = make_chain<T>(14, 2);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const auto norm = [](const Matrix<T>& a) {
    double sum = 0;
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) sum += std::norm(std::complex<double>(a(i, j)));
    return std::sqrt(sum);
  };
  for (const double filter : {1e-2, 1e-3, 1e-4})
    for (const bool overlap : {true, false}) {
      SCOPED_TRACE(fmt::format("filter {}, {}", filter, overlap ? "with overlap" : "orthonormal"));
      const auto r = density_matrix(
          this->runtime(),
          {.hamiltonian = h, .overlap = overlap ? &s : nullptr, .electrons = 2.0 * double(chain.occupied)},
          {.method = DensityMethod::trs4, .filter_eps = filter});
      ASSERT_TRUE(r) << r.status().message();
      Matrix<T> p = gathered(r.density);
      for (Index j = 0; j < p.cols(); ++j)
        for (Index i = 0; i < p.rows(); ++i) p(i, j) *= RealOf<T>(0.5);
      Matrix<T> rest = product(overlap ? product(p, chain.overlap) : p, p);
      for (Index j = 0; j < p.cols(); ++j)
        for (Index i = 0; i < p.rows(); ++i) rest(i, j) -= p(i, j);
      const double exact = norm(rest) / norm(p);
      EXPECT_GT(r.idempotency, 0);
      EXPECT_GE(r.idempotency, exact - 10 * this->eps);
      EXPECT_LE(r.idempotency, exact + 0.1 * filter);
    }
}

}  // namespace
}  // namespace tessera
