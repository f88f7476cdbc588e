// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>

/// No-core shell models: all nucleons are active, in the shells 2 n + l = 0, 1, 2, ... of a harmonic oscillator, and a
/// space has the states with up to Nmax quanta above the least. Source: B. R. Barrett, P. Navratil, J. P. Vary, Prog.
/// Part. Nucl. Phys. 69, 131 (2013).
namespace tessera::detail {

/// The orbits of the shells 0 to `max_shell`, shell after shell, l and j ascending; their weights are 2 n + l.
std::vector<ShellOrbit> oscillator_orbits(int max_shell);

/// The highest shell that a nucleon reaches with Nmax quanta above the least.
int highest_shell(int protons, int neutrons, int nmax);
/// The largest Nmax of which the states can be told apart; below 0: too many nucleons.
int largest_nmax(int protons, int neutrons);

/// The space; its parity is that of states with Nmax quanta.
ShellModelSpace no_core_space(int protons, int neutrons, int nmax, int twice_m);

/// hbar^2 / m in MeV fm^2, of the Minnesota potential's definition.
inline constexpr double nucleon_hbar2_over_m = 41.47;

/// The kinetic energy without that of the centre of mass, sum over pairs (p_i - p_j)^2 / (2 m A), and the Minnesota
/// potential with u = 1: 200 exp(-1.487 r^2) - 178 exp(-0.639 r^2) (S = 1) - 91.85 exp(-0.465 r^2) (S = 0) in MeV, r
/// in fm, between two nucleons with even relative l. In a basis of hbar omega = `oscillator` MeV. Source: D. R.
/// Thompson, M. LeMere, Y. C. Tang, Nucl. Phys. A 286, 53 (1977).
/// @pre oscillator_orbits
ShellInteraction minnesota_interaction(std::vector<ShellOrbit> orbits, const ShellModelSpace& space,
                                       double oscillator);

/// Adds e^2 / r between protons: from here on nucleons are told apart.
void add_coulomb(ShellInteraction& interaction, const ShellModelSpace& space, double oscillator);

/// Adds beta (H_cm - 3/2 hbar omega), H_cm = P^2 / (2 A m) + A m omega^2 R^2 / 2, which is diagonal in the motion of
/// the centre of mass. Source: D. H. Gloeckner, R. D. Lawson, Phys. Lett. B 53, 313 (1974).
/// @pre orbits whose weights are 2 n + l
void add_lawson(ShellInteraction& interaction, const ShellModelSpace& space, double oscillator, double beta);

}  // namespace tessera::detail
