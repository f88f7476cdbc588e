// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <numbers>

#include "density_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

constexpr DensityMethod all_methods[] = {
    DensityMethod::sign,         DensityMethod::trs4,      DensityMethod::tc2,   DensityMethod::sp2,
    DensityMethod::purification, DensityMethod::submatrix, DensityMethod::curvy, DensityMethod::dense};

template <class T>
class Density : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(Density, Scalars);

/// A result against the occupied eigenvectors of LAPACK.
template <class T>
void check_density(const DensityResult<T>& r, const Chain<T>& chain, const EigenDecomposition<T>& exact,
                   double occupation, double tolerance) {
  ASSERT_TRUE(r) << r.status().message();
  const Index states = chain.occupied;
  Matrix<T> expected = reference_density(exact, states);
  double energy = 0;
  for (Index k = 0; k < states; ++k) energy += occupation * double(exact.values[std::size_t(k)]);
  for (Index j = 0; j < expected.cols(); ++j)
    for (Index i = 0; i < expected.rows(); ++i) expected(i, j) *= RealOf<T>(occupation);
  EXPECT_LE(difference(gathered(r.density), expected), tolerance);
  EXPECT_NEAR(r.energy, energy, tolerance * double(states));
  EXPECT_NEAR(r.electrons, occupation * double(states), tolerance * double(states));
  EXPECT_LE(r.idempotency, tolerance);
  EXPECT_LE(r.commutator, tolerance);
  const double homo = double(exact.values[std::size_t(states - 1)]),
               lumo = double(exact.values[std::size_t(states)]);
  EXPECT_GT(r.chemical_potential, homo);
  EXPECT_LT(r.chemical_potential, lumo);
  const auto within = [&](const SpectralInterval& bounds, double value) {
    if (!std::isnan(bounds.lower)) EXPECT_LE(bounds.lower, value + tolerance);
    if (!std::isnan(bounds.upper)) EXPECT_GE(bounds.upper, value - tolerance);
  };
  within(r.gap.homo, homo);
  within(r.gap.lumo, lumo);
}

TYPED_TEST(Density, EveryMethodGivesThatOfLapack) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes, Symmetry::hermitian, 3);
  for (const bool overlap : {true, false}) {
    const auto exact =
        decompose(chain.hamiltonian, overlap ? chain.overlap : test::identity<T>(chain.overlap.rows()));
    for (const DensityMethod method : all_methods) {
      SCOPED_TRACE(::testing::Message() << to_string(method) << (overlap ? "" : " orthonormal"));
      DensityProblem<T> problem{
          .hamiltonian = h, .overlap = overlap ? &s : nullptr, .electrons = 2.0 * double(chain.occupied)};
      if (method == DensityMethod::sp2)
        problem.gap = GapBounds{{-2, double(exact.values[std::size_t(chain.occupied - 1)]) + 0.05},
                                {double(exact.values[std::size_t(chain.occupied)]) - 0.05, 2}};
      // Without groups of a given order one submatrix of all is the least work: purification.
      const auto r =
          density_matrix(this->runtime(), problem,
                         {.method = method, .filter_eps = 0, .mixed_precision = false, .group_order = 7});
      check_density(r, chain, exact, 2, 2e4 * this->eps);
      EXPECT_EQ(r.method, method);
      EXPECT_EQ(r.density.layout(), h.layout());
    }
  }
}

