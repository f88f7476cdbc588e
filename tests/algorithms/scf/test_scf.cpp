// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "scf_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace scf_test;
using test::Matrix;

template <class T>
class Scf : public RuntimeTest<T> {
 protected:
  static constexpr double eps = precision<T>;
};
TYPED_TEST_SUITE(Scf, Scalars);

TYPED_TEST(Scf, EveryMethodComesToThatOfLapack) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  for (const bool overlap : {true, false}) {
    Index states = 0;
    const auto model = chain_in_mean_field<T>(5, 0.8, overlap, &states);
    const auto exact = dense_scf(model, {model.core}, {states}, 2);
    const auto core = blocks_of(runtime, model.core, model.sizes),
               s = blocks_of(runtime, model.overlap, model.sizes, Symmetry::hermitian, 3);
    for (const ScfMethod method : all_scf_methods) {
      SCOPED_TRACE(::testing::Message() << to_string(method) << (overlap ? "" : " orthonormal"));
      const ScfProblem<T> problem{.functional = functional_of(core, model.strength),
                                  .overlap = overlap ? &s : nullptr,
                                  .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}};
      const auto r = scf<T>(runtime, problem,
                            {.method = method,
                             .mixing = 0.5,
                             .tolerance = std::max(1e-8, 300 * this->eps),
                             .energy_tolerance = std::max(1e-11, 30 * this->eps),
                             .density = {.filter_eps = 0, .energy_weighted = true}});
      ASSERT_TRUE(r) << r.status().message();
      const double scale = double(states);
      EXPECT_NEAR(r.energy, exact.energy, std::max(1e-10, 100 * this->eps) * scale);
      ASSERT_EQ(r.channels.size(), 1u);
      const auto& state = r.channels[0];
      EXPECT_LE(difference(gathered(state.density), exact.densities[0]), std::max(3e-7, 4e3 * this->eps));
      EXPECT_EQ(state.density.layout(), (overlap ? s : core).layout());
      EXPECT_NEAR(state.electrons, 2 * scale, 1e3 * this->eps * scale);
      EXPECT_LE(state.idempotency, 1e3 * this->eps);
      // The table is that of the field: its last line is the result's, of linear up to the last change.
      ASSERT_GT(r.steps.size(), 2u);
      for (const IterationStep& step : r.steps) EXPECT_EQ(step.stage, to_string(method));
      EXPECT_NEAR(r.steps.back().energy, r.energy, std::max(1e-6, 1e3 * this->eps));
      EXPECT_NEAR(r.steps.back().electrons, 2 * scale, 1e3 * this->eps * scale);
      EXPECT_GT(r.steps.back().products, 3);
      EXPECT_GE(r.evaluations, Index(r.steps.size()));
      // W = P H P / 2, and trace(W S) the sum of the occupied energies, trace(P H).
      EXPECT_NEAR(trace_of_product(gathered(state.energy_weighted), model.overlap), r.band_energy,
                  1e4 * this->eps * scale);
      EXPECT_NEAR(trace_of_product(gathered(state.hamiltonian), gathered(state.density)), r.band_energy,
                  1e3 * this->eps * scale);
    }
  }
}

template <class T>
class ScfInDouble : public RuntimeTest<T> {};
TYPED_TEST_SUITE(ScfInDouble, ::testing::Types<double>);

/// An antiferromagnet: two channels that break the symmetry of spins. A closed shell of the same ring is higher.
TYPED_TEST(ScfInDouble, OpenShellsHaveAChannelForEachSpin) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  constexpr Index sites = 16;
  const MeanField<T> model{staggered_ring<T>(sites, 0), test::identity<T>(sites),
                           std::vector<Index>(sites / 2, 2), 4};
  const Matrix<T> up = staggered_ring<T>(sites, 0.5), down = staggered_ring<T>(sites, -0.5);
  const auto exact = dense_scf(model, {up, down}, {sites / 2, sites / 2}, 1);
  const auto core = blocks_of(runtime, model.core, model.sizes), first = blocks_of(runtime, up, model.sizes),
             second = blocks_of(runtime, down, model.sizes);
  for (const ScfMethod method : all_scf_methods) {
    SCOPED_TRACE(to_string(method));
    const auto r = scf<T>(
        runtime,
        {.functional = functional_of(core, model.strength),
         .channels = {{.electrons = sites / 2, .occupation = 1, .hamiltonian = &first},
                      {.electrons = sites / 2, .occupation = 1, .hamiltonian = &second}}},
        {.method = method, .tolerance = 1e-8, .energy_tolerance = 1e-11, .density = {.filter_eps = 0}});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.energy, exact.energy, 1e-8);
    ASSERT_EQ(r.channels.size(), 2u);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_LE(difference(gathered(r.channels[s].density), exact.densities[s]), 1e-6);
      EXPECT_NEAR(r.channels[s].electrons, sites / 2, 1e-10);
    }
    const double magnetisation =
        std::abs(gathered(r.channels[0].density)(0, 0) - gathered(r.channels[1].density)(0, 0));
    EXPECT_GT(magnetisation, 0.5);
  }
}

