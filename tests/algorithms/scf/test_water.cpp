// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <examples/md_water/water_dynamics.hpp>

#include "scf_cases.hpp"

namespace tessera {
using namespace detail;
namespace {

using namespace scf_test;
using test::Matrix;

class Water : public RuntimeTest<double> {
 protected:
  static ScfResult<double> solve(const water::Box& box, bool weighted = false,
                                 const water::Matrix* density = nullptr) {
    ScfChannel<double> channel{.electrons = box.electrons(), .density = density};
    if (!density) channel.hamiltonian = &box.core_hamiltonian();
    return scf<double>(runtime(),
                       {.functional = [&](std::span<const water::Matrix> p) { return box.fields(p[0]); },
                        .overlap = &box.overlap(),
                        .channels = {channel}},
                       {.tolerance = 1e-10,
                        .energy_tolerance = 1e-13,
                        .density = {.filter_eps = 0, .energy_weighted = weighted}});
  }
};

TEST_F(Water, HasAGapAndTheChargesOfWater) {
  const water::Box box(runtime(), 8);
  const auto r = solve(box);
  ASSERT_TRUE(r) << r.status().message();
  const auto s = gathered(box.overlap());
  EXPECT_GT(decompose(s).values[0], 0.1);
  const auto levels = decompose(gathered(r.channels[0].hamiltonian), s).values;
  const auto states = std::size_t(box.electrons() / 2);
  EXPECT_GT(levels[states] - levels[states - 1], 0.15);
  const auto dq = box.charges(r.channels[0].density);
  double sum = 0;
  for (Index a = 0; a < box.atoms(); ++a) {
    const double charge = dq[std::size_t(a)];
    sum += charge;
    if (water::species(a) == 0)
      EXPECT_TRUE(charge > 0.3 && charge < 1.2) << charge;
    else
      EXPECT_TRUE(charge < -0.15 && charge > -0.6) << charge;
  }
  EXPECT_NEAR(sum, 0, 1e-9);
}

/// The energy by LAPACK: the lowest states of the functional's Hamiltonian, mixed until nothing changes.
TEST_F(Water, TheEnergyIsThatOfLapack) {
  const water::Box box(runtime(), 3);
  const auto s = gathered(box.overlap());
  Matrix<double> p, h = gathered(box.core_hamiltonian());
  double energy = 0;
  for (int step = 0; step < 120; ++step) {
    const auto lowest = reference_density(decompose(h, s), Index(box.electrons() / 2));
    p = step == 0 ? mapped(lowest, [](double x, Index, Index) { return 2 * x; })
                  : mapped(p, [&](double x, Index i, Index j) { return 0.6 * x + 0.8 * lowest(i, j); });
    const auto fields =
        box.fields(from_dense<double>(runtime(), std::as_const(p).view(), box.overlap().layout(), -1));
    h = gathered(fields.hamiltonians[0]);
    energy = fields.energy;
  }
  const auto r = solve(box);
  ASSERT_TRUE(r) << r.status().message();
  EXPECT_NEAR(r.energy, energy, 1e-10);
  EXPECT_LE(difference(gathered(r.channels[0].density), p), 1e-7);
}

/// H = dE/dP, by central differences along a random direction (the energy is quadratic in P).
TEST_F(Water, TheHamiltonianIsTheEnergysDerivative) {
  const water::Box box(runtime(), 3);
  const auto r = solve(box);
  const auto p = gathered(r.channels[0].density);
  const auto direction = random_hermitian<double>(p.rows(), 5);
  const auto energy_at = [&](double t) {
    const auto moved = mapped(p, [&](double x, Index i, Index j) { return x + t * direction(i, j); });
    return box.fields(from_dense<double>(runtime(), std::as_const(moved).view(), box.overlap().layout(), -1))
        .energy;
  };
  EXPECT_NEAR((energy_at(0.01) - energy_at(-0.01)) / 0.02,
              trace_of_product(gathered(r.channels[0].hamiltonian), direction), 1e-9);
}

TEST_F(Water, ForcesAreDerivativesOfTheEnergy) {
  water::Box box(runtime(), 3);
  // Atoms across the cell's faces, and a bent and stretched molecule.
  box.positions[1][0] += 0.2;
  box.positions[2][1] -= 0.3;
  box.positions[5][2] -= 0.4;
  box.update();
  const auto r = solve(box, true);
  ASSERT_TRUE(r) << r.status().message();
  const auto forces = box.forces(r.channels[0].density, r.channels[0].energy_weighted);
  const water::Matrix& near = r.channels[0].density;
  double largest = 0;
  for (int k = 0; k < 3; ++k) {
    double sum = 0;
    for (const water::Vector& f : forces) {
      sum += f[std::size_t(k)];
      largest = std::max(largest, std::abs(f[std::size_t(k)]));
    }
    EXPECT_NEAR(sum, 0, 1e-9);
  }
  ASSERT_GT(largest, 0.02);
  constexpr double h = 4e-3;
  for (const std::size_t atom : {0u, 1u, 5u})
    for (std::size_t k = 0; k < 3; ++k) {
      const double at = box.positions[atom][k];
      const auto energy_at = [&](double moved) {
        box.positions[atom][k] = at + moved;
        box.update();
        const auto there = solve(box, false, &near);
        EXPECT_TRUE(there) << there.status().message();
        return there.energy;
      };
      // Central differences of fourth order.
      const double slope =
          (8 * (energy_at(h) - energy_at(-h)) - (energy_at(2 * h) - energy_at(-2 * h))) / (12 * h);
      box.positions[atom][k] = at;
      EXPECT_NEAR(forces[atom][k], -slope, 1e-6 * largest) << "atom " << atom << ", axis " << k;
    }
}

TEST_F(Water, ImagesAreAlike) {
  water::Box box(runtime(), 3);
  const double energy = solve(box).energy;
  for (water::Vector& position : box.positions) position[1] += 0.37;
  for (std::size_t a = 3; a < 6; ++a) box.positions[a][0] -= box.edge();
  box.positions[7][2] += 2 * box.edge();
  box.update();
  EXPECT_NEAR(solve(box).energy, energy, 1e-10);
}

/// Velocity Verlet keeps the energy up to the square of the time step; a wrong force would not.
TEST_F(Water, DynamicsKeepTheEnergy) {
  std::vector<double> drifts;
  for (const int substeps : {1, 2}) {
    water::Box box(runtime(), 2);
    water::Dynamics dynamics(runtime(), box,
                             {.tolerance = 1e-8, .energy_tolerance = 1e-11, .density = {.filter_eps = 1e-10}},
                             12.0 / substeps, 300);
    double begin = 0, largest = 0, moved = 0;
    Index first = 0, later = 0;
    for (int step = 0; step <= 10 * substeps; ++step) {
      const auto now = dynamics.step();
      ASSERT_TRUE(now) << dynamics.status().message();
      if (step == 0) {
        begin = now->total();
        first = now->scf_steps;
        moved = now->potential;
      }
      largest = std::max(largest, std::abs(now->total() - begin));
      if (step == 10 * substeps) {
        later = now->scf_steps;
        moved = std::abs(now->potential - moved);
      }
    }
    // Energy is exchanged, a hundred times what is lost; extrapolated densities save steps.
    EXPECT_LT(100 * largest, moved);
    EXPECT_LT(later, first);
    drifts.push_back(largest);
  }
  EXPECT_LT(drifts[0], 3e-5 * 2);
  EXPECT_NEAR(drifts[0] / drifts[1], 4, 0.6);
}

}  // namespace
}  // namespace tessera
