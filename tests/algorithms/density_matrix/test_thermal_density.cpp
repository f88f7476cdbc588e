// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_cases.hpp"
#include "thermal_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

template <class T>
class ThermalDensity : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(ThermalDensity, Scalars);

constexpr DensityMethod thermal_methods[] = {DensityMethod::fermi, DensityMethod::dense};

/// A result against the Fermi function of LAPACK's eigenvalues.
template <class T>
void check_thermal(const DensityResult<T>& r, const EigenDecomposition<T>& exact, double electrons,
                   double occupation, double kt, double tolerance) {
  ASSERT_TRUE(r) << r.status().message();
  const double mu = exact_potential(exact.values, electrons, occupation, kt);
  const ThermalNumbers expected = thermal_numbers(exact.values, mu, occupation, kt);
  const double n = double(exact.values.size());
  EXPECT_LE(difference(gathered(r.density),
                       function_of(exact, [&](double e) { return occupation * fermi((e - mu) / kt); })),
            tolerance);
  EXPECT_NEAR(r.electrons, electrons, tolerance * n);
  EXPECT_NEAR(r.energy, expected.energy, tolerance * n);
  EXPECT_NEAR(r.entropy, expected.entropy, tolerance * n);
  EXPECT_NEAR(r.free_energy, expected.energy - kt * expected.entropy, tolerance * n * std::max(kt, 1.0));
  EXPECT_EQ(r.free_energy, r.energy - kt * r.entropy);
  // Where the electrons tell mu.
  if (expected.electrons_by_potential * kt > 0.1) {
    EXPECT_NEAR(r.chemical_potential, mu, tolerance * n / expected.electrons_by_potential);
  }
  EXPECT_LE(r.commutator, tolerance * 10);
}

TYPED_TEST(ThermalDensity, IsTheFermiFunctionOfLapacksEigenvalues) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  for (const double kt : {20.0, 0.3, 0.02})
    for (const double electrons : {27.4, 28.0})
      for (const DensityMethod method : thermal_methods) {
        SCOPED_TRACE(::testing::Message()
                     << to_string(method) << " kT " << kt << ", " << electrons << " electrons");
        const auto r = density_matrix(
            this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = electrons, .temperature = kt},
            {.method = method, .filter_eps = 0});
        check_thermal(r, exact, electrons, 2, kt, 2e3 * this->eps / std::min(kt, 1.0));
        EXPECT_EQ(r.method, method);
        EXPECT_EQ(r.density.layout(), h.layout());
      }
}

/// Cold, and mu far from where the spectrum's middle or the gap is.
TYPED_TEST(ThermalDensity, FewElectronsOrFewHoles) {
  using T = TypeParam;
  const auto chain = make_chain<T>(5, 1);
  const auto exact = decompose(chain.hamiltonian);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes);
  constexpr double kt = 2e-3;
  for (const double electrons : {0.01, 19.99, 49.99}) {
    SCOPED_TRACE(electrons);
    const auto r = density_matrix(
        this->runtime(), {.hamiltonian = h, .electrons = electrons, .temperature = kt}, {.filter_eps = 0});
    check_thermal(r, exact, electrons, 2, kt, 2e3 * this->eps / kt);
    EXPECT_LT(r.steps.size(), 14u);
  }
}

/// A ring without dimerisation has no gap at any filling.
TYPED_TEST(ThermalDensity, Metals) {
  using T = TypeParam;
  constexpr Index sites = 48;
  const Matrix<T> ring = metallic_ring<T>(sites);
  const auto exact = decompose(ring);
  const auto h =
      blocks_of(this->runtime(), ring, std::vector<Index>(sites / 3, 3), Symmetry::hermitian, 0, 0);
  for (const double kt : {0.5, 0.02})
    for (const DensityMethod method : thermal_methods) {
      SCOPED_TRACE(::testing::Message() << to_string(method) << " kT " << kt);
      const auto r = density_matrix(this->runtime(),
                                    {.hamiltonian = h, .electrons = 14, .occupation = 1, .temperature = kt},
                                    {.method = method, .filter_eps = 0});
      check_thermal(r, exact, 14, 1, kt, 2e3 * this->eps / std::min(kt, 1.0));
      const auto w = density_matrix(this->runtime(),
                                    {.hamiltonian = h, .electrons = 14, .occupation = 1, .temperature = kt},
                                    {.method = method, .filter_eps = 0, .energy_weighted = true});
      ASSERT_TRUE(w);
      EXPECT_LE(difference(
                    gathered(w.energy_weighted),
                    function_of(exact, [&](double e) { return e * fermi((e - w.chemical_potential) / kt); })),
                2e4 * this->eps / kt);
    }
}