/// Of a long chain, with groups of a given order: environments that are a part of it.
TYPED_TEST(Density, SubmatricesOfAChain) {
  using T = TypeParam;
  const bool single = sizeof(RealOf<T>) == 4;
  constexpr Index units = 100;
  const auto chain = make_chain<T>(units, 1);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes, Symmetry::hermitian, 0, 1e-9),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes, Symmetry::hermitian, 3, 1e-9);
  const Matrix<T> expected = reference_density(exact, chain.occupied);
  double energy = 0;
  for (Index k = 0; k < chain.occupied; ++k) energy += double(exact.values[std::size_t(k)]);
  for (const Index order : {5, 60}) {
    double last = 1;
    for (const double filter : {1e-4, 1e-6}) {
      if (single && filter < 1e-5) continue;
      SCOPED_TRACE(::testing::Message() << "filter " << filter << ", groups of " << order);
      const auto r = density_matrix(
          this->runtime(),
          {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
          {.method = DensityMethod::submatrix, .filter_eps = filter, .group_order = order});
      ASSERT_TRUE(r) << r.status().message();
      const double estimate = 0.45 * std::sqrt(filter);  // of ||P_ij||, where environments end
      EXPECT_LE(difference(gathered(r.density), expected), estimate);
      // Of second order in that estimate, for each unit; H's elements are at most about 1.
      const double error = std::abs(r.energy - energy);
      EXPECT_LE(error, (filter + this->eps) * double(units));
      if (!single) {
        EXPECT_LE(error, last);
      }
      last = 0.1 * error;
      // After McWeeny's step blocks of less than the filter are left out.
      EXPECT_NEAR(r.electrons, double(chain.occupied), (0.01 * filter + 10 * this->eps) * double(units));
      EXPECT_LT(exact.values[std::size_t(chain.occupied - 1)], r.chemical_potential);
      EXPECT_GT(exact.values[std::size_t(chain.occupied)], r.chemical_potential);
      ASSERT_FALSE(r.steps.empty());
      const auto columns = std::find_if(r.steps.begin(), r.steps.end(),
                                        [](const IterationStep& step) { return step.stage == "columns"; });
      ASSERT_NE(columns, r.steps.end());
      EXPECT_LT(columns->occupation, 0.6);  // the largest submatrix
      EXPECT_EQ(r.steps.back().stage, "mcweeny");
      EXPECT_LE(r.idempotency, std::max(filter, 1e3 * this->eps));
    }
  }
}

TYPED_TEST(Density, TracesBoundTheGap) {
  using T = TypeParam;
  auto chain = make_chain<T>(12, 4);
  // High states make the gap a small part of the spectrum.
  for (Index i = 4; i < chain.hamiltonian.rows(); i += 5) chain.hamiltonian(i, i) += T(20);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes);
  const auto exact = decompose(chain.hamiltonian);
  for (const DensityMethod method :
       {DensityMethod::trs4, DensityMethod::tc2, DensityMethod::purification, DensityMethod::submatrix}) {
    SCOPED_TRACE(to_string(method));
    const auto r = density_matrix(this->runtime(),
                                  {.hamiltonian = h, .electrons = double(chain.occupied), .occupation = 1},
                                  {.method = method, .filter_eps = 0, .mixed_precision = false});
    check_density(r, chain, exact, 1, 2e4 * this->eps);
    const double homo = double(exact.values[std::size_t(chain.occupied - 1)]),
                 lumo = double(exact.values[std::size_t(chain.occupied)]);
    // The bounds are there, and near.
    EXPECT_LE(homo, r.gap.homo.upper);
    EXPECT_LE(r.gap.homo.upper, homo + 0.3 * (lumo - homo));
    EXPECT_GE(lumo, r.gap.lumo.lower);
    EXPECT_GE(r.gap.lumo.lower, lumo - 0.3 * (lumo - homo));
    // With them the next computation takes fewer products.
    const auto next =
        density_matrix(this->runtime(),
                       {.hamiltonian = h, .electrons = double(chain.occupied), .occupation = 1, .gap = r.gap},
                       {.filter_eps = 0});
    ASSERT_TRUE(next) << next.status().message();
    EXPECT_EQ(next.method, DensityMethod::sp2);
    check_density(next, chain, exact, 1, 2e4 * this->eps);
    EXPECT_LT(next.products, r.products);
  }
}