/// Both spins begin alike: the open shell is the closed one, channel by channel.
TYPED_TEST(ScfInDouble, EqualSpinsAreAClosedShell) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  Index states = 0;
  const auto model = chain_in_mean_field<T>(4, 0.8, true, &states);
  const auto core = blocks_of(runtime, model.core, model.sizes),
             s = blocks_of(runtime, model.overlap, model.sizes);
  const ScfOptions options{.tolerance = 1e-8, .energy_tolerance = 1e-11, .density = {.filter_eps = 0}};
  const ScfChannel<T> spin{.electrons = double(states), .occupation = 1, .hamiltonian = &core};
  const auto closed = scf<T>(runtime,
                             {.functional = functional_of(core, model.strength),
                              .overlap = &s,
                              .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}},
                             options);
  const auto open = scf<T>(
      runtime, {.functional = functional_of(core, model.strength), .overlap = &s, .channels = {spin, spin}},
      options);
  ASSERT_TRUE(closed && open);
  EXPECT_NEAR(open.energy, closed.energy, 1e-11);
  EXPECT_EQ(open.steps.size(), closed.steps.size());
}

/// From the second density matrix on the gap is known: fewer products, the same field. The gap is a twentieth of the width.
TYPED_TEST(ScfInDouble, TheFormerGapSavesProducts) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  constexpr Index sites = 16;
  const MeanField<T> model{staggered_ring<T>(sites, 0.1), test::identity<T>(sites),
                           std::vector<Index>(sites / 4, 4), 0.5};
  const auto exact = dense_scf(model, {model.core}, {sites / 2}, 2);
  const auto core = blocks_of(runtime, model.core, model.sizes);
  for (const ScfMethod method : {ScfMethod::simple, ScfMethod::pulay}) {
    SCOPED_TRACE(to_string(method));
    // Of each the steps of the density matrices that are stretched.
    std::vector<Index> stretched;
    std::vector<ScfResult<T>> results;
    for (const DensityMethod density : {DensityMethod::automatic, DensityMethod::trs4, DensityMethod::tc2}) {
      stretched.push_back(0);
      const auto count = [&](const IterationStep& step) {
        stretched.back() += step.stage == "sp2";
        return true;
      };
      results.push_back(scf<T>(runtime,
                               {.functional = functional_of(core, model.strength),
                                .channels = {{.electrons = double(sites), .hamiltonian = &core}}},
                               {.method = method,
                                .mixing = 0.5,
                                .tolerance = 1e-7,
                                .energy_tolerance = 1e-10,
                                .density = {.method = density, .filter_eps = 0, .monitor = count}}));
      const ScfResult<T>& r = results.back();
      ASSERT_TRUE(r) << r.status().message();
      EXPECT_NEAR(r.energy, exact.energy, 1e-9);
      EXPECT_LE(difference(gathered(r.channels[0].density), exact.densities[0]), 1e-6);
    }
    EXPECT_EQ(results[0].steps.size(), results[1].steps.size());
    EXPECT_GT(stretched[0], 0);
    EXPECT_EQ(stretched[1] + stretched[2], 0);
    // Where H hardly changes any more; the commutator and the change of basis are counted, too.
    const auto last = [&](std::size_t k) { return double(results[k].steps.back().products); };
    EXPECT_LT(last(0), 0.75 * last(1));
    EXPECT_LT(last(0), 0.8 * last(2));
    EXPECT_LT(results[0].products, 0.9 * double(results[1].products));
  }
}

/// Where H depends strongly on P, Pulay's combination takes fewer steps than damping, and the minimisation none
/// that rises.
TYPED_TEST(ScfInDouble, PulayTakesFewerStepsThanDamping) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  Index states = 0;
  const auto model = chain_in_mean_field<T>(5, 1.2, true, &states);
  const auto core = blocks_of(runtime, model.core, model.sizes),
             s = blocks_of(runtime, model.overlap, model.sizes);
  std::vector<std::size_t> steps;
  std::vector<double> energies;
  for (const ScfMethod method : all_scf_methods) {
    SCOPED_TRACE(to_string(method));
    const auto r = scf<T>(
        runtime,
        {.functional = functional_of(core, model.strength),
         .overlap = &s,
         .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}},
        {.method = method, .tolerance = 1e-7, .energy_tolerance = 1e-10, .density = {.filter_eps = 0}});
    ASSERT_TRUE(r) << r.status().message();
    steps.push_back(r.steps.size());
    energies.push_back(r.energy);
    if (method == ScfMethod::direct) {
      for (std::size_t k = 1; k < r.steps.size(); ++k)
        EXPECT_LE(r.steps[k].energy, r.steps[k - 1].energy + 1e-10);
    }
  }
  for (const double energy : energies) EXPECT_NEAR(energy, energies[0], 1e-8);
  EXPECT_LT(2 * steps[2], steps[0]);
  EXPECT_LT(2 * steps[2], steps[1]);
  EXPECT_LT(2 * steps[3], steps[0]);
}