/// Without a filter, but for what the polynomials cost: few products, however cold.
TYPED_TEST(ThermalDensity, ColdIsTheDensityOfTemperature0) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const double electrons = 2.0 * double(chain.occupied);
  const auto cold = density_matrix(
      this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = electrons, .temperature = 1e-5},
      {.filter_eps = 0});
  const auto zero = density_matrix(this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = electrons},
                                   {.filter_eps = 0});
  ASSERT_TRUE(cold) << cold.status().message();
  EXPECT_EQ(cold.method, DensityMethod::fermi);
  EXPECT_LE(difference(gathered(cold.density), gathered(zero.density)), 2e4 * this->eps);
  EXPECT_NEAR(cold.energy, zero.energy, 2e4 * this->eps * electrons);
  EXPECT_LE(cold.entropy, 1e4 * this->eps);
  EXPECT_EQ(zero.free_energy, zero.energy);
  EXPECT_EQ(zero.entropy, 0);
}

TYPED_TEST(ThermalDensity, TheEntropyIsTheSlopeOfTheFreeEnergy) {
  using T = TypeParam;
  if (sizeof(RealOf<T>) < 8) GTEST_SKIP() << "differences of single precision";
  const Matrix<T> ring = metallic_ring<T>(30);
  const auto h = blocks_of(this->runtime(), ring, std::vector<Index>(10, 3));
  const auto at = [&](double kt) {
    const auto r = density_matrix(this->runtime(), {.hamiltonian = h, .electrons = 17.3, .temperature = kt},
                                  {.filter_eps = 0});
    EXPECT_TRUE(r) << r.status().message();
    return std::pair(r.free_energy, r.entropy);
  };
  constexpr double kt = 0.08, step = 1e-3;
  const double slope = (at(kt + step).first - at(kt - step).first) / (2 * step);
  EXPECT_NEAR(slope, -at(kt).second, 1e-4);
  EXPECT_GT(at(kt).second, 1);
}

TYPED_TEST(ThermalDensity, AGivenChemicalPotential) {
  using T = TypeParam;
  const Matrix<T> ring = metallic_ring<T>(24);
  const auto exact = decompose(ring);
  const auto h = blocks_of(this->runtime(), ring, std::vector<Index>(8, 3));
  constexpr double kt = 0.05, mu = -0.7;
  const ThermalNumbers expected = thermal_numbers(exact.values, mu, 2, kt);
  for (const DensityMethod method : {DensityMethod::automatic, DensityMethod::dense}) {
    const auto r =
        density_matrix(this->runtime(), {.hamiltonian = h, .temperature = kt, .chemical_potential = mu},
                       {.method = method, .filter_eps = 0});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_EQ(r.chemical_potential, mu);
    EXPECT_NEAR(r.electrons, expected.electrons, 1e6 * this->eps);
    EXPECT_NEAR(r.entropy, expected.entropy, 1e6 * this->eps);
    EXPECT_LE(difference(gathered(r.density),
                         function_of(exact, [&](double e) { return 2 * fermi((e - mu) / kt); })),
              2e5 * this->eps);
  }
}

/// What the filter costs is of its order, times the width of the spectrum over kT.
TYPED_TEST(ThermalDensity, Filtered) {
  using T = TypeParam;
  if (sizeof(RealOf<T>) < 8) GTEST_SKIP() << "the filter is below the rounding";
  const auto chain = make_chain<T>(40, 1, 0.4);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes, Symmetry::hermitian, 0, 1e-9),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes, Symmetry::hermitian, 0, 1e-9);
  constexpr double electrons = 151.5, kt = 0.1, filter = 1e-7;
  const auto r = density_matrix(this->runtime(),
                                {.hamiltonian = h, .overlap = &s, .electrons = electrons, .temperature = kt},
                                {.filter_eps = filter});
  check_thermal(r, exact, electrons, 2, kt, 100 * filter);
  EXPECT_LT(r.density.pattern().elements(), 0.5 * 200 * 200 / 2);
}

