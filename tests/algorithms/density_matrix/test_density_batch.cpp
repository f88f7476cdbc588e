// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/file_checks.hpp>

#include <tessera/density_matrices.hpp>
#include <tessera/density_state.hpp>

#include "density_cases.hpp"
#include "thermal_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace density_test;
using test::Matrix;

template <class T>
class DensityBatches : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(DensityBatches, Scalars);

/// Rings at several fluxes: k-points of a crystal whose cell is the ring.
template <class T>
struct Crystal {
  std::vector<EigenDecomposition<T>> exact;
  std::vector<BlockSparseMatrix<T>> hamiltonians;
  std::vector<double> weights{0.5, 1, 0.25};
};

template <class T>
Crystal<T> make_crystal(Runtime& runtime) {
  Crystal<T> crystal;
  for (const double flux : {0.0, 1.1, 2.3}) {
    Matrix<T> ring = metallic_ring<T>(24, flux);
    // Real types know no flux: another potential tells the cells apart.
    for (Index i = 0; i < ring.rows(); i += 3) ring(i, i) += T(RealOf<T>(0.2 * flux));
    crystal.exact.push_back(decompose(ring));
    crystal.hamiltonians.push_back(blocks_of(runtime, ring, std::vector<Index>(8, 3)));
  }
  return crystal;
}

TYPED_TEST(DensityBatches, ACommonChemicalPotential) {
  using T = TypeParam;
  const auto crystal = make_crystal<T>(this->runtime());
  constexpr double kt = 0.04, each = 17.2;
  DensityBatch<T> batch{.weights = crystal.weights, .common_chemical_potential = true};
  for (const auto& h : crystal.hamiltonians)
    batch.problems.push_back({.hamiltonian = h, .electrons = each, .temperature = kt});
  // LAPACK's eigenvalues, and mu by bisection of their weighted sum.
  const auto sum_at = [&](double mu) {
    ThermalNumbers sum;
    for (std::size_t k = 0; k < 3; ++k) {
      const ThermalNumbers of = thermal_numbers(crystal.exact[k].values, mu, 2, kt);
      sum.electrons += crystal.weights[k] * of.electrons;
      sum.energy += crystal.weights[k] * of.energy;
      sum.entropy += crystal.weights[k] * of.entropy;
    }
    return sum;
  };
  double lower = -10, upper = 10;
  for (int k = 0; k < 100; ++k)
    (sum_at((lower + upper) / 2).electrons < 1.75 * each ? lower : upper) = (lower + upper) / 2;
  const double mu = (lower + upper) / 2, tolerance = 1e5 * this->eps;
  for (const DensityMethod method : {DensityMethod::fermi, DensityMethod::dense}) {
    SCOPED_TRACE(to_string(method));
    int inside = 0;
    Index steps = 0;
    auto running = submit_density_matrices(
        this->runtime(), batch, {.method = method, .filter_eps = 0, .monitor = [&](const IterationStep&) {
                                   EXPECT_EQ(++inside, 1);
                                   ++steps;
                                   --inside;
                                   return true;
                                 }});
    const auto& r = running.result();
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.chemical_potential, mu, tolerance);
    EXPECT_NEAR(r.electrons, 1.75 * each, tolerance);
    EXPECT_NEAR(r.energy, sum_at(mu).energy, tolerance);
    EXPECT_NEAR(r.entropy, sum_at(mu).entropy, tolerance);
    EXPECT_NEAR(r.free_energy, r.energy - kt * r.entropy, tolerance);
    Index lines = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(r.results[k].chemical_potential, r.chemical_potential);
      EXPECT_LE(difference(gathered(r.results[k].density),
                           function_of(crystal.exact[k], [&](double e) { return 2 * fermi((e - mu) / kt); })),
                tolerance);
      lines += Index(r.results[k].steps.size());
    }
    EXPECT_EQ(lines, steps);
    EXPECT_EQ(std::isnan(r.gap.homo.lower), method == DensityMethod::fermi);
    if (method == DensityMethod::dense) {
      EXPECT_LE(r.gap.homo.upper, mu);
      EXPECT_GE(r.gap.lumo.lower, mu);
    }
  }
}