/// Charge that sloshes between two sublattices: a whole step of mixing never ends; the minimisation does.
TYPED_TEST(ScfInDouble, TheMinimisationConvergesWhereMixingDoesNot) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  constexpr Index sites = 12;
  const MeanField<T> model{staggered_ring<T>(sites, 1), test::identity<T>(sites),
                           std::vector<Index>(sites / 2, 2), 6};
  const auto exact = dense_scf(model, {model.core}, {sites / 2}, 2, 0.1);
  const auto core = blocks_of(runtime, model.core, model.sizes);
  const ScfProblem<T> problem{.functional = functional_of(core, model.strength),
                              .channels = {{.electrons = sites, .hamiltonian = &core}}};
  const auto mixed =
      scf<T>(runtime, problem,
             {.method = ScfMethod::simple, .mixing = 1, .iterations = 30, .density = {.filter_eps = 0}});
  EXPECT_EQ(mixed.status().code, StatusCode::iterations_exhausted) << mixed.status().message();
  EXPECT_EQ(mixed.steps.size(), 30u);
  // The last density is there, to go on with elsewhere.
  ASSERT_EQ(mixed.channels.size(), 1u);
  EXPECT_TRUE(mixed.channels[0].density.valid());
  const auto direct = scf<T>(runtime, problem,
                             {.method = ScfMethod::direct,
                              .tolerance = 1e-8,
                              .energy_tolerance = 1e-11,
                              .iterations = 30,
                              .density = {.filter_eps = 0}});
  ASSERT_TRUE(direct) << direct.status().message();
  EXPECT_NEAR(direct.energy, exact.energy, 1e-8);
}

TYPED_TEST(ScfInDouble, AFormerDensityAndFactorAreABegin) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  Index states = 0;
  const auto model = chain_in_mean_field<T>(5, 0.8, true, &states);
  const auto core = blocks_of(runtime, model.core, model.sizes),
             s = blocks_of(runtime, model.overlap, model.sizes);
  ScfProblem<T> problem{.functional = functional_of(core, model.strength),
                        .overlap = &s,
                        .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}};
  const ScfOptions options{.tolerance = 1e-8, .energy_tolerance = 1e-11, .density = {.filter_eps = 0}};
  const auto first = scf<T>(runtime, problem, options);
  ASSERT_TRUE(first) << first.status().message();
  problem.channels[0].hamiltonian = nullptr;
  problem.channels[0].density = &first.channels[0].density;
  problem.inverse_factor = &first.inverse_factor;
  for (const ScfMethod method : all_scf_methods) {
    SCOPED_TRACE(to_string(method));
    ScfOptions again = options;
    again.method = method;
    const auto r = scf<T>(runtime, problem, again);
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.energy, first.energy, 1e-11);
    EXPECT_LE(r.steps.size(), 3u);
  }
  // A density of another number of electrons is none to begin with.
  problem.channels[0].electrons -= 2;
  const auto wrong = scf<T>(runtime, problem, options);
  EXPECT_EQ(wrong.status().code, StatusCode::no_gap) << wrong.status().message();
  EXPECT_EQ(wrong.status().stage, "density");
  EXPECT_TRUE(wrong.channels.empty());
}

/// A filter costs the energy little; submitted fields come to the same.
TYPED_TEST(ScfInDouble, AFilterCostsLittle) {
  using T = TypeParam;
  Runtime& runtime = this->runtime();
  Index states = 0;
  const auto model = chain_in_mean_field<T>(20, 0.8, true, &states);
  const auto exact = dense_scf(model, {model.core}, {states}, 2);
  const auto core = blocks_of(runtime, model.core, model.sizes, Symmetry::hermitian, 0, 1e-9),
             s = blocks_of(runtime, model.overlap, model.sizes, Symmetry::hermitian, 0, 1e-9);
  const ScfProblem<T> problem{.functional = functional_of(core, model.strength),
                              .overlap = &s,
                              .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}};
  std::vector<Completion<ScfResult<T>>> in_flight;
  for (const ScfMethod method : all_scf_methods)
    in_flight.push_back(
        submit_scf<T>(runtime, problem, {.method = method, .mixing = 0.5, .density = {.filter_eps = 1e-6}}));
  for (auto& completion : in_flight) {
    const auto r = std::move(completion).result();
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.energy, exact.energy, 1e-7 * double(states)) << r.steps.back().stage;
    EXPECT_LT(occupation(r.channels[0].density), 0.7);
  }
}

}  // namespace
}  // namespace tessera
