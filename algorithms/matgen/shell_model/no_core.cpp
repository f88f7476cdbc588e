// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/algorithms/matgen/shell_model/oscillator_two_body.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>

namespace tessera::detail {

namespace {

/// e^2 / (4 pi epsilon_0) in MeV fm.
constexpr double coulomb_constant = 197.3269804 / 137.035999;

/// States of one kind of nucleon in the shells 0 to `shell`.
int states_up_to(int shell) noexcept {
  return (shell + 1) * (shell + 2) * (shell + 3) / 3;
}

/// The highest shell of the lowest state.
int last_shell(int nucleons) noexcept {
  int shell = 0;
  while (states_up_to(shell) < nucleons) ++shell;
  return shell;
}

/// b^2 = hbar / (m omega), in fm^2.
double length_squared(double oscillator) noexcept {
  return nucleon_hbar2_over_m / oscillator;
}

}  // namespace

std::vector<ShellOrbit> oscillator_orbits(int max_shell) {
  std::vector<ShellOrbit> orbits;
  for (int shell = 0; shell <= max_shell; ++shell)
    for (int l = shell % 2; l <= shell; l += 2)
      for (int twice_j = std::abs(2 * l - 1); twice_j <= 2 * l + 1; twice_j += 2)
        orbits.push_back({(shell - l) / 2, l, twice_j, shell});
  return orbits;
}

int highest_shell(int protons, int neutrons, int nmax) {
  return std::max(last_shell(protons), last_shell(neutrons)) + nmax;
}

int largest_nmax(int protons, int neutrons) {
  int shell = -1;
  while (states_up_to(shell + 1) <= Determinant::max_states) ++shell;
  return shell - highest_shell(protons, neutrons, 0);
}

ShellModelSpace no_core_space(int protons, int neutrons, int nmax, int twice_m) {
  const std::vector<ShellOrbit> orbits = oscillator_orbits(highest_shell(protons, neutrons, 0));
  const int quanta = least_weight(orbits, protons) + least_weight(orbits, neutrons) + nmax;
  return {.protons = protons,
          .neutrons = neutrons,
          .twice_m = twice_m,
          .parity = quanta % 2 == 0 ? 1 : -1,
          .excitation = nmax,
          .by_shells = true};
}

ShellInteraction minnesota_interaction(std::vector<ShellOrbit> orbits, const ShellModelSpace& space,
                                       double oscillator) {
  const int pair = max_pair_weight(orbits, space);
  ShellInteraction interaction(std::move(orbits), pair);
  const double kinetic = 2 * oscillator / (space.protons + space.neutrons), b2 = length_squared(oscillator);
  // r_1 - r_2 is sqrt(2) times the coordinate of the brackets.
  const auto gaussian = [&](int n, int n2, int l, double depth, double per_fm2) {
    return depth * oscillator_gaussian(n, n2, l, 2 * per_fm2 * b2);
  };
  const auto element = [&](int n, int n2, int l, int s, int) {
    double value = kinetic * oscillator_kinetic(n, n2, l);
    if (l % 2 == 0)
      value += gaussian(n, n2, l, 200, 1.487) +
               (s == 1 ? gaussian(n, n2, l, -178, 0.639) : gaussian(n, n2, l, -91.85, 0.465));
    return value;
  };
  for_central_elements(interaction, OscillatorBrackets(pair), element,
                       [&](int a, int b, int c, int d, int j, int t, double value) {
                         interaction.set_element(a, b, c, d, j, t, value);
                       });
  return interaction;
}

void add_coulomb(ShellInteraction& interaction, const ShellModelSpace& space, double oscillator) {
  const double scale = coulomb_constant / std::sqrt(2 * length_squared(oscillator));
  const int pair = max_pair_weight(interaction.orbits(), space);
  const ShellInteraction orbits(interaction.orbits(), pair);
  interaction.tell_nucleons_apart();
  for_central_elements(
      orbits, OscillatorBrackets(pair),
      [&](int n, int n2, int l, int, int) { return scale * oscillator_inverse(n, n2, l); },
      [&](int a, int b, int c, int d, int j, int t, double value) {
        if (t == 1) interaction.add_like_element(Nucleon::proton, {a, b, c, d, j}, value);
      });
}

void add_lawson(ShellInteraction& interaction, const ShellModelSpace& space, double oscillator, double beta) {
  const double nucleons = space.protons + space.neutrons, unit = beta * oscillator;
  // H_cm is the whole oscillator, one-body, without the oscillators of the pairs: (2 / A) sum of (2 n + l + 3/2).
  for (std::size_t a = 0; a < interaction.orbits().size(); ++a) {
    const double energy = unit * (interaction.orbits()[a].weight + 1.5 - 1.5 / nucleons);
    interaction.energies[a] += energy;
    if (!interaction.neutron_energies.empty()) interaction.neutron_energies[a] += energy;
  }
  const bool separate = !interaction.isospin_invariant();
  const int pair = max_pair_weight(interaction.orbits(), space);
  const ShellInteraction orbits(interaction.orbits(), pair);
  for_central_elements(
      orbits, OscillatorBrackets(pair),
      [&](int n, int n2, int l, int, int) { return n == n2 ? -2 * unit / nucleons * (2 * n + l + 1.5) : 0.; },
      [&](int a, int b, int c, int d, int j, int t, double value) {
        if (value == 0) return;
        if (separate)
          interaction.add_isospin_element(a, b, c, d, j, t, value);
        else
          interaction.set_element(a, b, c, d, j, t, interaction.element(a, b, c, d, j, t) + value);
      });
}

}  // namespace tessera::detail