TYPED_TEST(Density, FormerFactorsAreRefined) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  Matrix<T> moved = chain.overlap;
  for (Index i = 0; i < moved.rows(); ++i) moved(i, i) += T(RealOf<T>(1e-3));
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes),
             t = blocks_of(this->runtime(), moved, chain.sizes);
  const double electrons = 2.0 * double(chain.occupied);
  const auto first = density_matrix(
      this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = electrons}, {.filter_eps = 0});
  ASSERT_TRUE(first);
  const auto next = density_matrix(
      this->runtime(),
      {.hamiltonian = h, .overlap = &t, .electrons = electrons, .inverse_factor = &first.inverse_factor},
      {.filter_eps = 0});
  check_density(next, chain, decompose(chain.hamiltonian, moved), 2, 2e4 * this->eps);
  EXPECT_LT(next.products, first.products);
  EXPECT_EQ(next.steps.front().stage, "inverse_factor");
}

TYPED_TEST(Density, EnergyWeighted) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  const auto r = density_matrix(this->runtime(),
                                {.hamiltonian = h, .overlap = &s, .electrons = 2.0 * double(chain.occupied)},
                                {.filter_eps = 0, .energy_weighted = true});
  ASSERT_TRUE(r) << r.status().message();
  const auto expected =
      function_of(exact, [&](double energy) { return energy < r.chemical_potential ? 2 * energy : 0.0; });
  EXPECT_LE(difference(gathered(r.energy_weighted), expected), 2e4 * this->eps);
}

/// Hopping -1 and -t in turn around a ring: energies +-|1 + t e^{i q}|, q = 2 pi k / cells.
TYPED_TEST(Density, DimerisedChain) {
  using T = TypeParam;
  constexpr Index cells = 16;
  constexpr double t = 0.6;
  Matrix<T> ring(2 * cells, 2 * cells);
  double energy = 0;
  for (Index c = 0; c < cells; ++c) {
    const Index a = 2 * c, b = a + 1, next = (a + 2) % (2 * cells);
    ring(a, b) = ring(b, a) = T(-1);
    ring(b, next) = ring(next, b) = T(RealOf<T>(-t));
    energy -= std::abs(std::complex<double>(1) + std::polar(t, 2 * std::numbers::pi * double(c) / cells));
  }
  const auto h = blocks_of(this->runtime(), ring, std::vector<Index>(cells, 2), Symmetry::hermitian, 0, 0);
  for (const DensityMethod method : all_methods) {
    SCOPED_TRACE(to_string(method));
    const auto r = density_matrix(this->runtime(), {.hamiltonian = h, .electrons = 2.0 * cells},
                                  {.method = method, .filter_eps = 0, .mixed_precision = false});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.energy, 2 * energy, 2e3 * this->eps * cells);
    // The spectrum is symmetric, and no site is charged.
    EXPECT_NEAR(r.chemical_potential, 0, 1 - t);
    const auto p = gathered(r.density);
    for (Index i = 0; i < p.rows(); ++i) EXPECT_NEAR(real_part(p(i, i)), 1, 2e3 * this->eps);
  }
}

TYPED_TEST(Density, NothingOrEverythingIsOccupied) {
  using T = TypeParam;
  const auto chain = make_chain<T>(3, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const double n = double(chain.overlap.rows());
  for (const DensityMethod method : all_methods) {
    SCOPED_TRACE(to_string(method));
    const auto none = density_matrix(this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = 0},
                                     {.method = method, .filter_eps = 0, .mixed_precision = false});
    ASSERT_TRUE(none) << none.status().message();
    EXPECT_EQ(none.energy, 0);
    EXPECT_EQ(none.electrons, 0);
    const auto all = density_matrix(this->runtime(), {.hamiltonian = h, .overlap = &s, .electrons = 2 * n},
                                    {.method = method, .filter_eps = 0, .mixed_precision = false});
    ASSERT_TRUE(all) << all.status().message();
    EXPECT_NEAR(all.electrons, 2 * n, 1e3 * this->eps * n);
    // P = 2 S^{-1}
    EXPECT_LE(difference(product(gathered(all.density), chain.overlap),
                         function_of(decompose(test::identity<T>(Index(n))), [](double) { return 2.0; })),
              2e3 * this->eps);
  }
  const auto empty = blocks_of(this->runtime(), Matrix<T>(0, 0), {});
  const auto r = density_matrix(this->runtime(), {.hamiltonian = empty, .electrons = 0});
  ASSERT_TRUE(r) << r.status().message();
  EXPECT_EQ(r.electrons, 0);
}

