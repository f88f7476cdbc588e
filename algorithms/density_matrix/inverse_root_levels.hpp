// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include <tessera/spectral_bounds.hpp>

namespace tessera::detail {

/// A level of an inverse square root: with Y = Z S Z, at first S, Z <- Z q(Y). q has the degree 1, 3 or 6.
struct RootLevel {
  std::array<double, 7> q{};
  int degree = 3;
};

/// Levels after which |z^2 s - 1| is at most `tolerance` for all s of a positive interval: interpolations of y^{-1/2} in
/// Chebyshev's points where they converge fast, else its Taylor polynomials around the middle. With P products for each,
/// degrees 1, 3 and 6 take 0, 2 and 3; what Z and Y need is one and two more.
/// @return none where there is nothing to do
std::vector<RootLevel> inverse_root_levels(SpectralInterval s, double tolerance);

}  // namespace tessera::detail
