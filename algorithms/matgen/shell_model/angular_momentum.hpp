// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Coupling coefficients of angular momenta, with the Condon-Shortley phases. All arguments are twice the
/// angular momenta, so that they are integers; the sums of three coupled ones are at most 150. Source: D. A.
/// Varshalovich, A. N. Moskalev, V. K. Khersonskii, Quantum Theory of Angular Momentum (1988), Eqs. 8.2.1 (3)
/// and 9.2.1 (1).
namespace tessera::detail {

/// <j1 m1 j2 m2 | j m>; zero where angular momentum forbids it.
double clebsch_gordan(int twice_j1, int twice_m1, int twice_j2, int twice_m2, int twice_j,
                      int twice_m) noexcept;

/// {a b c; d e f}; zero where one of the four triangles does not close.
double six_j(int twice_a, int twice_b, int twice_c, int twice_d, int twice_e, int twice_f) noexcept;

}  // namespace tessera::detail