TYPED_TEST(Density, BelowAGivenChemicalPotential) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  const double mu =
      0.5 * double(exact.values[std::size_t(chain.occupied - 1)] + exact.values[std::size_t(chain.occupied)]);
  const auto r = density_matrix(this->runtime(), {.hamiltonian = h, .overlap = &s, .chemical_potential = mu},
                                {.filter_eps = 0});
  EXPECT_EQ(r.method, DensityMethod::sign);
  check_density(r, chain, exact, 2, 2e4 * this->eps);
  for (const double outside : {-100.0, 100.0}) {
    const auto o = density_matrix(
        this->runtime(), {.hamiltonian = h, .overlap = &s, .chemical_potential = outside}, {.filter_eps = 0});
    ASSERT_TRUE(o) << o.status().message();
    EXPECT_NEAR(o.electrons, outside < 0 ? 0 : 2.0 * double(chain.overlap.rows()), 0.01);
  }
}

TYPED_TEST(Density, WithoutAGapThereIsAStatusAndNoDensity) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  // An even ring without dimerisation, one electron pair more than half: the highest level is degenerate.
  constexpr Index sites = 16;
  Matrix<T> ring(sites, sites);
  for (Index i = 0; i < sites; ++i) ring(i, (i + 1) % sites) = ring((i + 1) % sites, i) = T(-1);
  const auto h = blocks_of(runtime, ring, std::vector<Index>(sites / 2, 2));
  for (const DensityMethod method : all_methods) {
    SCOPED_TRACE(to_string(method));
    const auto r = density_matrix(runtime, {.hamiltonian = h, .electrons = 4},
                                  {.method = method, .filter_eps = 0, .mixed_precision = false});
    EXPECT_EQ(r.status().code, StatusCode::no_gap) << r.status().message();
    if (method != DensityMethod::dense) EXPECT_GT(r.steps.size(), 3u);
    EXPECT_FALSE(r.density.valid());
  }
}

TYPED_TEST(Density, WhatCannotBeIsAStatus) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  auto chain = make_chain<T>(4, 1);
  const double electrons = 2.0 * double(chain.occupied);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes),
             s = blocks_of(runtime, chain.overlap, chain.sizes);
  for (const DensityMethod method : all_methods) {
    SCOPED_TRACE(to_string(method));
    Matrix<T> bad = chain.overlap;
    bad(0, 3) = bad(3, 0) = T(2);
    const auto indefinite = blocks_of(runtime, bad, chain.sizes);
    const auto r = density_matrix(runtime, {.hamiltonian = h, .overlap = &indefinite, .electrons = electrons},
                                  {.method = method});
    EXPECT_EQ(r.status().code, StatusCode::not_positive_definite) << r.status().message();
    Matrix<T> broken = chain.hamiltonian;
    broken(2, 2) = not_a_number<T>();
    const auto nan = blocks_of(runtime, broken, chain.sizes);
    const auto q = density_matrix(runtime, {.hamiltonian = nan, .overlap = &s, .electrons = electrons},
                                  {.method = method});
    EXPECT_EQ(q.status().code, StatusCode::not_finite) << q.status().message();
    if (method == DensityMethod::dense) continue;
    const auto few = density_matrix(runtime, {.hamiltonian = h, .electrons = electrons},
                                    {.method = method, .iterations = 2});
    EXPECT_FALSE(few);
    EXPECT_FALSE(few.density.valid());
    const auto stopped =
        density_matrix(runtime, {.hamiltonian = h, .electrons = electrons},
                       {.method = method, .monitor = [](const IterationStep&) { return false; }});
    EXPECT_EQ(stopped.status().code, StatusCode::stopped);
    EXPECT_EQ(stopped.steps.size(), 1u);
  }
}