/// Spin channels and k-points that have a gap: the same as one by one.
TYPED_TEST(DensityBatches, EachWithItsElectrons) {
  using T = TypeParam;
  const auto up = make_chain<T>(7, 1), down = make_chain<T>(6, 5);
  const auto h = blocks_of(this->runtime(), up.hamiltonian, up.sizes),
             g = blocks_of(this->runtime(), down.hamiltonian, down.sizes),
             s = blocks_of(this->runtime(), up.overlap, up.sizes);
  const auto exact_up = decompose(up.hamiltonian, up.overlap), exact_down = decompose(down.hamiltonian);
  DensityBatch<T> spins;
  spins.problems.push_back(
      {.hamiltonian = h, .overlap = &s, .electrons = double(up.occupied), .occupation = 1});
  spins.problems.push_back({.hamiltonian = g, .electrons = double(down.occupied), .occupation = 1});
  const auto r = density_matrices(this->runtime(), spins, {.filter_eps = 0});
  ASSERT_TRUE(r) << r.status().message();
  double energy = 0;
  for (Index k = 0; k < up.occupied; ++k) energy += double(exact_up.values[std::size_t(k)]);
  for (Index k = 0; k < down.occupied; ++k) energy += double(exact_down.values[std::size_t(k)]);
  const double tolerance = 1e5 * this->eps;
  EXPECT_NEAR(r.energy, energy, tolerance);
  EXPECT_NEAR(r.electrons, double(up.occupied + down.occupied), tolerance);
  EXPECT_TRUE(std::isnan(r.chemical_potential));
  const double homo = double(std::max(exact_up.values[std::size_t(up.occupied - 1)],
                                      exact_down.values[std::size_t(down.occupied - 1)])),
               lumo = double(std::min(exact_up.values[std::size_t(up.occupied)],
                                      exact_down.values[std::size_t(down.occupied)]));
  EXPECT_LE(homo, r.gap.homo.upper + tolerance);
  EXPECT_GE(lumo, r.gap.lumo.lower - tolerance);
  EXPECT_LT(r.gap.homo.upper, r.gap.lumo.lower);
  EXPECT_LE(difference(gathered(r.results[1].density), reference_density(exact_down, down.occupied)),
            tolerance);
}

TYPED_TEST(DensityBatches, WhatCannotBe) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto chain = make_chain<T>(3, 1);
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes);
  const DensityProblem<T> cold{.hamiltonian = h, .electrons = 12},
      warm{.hamiltonian = h, .electrons = 12, .temperature = 0.1},
      hot{.hamiltonian = h, .electrons = 12, .temperature = 0.2}, odd{.hamiltonian = h, .electrons = 11.5};
  const auto refuses = [&](const char* name, const DensityBatch<T>& batch) {
    expect_refused(name, [&] { (void)density_matrices<T>(runtime, batch); });
    expect_refused(name, [&] { (void)submit_density_matrices<T>(runtime, batch).wait(); });
  };
  refuses("problems", {});
  refuses("electrons", {.problems = {cold, odd}});
  refuses("weights", {.problems = {cold, cold}, .weights = {1}});
  refuses("weights", {.problems = {cold}, .weights = {-1}});
  refuses("common_chemical_potential", {.problems = {cold}, .common_chemical_potential = true});
  refuses("temperature", {.problems = {warm, hot}, .common_chemical_potential = true});
  // One that fails: its status is that of all, and the others are there.
  Matrix<T> broken = chain.hamiltonian;
  broken(2, 2) = not_a_number<T>();
  const auto nan = blocks_of(runtime, broken, chain.sizes);
  const auto r = density_matrices<T>(runtime, {.problems = {cold, {.hamiltonian = nan, .electrons = 12}}});
  EXPECT_EQ(r.status().code, StatusCode::not_finite) << r.status().message();
  EXPECT_TRUE(r.results[0]);
  EXPECT_TRUE(r.results[0].density.valid());
  const auto q = density_matrices<T>(
      runtime, {.problems = {warm, {.hamiltonian = nan, .electrons = 12, .temperature = 0.1}},
                .common_chemical_potential = true});
  EXPECT_EQ(q.status().code, StatusCode::not_finite) << q.status().message();
  EXPECT_FALSE(q.results[0].density.valid());
}

template <class T>
class DensityStates : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(DensityStates, Scalars);

