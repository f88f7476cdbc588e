// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/algorithms/matgen/shell_model/oscillator_brackets.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

/// Central two-body operators in the basis of the harmonic oscillator. Lengths of the relative motion are those of
/// r = (r1 - r2) / sqrt(2), in units of sqrt(hbar / (m omega)); radial functions are positive near the origin.
namespace tessera::detail {

/// <n l| p^2 / 2 |n' l>, in units of hbar omega.
double oscillator_kinetic(int n, int n2, int l) noexcept;
/// <n l| exp(-gamma r^2) |n' l>, gamma >= 0.
double oscillator_gaussian(int n, int n2, int l, double gamma) noexcept;
/// <n l| 1 / r |n' l>.
double oscillator_inverse(int n, int n2, int l) noexcept;

/// <n l|V|n' l> in the state of relative motion with the spin S and the isospin T.
using RelativeElement = std::function<double(int n, int n2, int l, int s, int t)>;
/// What takes an element V_JT(ab;cd), normalised and antisymmetric, of a <= b and c <= d, each once.
using TakeElement = std::function<void(int a, int b, int c, int d, int j, int t, double value)>;

/// The elements of a central two-body operator, between all pairs of orbits that an interaction has and with isospin.
/// The orbits' weights are 2 n + l; their labels n do not count.
///
/// V_JT(ab;cd) = 2 / sqrt((1 + d_ab)(1 + d_cd)) sum (la lb) L (1/2 1/2) S in jj coupling, of both sides, times brackets
/// of both sides times <n l|V|n' l>, over L, S and the states n l N Lambda with l + S + T odd.
/// @pre brackets for the largest sum of two weights
void for_central_elements(const ShellInteraction& orbits, const OscillatorBrackets& brackets,
                          const RelativeElement& relative, const TakeElement& take);

}  // namespace tessera::detail
