// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <stdexcept>

#include <examples/md_water/water_model.hpp>

#include "../scf_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace scf_test;
using test::Matrix;

/// The same on all ranks, bit by bit.
void expect_common(Runtime& runtime, double x) {
  double numbers[] = {x, -x};
  runtime.all_reduce_max(numbers, 2);
  EXPECT_EQ(numbers[0], -numbers[1]);
}

template <class T>
void check_methods(Runtime& runtime, unsigned seed, std::span<const ScfMethod> methods) {
  Index states = 0;
  const auto model = chain_in_mean_field<T>(3, 0.5, true, &states);
  const auto exact = dense_scf(model, {model.core}, {states}, 2);
  const auto core = blocks_of(runtime, model.core, model.sizes, Symmetry::hermitian, seed),
             s = blocks_of(runtime, model.overlap, model.sizes, Symmetry::hermitian, 2 * seed);
  for (const ScfMethod method : methods) {
    SCOPED_TRACE(::testing::Message() << to_string(method) << " seed " << seed);
    Index calls = 0;
    const auto inner = functional_of(core, model.strength);
    const auto r = scf<T>(runtime,
                          {.functional =
                               [&](std::span<const BlockSparseMatrix<T>> p) {
                                 ++calls;
                                 return inner(p);
                               },
                           .overlap = &s,
                           .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}},
                          {.method = method,
                           .mixing = 0.7,
                           .tolerance = 1e-6,
                           .energy_tolerance = 1e-8,
                           .density = {.filter_eps = 0}});
    ASSERT_TRUE(r) << r.status().message();
    EXPECT_NEAR(r.energy, exact.energy, 1e-8 * double(states));
    EXPECT_LE(difference(gathered(r.channels[0].density), exact.densities[0]), 1e-5);
    // The functional is called on every rank.
    EXPECT_EQ(calls, r.evaluations);
    expect_common(runtime, double(calls));
    expect_common(runtime, r.energy);
    expect_common(runtime, r.error);
  }
}

TEST(ScfMpi, EveryMethodComesToThatOfLapack) {
  Runtime runtime({}, Communicator::world());
  check_methods<double>(runtime, 0, all_scf_methods);
  check_methods<std::complex<double>>(runtime, 4, std::array{ScfMethod::pulay, ScfMethod::direct});
}

/// What is wrong on one rank alone, in the functional or the monitor, all ranks are told.
TEST(ScfMpi, FailuresAreThoseOfAllRanks) {
  Runtime runtime({}, Communicator::world());
  Index states = 0;
  const auto model = chain_in_mean_field<double>(3, 0.5, true, &states);
  const auto core = blocks_of(runtime, model.core, model.sizes),
             s = blocks_of(runtime, model.overlap, model.sizes);
  const auto sound = functional_of(core, model.strength);
  const bool last = runtime.rank() == runtime.size() - 1;
  ScfProblem<double> problem{.functional = sound,
                             .overlap = &s,
                             .channels = {{.electrons = 2.0 * double(states), .hamiltonian = &core}}};
  int calls = 0;
  problem.functional = [&](std::span<const BlockSparseMatrix<double>> p) {
    auto fields = sound(p);
    if (++calls == 2 && last) throw std::runtime_error("no energy here");
    return fields;
  };
  try {
    (void)scf(runtime, problem);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("no energy here"), std::string::npos) << error.what();
    EXPECT_EQ(dynamic_cast<const RemoteError*>(&error) == nullptr, last);
  }
  problem.functional = [&](std::span<const BlockSparseMatrix<double>> p) {
    auto fields = sound(p);
    if (last) fields.hamiltonians.clear();
    return fields;
  };
  // Of other numbers of matrices on the ranks.
  EXPECT_THROW((void)scf(runtime, problem), InvalidArgument);
  problem.functional = sound;
  const auto stopped = scf(runtime, problem, {.tolerance = 0, .monitor = [&](const IterationStep& step) {
                                                return !(last && step.iteration == 2);
                                              }});
  EXPECT_EQ(stopped.status().code, StatusCode::stopped) << stopped.status().message();
  EXPECT_EQ(stopped.steps.size(), 2u);
  expect_refused("electrons", [&] {
    auto odd = problem;
    odd.channels[0].electrons = last ? 3 : 2;
    (void)scf(runtime, odd);
  });
  const auto again = submit_scf(runtime, problem).result();
  ASSERT_TRUE(again) << again.status().message();
}

/// The model of water: energy, forces and extrapolation over ranks.
TEST(ScfMpi, WaterOverRanks) {
  Runtime runtime({}, Communicator::world());
  water::Box box(runtime, 2);
  DensityExtrapolation<double> extrapolation({.filter_eps = 0});
  const auto solve = [&](const water::Matrix* density) {
    ScfChannel<double> channel{.electrons = box.electrons(), .density = density};
    if (!density) channel.hamiltonian = &box.core_hamiltonian();
    return scf(runtime,
               {.functional = [&](std::span<const water::Matrix> p) { return box.fields(p[0]); },
                .overlap = &box.overlap(),
                .channels = {channel}},
               {.tolerance = 1e-9,
                .energy_tolerance = 1e-12,
                .density = {.filter_eps = 0, .energy_weighted = true}});
  };
  const auto r = solve(nullptr);
  ASSERT_TRUE(r) << r.status().message();
  const auto forces = box.forces(r.channels[0].density, r.channels[0].energy_weighted);
  extrapolation.add(r.channels[0].density, &box.overlap());
  // Along the forces the energy falls by their square.
  constexpr double t = 1e-3;
  std::vector<double> energies;
  const auto at = box.positions;
  double square = 0;
  for (const double moved : {-t, t}) {
    square = 0;
    for (std::size_t a = 0; a < at.size(); ++a)
      for (std::size_t k = 0; k < 3; ++k) {
        box.positions[a][k] = at[a][k] + moved * forces[a][k];
        square += forces[a][k] * forces[a][k];
      }
    box.update();
    const auto guess = extrapolation.predict(&box.overlap());
    ASSERT_TRUE(guess) << guess.status().message();
    const auto near = solve(&guess.density);
    ASSERT_TRUE(near) << near.status().message();
    energies.push_back(near.energy);
    expect_common(runtime, near.energy);
  }
  EXPECT_NEAR((energies[0] - energies[1]) / (2 * t), square, 1e-4 * square);
}

}  // namespace
}  // namespace tessera
