// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "water_model.hpp"

/// Molecular dynamics of the model of water, at constant energy.
namespace water {

/// What a step has come to; energies in hartree.
struct DynamicsStep {
  double potential = 0, kinetic = 0;
  Index scf_steps = 0;  ///< lines of the self-consistent field's table
  double total() const noexcept { return potential + kinetic; }
};

/// Velocity Verlet. Density matrices begin with those extrapolated from former steps.
class Dynamics {
 public:
  /// @param time_step  in atomic units of time (0.0242 fs)
  /// @param temperature  of the velocities to begin with, in kelvin
  Dynamics(tessera::Runtime& runtime, Box& box, tessera::ScfOptions options, double time_step,
           double temperature)
      : runtime_(runtime),
        box_(box),
        options_(std::move(options)),
        time_step_(time_step),
        extrapolation_({.filter_eps = options_.density.filter_eps}),
        velocities_(box.positions.size(), Vector{0, 0, 0}) {
    options_.density.energy_weighted = true;
    options_.density.check = false;
    set_temperature(temperature);
  }

  /// The first call computes the energy of the positions that there are; each later one goes a step on. Nothing,
  /// and status() says why, if the self-consistent field fails.
  std::optional<DynamicsStep> step() {
    if (!forces_.empty()) {
      for (std::size_t a = 0; a < velocities_.size(); ++a)
        for (int k = 0; k < 3; ++k) {
          velocities_[a][k] += 0.5 * time_step_ * forces_[a][k] / mass_of(a);
          box_.positions[a][k] += time_step_ * velocities_[a][k];
        }
      box_.update();
    }
    const bool first = forces_.empty();
    DynamicsStep result;
    if (!solve(result)) return std::nullopt;
    for (std::size_t a = 0; a < velocities_.size(); ++a)
      for (int k = 0; k < 3; ++k) {
        if (!first) velocities_[a][k] += 0.5 * time_step_ * forces_[a][k] / mass_of(a);
        result.kinetic += 0.5 * mass_of(a) * velocities_[a][k] * velocities_[a][k];
      }
    return result;
  }

  const tessera::Status& status() const noexcept { return status_; }

 private:
  static double mass_of(std::size_t atom) { return mass[species(static_cast<Index>(atom))]; }

  /// The energy and the forces of the present positions.
  bool solve(DynamicsStep& result) {
    tessera::ScfChannel<double> channel{.electrons = box_.electrons()};
    tessera::DensityPrediction<double> guess;
    if (extrapolation_.geometries() > 0) {
      guess = extrapolation_.predict(&box_.overlap());
      if (!guess) return failed(guess.status());
      channel.density = &guess.density;
    } else {
      channel.hamiltonian = &box_.core_hamiltonian();
    }
    tessera::ScfProblem<double> problem{
        .functional = [this](std::span<const Matrix> p) { return box_.fields(p[0]); },
        .overlap = &box_.overlap(),
        .channels = {channel},
        .inverse_factor = guess.inverse_factor.valid() ? &guess.inverse_factor : nullptr};
    const auto r = tessera::scf(runtime_, problem, options_);
    if (!r) return failed(r.status());
    const auto& state = r.channels[0];
    extrapolation_.add(state.density, &box_.overlap());
    forces_ = box_.forces(state.density, state.energy_weighted);
    result.potential = r.energy;
    result.scf_steps = static_cast<Index>(r.steps.size());
    return true;
  }
  bool failed(const tessera::Status& status) {
    status_ = status;
    return false;
  }

  /// Velocities of Maxwell's distribution, without momentum of all atoms together.
  void set_temperature(double temperature) {
    constexpr double boltzmann = 3.166811563e-6;  // hartree per kelvin
    std::mt19937 random(2);
    const auto uniform = [&] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
    Vector momentum{0, 0, 0};
    double all = 0;
    for (std::size_t a = 0; a < velocities_.size(); ++a) {
      all += mass_of(a);
      for (int k = 0; k < 3; ++k) {
        const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(6.283185307179586 * uniform());
        velocities_[a][k] = normal * std::sqrt(boltzmann * temperature / mass_of(a));
        momentum[k] += mass_of(a) * velocities_[a][k];
      }
    }
    for (Vector& v : velocities_)
      for (int k = 0; k < 3; ++k) v[k] -= momentum[k] / all;
  }

  tessera::Runtime& runtime_;
  Box& box_;
  tessera::ScfOptions options_;
  const double time_step_;
  tessera::DensityExtrapolation<double> extrapolation_;
  std::vector<Vector> velocities_, forces_;
  tessera::Status status_;
};

}  // namespace water