/// Curvy steps turn the density of a Hamiltonian nearby; what is no such density is a status, and so is one of
/// other states, for which the gradient is zero, too.
TYPED_TEST(Density, CurvyStepsBeginWithAFormerDensity) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  auto chain = make_chain<T>(7, 1);
  const auto former = decompose(chain.hamiltonian, chain.overlap);
  const auto twice = [](T x, Index, Index) { return T(2) * x; };
  const auto p = blocks_of(runtime, mapped(reference_density(former, chain.occupied), twice), chain.sizes);
  const auto s = blocks_of(runtime, chain.overlap, chain.sizes);
  const auto change = random_hermitian<T>(chain.overlap.rows(), 8);
  chain.hamiltonian =
      mapped(chain.hamiltonian, [&](T x, Index i, Index j) { return x + RealOf<T>(1e-4) * change(i, j); });
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes);
  DensityProblem<T> problem{.hamiltonian = h, .overlap = &s, .electrons = 2.0 * double(chain.occupied)};
  const DensityOptions options{.method = DensityMethod::curvy, .filter_eps = 0};
  const auto afresh = density_matrix<T>(runtime, problem, options);
  problem.density = &p;
  const auto r = density_matrix<T>(runtime, problem, options);
  check_density(r, chain, decompose(chain.hamiltonian, chain.overlap), 2, 2e4 * this->eps);
  EXPECT_LT(r.steps.size(), afresh.steps.size());
  EXPECT_LT(r.products, afresh.products);
  // With a filter the gradient ends at its noise, and the energy is right all the same.
  problem.density = nullptr;
  for (const double eps : {1e-4, 1e-6}) {
    const auto filtered =
        density_matrix<T>(runtime, problem, {.method = DensityMethod::curvy, .filter_eps = eps});
    ASSERT_TRUE(filtered) << filtered.status().message();
    EXPECT_NEAR(filtered.energy, afresh.energy,
                std::max(0.1 * eps, 1e3 * this->eps) * double(chain.occupied));
  }
  problem.density = &p;

  problem.electrons -= 4;
  const auto others = density_matrix<T>(runtime, problem, options);
  EXPECT_EQ(others.status().code, StatusCode::no_gap) << others.status().message();
  problem.electrons += 4;
  // States of H, but not the lowest ones: where nothing couples them no step leads away.
  const std::vector<double> levels{-1, -0.5, 0.5, 1}, occupations{2, 0, 2, 0};
  const auto diagonal = [&](const std::vector<double>& values) {
    Matrix<T> a(4, 4);
    for (Index i = 0; i < 4; ++i) a(i, i) = T(RealOf<T>(values[std::size_t(i)]));
    return blocks_of(runtime, a, {2, 2});
  };
  const auto apart = diagonal(levels), excited = diagonal(occupations);
  const auto stationary =
      density_matrix<T>(runtime, {.hamiltonian = apart, .electrons = 4, .density = &excited}, options);
  EXPECT_EQ(stationary.status().code, StatusCode::no_gap) << stationary.status().message();
  EXPECT_FALSE(stationary.density.valid());
}