TYPED_TEST(DensityStates, TheNextComputationIsShorter) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  auto chain = make_chain<T>(9, 1);
  // The gap is far from the spectrum's middle, where a search without it begins.
  for (Index i = 4; i < chain.hamiltonian.rows(); i += 5) chain.hamiltonian(i, i) += T(20);
  Matrix<T> moved_h = chain.hamiltonian, moved_s = chain.overlap;
  constexpr double moved = 1e-3;
  for (Index i = 0; i < moved_h.rows(); i += 2) moved_h(i, i) += T(RealOf<T>(moved));
  for (Index i = 0; i < moved_s.rows(); ++i) moved_s(i, i) += T(RealOf<T>(1e-3));
  const auto h = blocks_of(runtime, chain.hamiltonian, chain.sizes),
             s = blocks_of(runtime, chain.overlap, chain.sizes), g = blocks_of(runtime, moved_h, chain.sizes),
             t = blocks_of(runtime, moved_s, chain.sizes);
  const double electrons = 2 * double(chain.occupied);
  const DensityProblem<T> problem{.hamiltonian = h, .overlap = &s, .electrons = electrons};
  const auto first = density_matrix<T>(runtime, problem, {.filter_eps = 0});
  ASSERT_TRUE(first) << first.status().message();
  const test::TemporaryFile file(runtime, ".h5");
  write_density_state(file.path(), state_of(problem, first));
  const auto state = read_density_state<T>(runtime, file.path());
  EXPECT_EQ(difference(gathered(state.density), gathered(first.density)), 0);
  EXPECT_EQ(difference(gathered(state.inverse_factor), gathered(first.inverse_factor)), 0);
  EXPECT_EQ(state.chemical_potential, first.chemical_potential);
  EXPECT_EQ(state.energy, first.energy);
  EXPECT_EQ(state.occupation, 2);
  EXPECT_EQ(state.gap.homo.upper, first.gap.homo.upper);
  EXPECT_EQ(state.gap.lumo.lower, first.gap.lumo.lower);
  const auto gap = narrowed(state.gap, 0.05);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->homo.upper, first.gap.homo.upper + 0.05);
  const auto next = density_matrix<T>(runtime,
                                      {.hamiltonian = g,
                                       .overlap = &t,
                                       .electrons = electrons,
                                       .inverse_factor = &state.inverse_factor,
                                       .gap = gap},
                                      {.filter_eps = 0});
  ASSERT_TRUE(next) << next.status().message();
  EXPECT_EQ(next.method, DensityMethod::sp2);
  EXPECT_LT(next.products, first.products);
  Matrix<T> expected = reference_density(decompose(moved_h, moved_s), chain.occupied);
  for (Index j = 0; j < expected.cols(); ++j)
    for (Index i = 0; i < expected.rows(); ++i) expected(i, j) *= RealOf<T>(2);
  EXPECT_LE(difference(gathered(next.density), expected), 1e5 * this->eps);
  // The search for mu begins in the gap: one sign is enough.
  const auto by_sign = [&](std::optional<GapBounds> known) {
    const auto r =
        density_matrix<T>(runtime, {.hamiltonian = g, .overlap = &t, .electrons = electrons, .gap = known},
                          {.method = DensityMethod::sign, .filter_eps = 0});
    EXPECT_TRUE(r) << r.status().message();
    return std::count_if(r.steps.begin(), r.steps.end(),
                         [](const IterationStep& step) { return step.stage == "chemical_potential"; });
  };
  EXPECT_EQ(by_sign(gap), 1);
  EXPECT_GT(by_sign(std::nullopt), 1);
  EXPECT_FALSE(narrowed(state.gap, 10));
  const double none = std::nan("");
  EXPECT_FALSE(narrowed({{none, none}, {0, 0}}, 0));
}

TYPED_TEST(DensityStates, WithoutAnOverlapThereIsNoFactor) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto h = blocks_of(runtime, metallic_ring<T>(12), std::vector<Index>(4, 3));
  const DensityProblem<T> problem{.hamiltonian = h, .electrons = 7, .occupation = 1, .temperature = 0.1};
  const auto r = density_matrix<T>(runtime, problem, {.filter_eps = 0});
  ASSERT_TRUE(r) << r.status().message();
  const test::TemporaryFile file(runtime, ".h5");
  write_density_state(file.path(), state_of(problem, r));
  const auto state = read_density_state<T>(runtime, file.path());
  EXPECT_FALSE(state.inverse_factor.valid());
  EXPECT_TRUE(std::isnan(state.gap.homo.lower));
  EXPECT_EQ(state.temperature, 0.1);
  EXPECT_EQ(state.occupation, 1);
}

TYPED_TEST(DensityStates, OtherFilesAndDamagedOnes) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  const auto h = blocks_of(runtime, metallic_ring<T>(12), std::vector<Index>(4, 3));
  const test::TemporaryFile file(runtime, ".h5");
  const auto fails = [&](const char* reason) {
    test::expect_input_error([&] { (void)read_density_state<T>(runtime, file.path()); }, file.path(), 0,
                             reason);
  };
  fails("");
  write_hdf5(file.path(), h);
  fails("tessera density state 1");
  DensityState<T> state{.density = h,
                        .inverse_factor = blocks_of(runtime, Matrix<T>(4, 4), {4}, Symmetry::none)};
  write_density_state(file.path(), state);
  fails("inverse factor has other blocks");
  state.inverse_factor = {};
  state.temperature = -1;
  write_density_state(file.path(), state);
  fails("temperature -1");
  state.temperature = 0;
  state.density = blocks_of(runtime, metallic_ring<T>(12), std::vector<Index>(4, 3), Symmetry::none);
  write_density_state(file.path(), state);
  fails("half-stored");
  state.density = h;
  write_density_state(file.path(), state);
  EXPECT_NO_THROW((void)read_density_state<T>(runtime, file.path()));
  // Cut off.
  const std::string bytes = file.text();
  std::ofstream(file.path(), std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  fails("");
  expect_refused("density", [&] { write_density_state<T>(file.path(), {.density = {}}); });
}

}  // namespace
}  // namespace tessera