TYPED_TEST(ThermalDensity, NoneAllAndNothing) {
  using T = TypeParam;
  const auto chain = make_chain<T>(3, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes);
  const double n = double(chain.hamiltonian.rows());
  const auto empty = blocks_of(this->runtime(), Matrix<T>(0, 0), {});
  for (const DensityMethod method : thermal_methods) {
    const DensityOptions options{.method = method, .filter_eps = 0};
    const auto none = density_matrix(this->runtime(), {.hamiltonian = h, .temperature = 0.1}, options);
    ASSERT_TRUE(none) << none.status().message();
    EXPECT_NEAR(none.electrons, 0, 1e-12);
    EXPECT_NEAR(none.entropy, 0, 1e-12);
    const auto all =
        density_matrix(this->runtime(), {.hamiltonian = h, .electrons = 2 * n, .temperature = 0.1}, options);
    ASSERT_TRUE(all) << all.status().message();
    EXPECT_NEAR(all.electrons, 2 * n, 1e3 * this->eps * n);
    EXPECT_NEAR(all.entropy, 0, 1e-12);
    const auto nothing = density_matrix(this->runtime(), {.hamiltonian = empty, .temperature = 1}, options);
    ASSERT_TRUE(nothing) << nothing.status().message();
    EXPECT_EQ(nothing.electrons, 0);
  }
}

TYPED_TEST(ThermalDensity, WhatCannotBe) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto chain = make_chain<T>(3, 1);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes);
  const auto refuses = [&](const char* name, const DensityProblem<T>& problem,
                           const DensityOptions& options) {
    expect_refused(name, [&] { (void)density_matrix<T>(runtime, problem, options); });
  };
  for (const double kt : {-1.0, double(NAN), double(INFINITY)})
    refuses("temperature", {.hamiltonian = h, .temperature = kt}, {});
  for (const DensityMethod method :
       {DensityMethod::sign, DensityMethod::trs4, DensityMethod::tc2, DensityMethod::sp2})
    refuses("temperature", {.hamiltonian = h, .temperature = 0.1}, {.method = method});
  refuses("temperature", {.hamiltonian = h}, {.method = DensityMethod::fermi});
  refuses("electrons", {.hamiltonian = h, .electrons = 31, .temperature = 0.1}, {});
  refuses("electrons", {.hamiltonian = h, .electrons = 2.5}, {});
  const auto few = density_matrix(runtime, {.hamiltonian = h, .electrons = 7, .temperature = 1e-4},
                                  {.filter_eps = 0, .iterations = 2});
  EXPECT_EQ(few.status().code, StatusCode::iterations_exhausted) << few.status().message();
  EXPECT_EQ(few.steps.size(), 2u);
  EXPECT_FALSE(few.density.valid());
  const auto stopped = density_matrix(runtime, {.hamiltonian = h, .electrons = 7, .temperature = 0.1},
                                      {.monitor = [](const IterationStep&) { return false; }});
  EXPECT_EQ(stopped.status().code, StatusCode::stopped);
  Matrix<T> broken = chain.hamiltonian;
  broken(2, 2) = not_a_number<T>();
  const auto nan = blocks_of(runtime, broken, chain.sizes);
  Matrix<T> bad = chain.overlap;
  bad(0, 3) = bad(3, 0) = T(2);
  const auto indefinite = blocks_of(runtime, bad, chain.sizes);
  for (const DensityMethod method : thermal_methods) {
    const auto q =
        density_matrix(runtime, {.hamiltonian = nan, .electrons = 7, .temperature = 0.1}, {.method = method});
    EXPECT_EQ(q.status().code, StatusCode::not_finite) << q.status().message();
    const auto r = density_matrix(
        runtime, {.hamiltonian = h, .overlap = &indefinite, .electrons = 7, .temperature = 0.1},
        {.method = method});
    EXPECT_EQ(r.status().code, StatusCode::not_positive_definite) << r.status().message();
  }
}

}  // namespace
}  // namespace tessera