/// S' of a block basis may have eigenvalues far from 1: more levels of its inverse square root.
TYPED_TEST(Density, SubmatricesOfANearlySingularOverlap) {
  using T = TypeParam;
  const auto chain = make_chain<T>(6, 1);
  const Index n = chain.hamiltonian.rows();
  auto values = geometric(0.02, 2, n);
  const Matrix<T> overlap = of_spectrum<T>(values, 5);
  // H c = e S c with e = -1 and 1.
  const auto root = function_of(decompose(overlap), [](double x) { return std::sqrt(x); });
  std::vector<double> energies(std::size_t(n), 1.0);
  for (Index k = 0; k < chain.occupied; ++k) energies[std::size_t(k)] = -1;
  Matrix<T> hamiltonian = product(product(root, of_spectrum<T>(energies, 6)), root);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i <= j; ++i)
      hamiltonian(i, j) = i == j ? T(real_part(hamiltonian(i, i))) : conjugate(hamiltonian(j, i));
  const auto h = blocks_of(this->runtime(), hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), overlap, chain.sizes);
  const auto r = density_matrix(
      this->runtime(),
      {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
      {.method = DensityMethod::submatrix, .filter_eps = 0, .mixed_precision = false, .group_order = 10});
  ASSERT_TRUE(r) << r.status().message();
  const double tolerance = 1e6 * this->eps;  // two to three orders of condition
  EXPECT_NEAR(r.energy, -double(chain.occupied), tolerance);
  EXPECT_LE(r.idempotency, tolerance);
  EXPECT_LE(
      difference(gathered(r.density), reference_density(decompose(hamiltonian, overlap), chain.occupied)),
      10 * tolerance);
}

TYPED_TEST(Density, BadArguments) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto chain = make_chain<T>(3, 1);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes);
  const auto full = blocks_of(runtime, chain.hamiltonian, chain.sizes, Symmetry::none);
  const auto other = blocks_of(runtime, Matrix<T>(4, 4), {4});
  const BlockSparseMatrix<T> never;
  const auto refuses = [&](const char* name, const DensityProblem<T>& problem,
                           const DensityOptions& options = {}) {
    expect_refused(name, [&] { (void)density_matrix<T>(runtime, problem, options); });
    expect_refused(name, [&] { (void)submit_density_matrix<T>(runtime, problem, options).wait(); });
  };
  refuses("hamiltonian", {.hamiltonian = never});
  refuses("hamiltonian", {.hamiltonian = full});
  refuses("overlap", {.hamiltonian = h, .overlap = &other});
  refuses("inverse_factor", {.hamiltonian = h, .inverse_factor = &h});
  for (const double electrons : {-2.0, 3.0, 1e9, std::nan("")})
    refuses("electrons", {.hamiltonian = h, .electrons = electrons});
  refuses("density", {.hamiltonian = h, .density = &h});
  refuses("density", {.hamiltonian = h, .density = &other}, {.method = DensityMethod::curvy});
  refuses("occupation", {.hamiltonian = h, .occupation = 0});
  refuses("chemical_potential", {.hamiltonian = h, .chemical_potential = INFINITY});
  refuses("chemical_potential", {.hamiltonian = h, .chemical_potential = 1}, {.method = DensityMethod::trs4});
  refuses("filter_eps", {.hamiltonian = h}, {.filter_eps = -1});
  refuses("tolerance", {.hamiltonian = h}, {.tolerance = NAN});
  refuses("iterations", {.hamiltonian = h}, {.iterations = 0});
  refuses("sign_order", {.hamiltonian = h}, {.sign_order = 1});
  refuses("factor_order", {.hamiltonian = h}, {.factor_order = 6});
}

/// Spin channels, or k-points.
TYPED_TEST(Density, ManyInFlight) {
  using T = TypeParam;
  const auto chain = make_chain<T>(7, 1);
  const auto h = blocks_of(this->runtime(), chain.hamiltonian, chain.sizes),
             s = blocks_of(this->runtime(), chain.overlap, chain.sizes);
  const auto exact = decompose(chain.hamiltonian, chain.overlap);
  std::vector<Completion<DensityResult<T>>> channels;
  for (const DensityMethod method : {DensityMethod::trs4, DensityMethod::tc2, DensityMethod::sign})
    channels.push_back(submit_density_matrix(
        this->runtime(),
        {.hamiltonian = h, .overlap = &s, .electrons = double(chain.occupied), .occupation = 1},
        {.method = method, .filter_eps = 0, .mixed_precision = false}));
  for (auto& channel : channels) check_density(channel.result(), chain, exact, 1, 2e4 * this->eps);
}

}  // namespace
}  // namespace tessera
