// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include <tessera/spectral_bounds.hpp>

namespace tessera::detail {

/// A level of an inverse square root: with Y = Z S Z, at first S, Z <- Z q(Y). q has the degree 1 or 3.
struct RootLevel {
  std::array<double, 4> q{};
  bool linear = false;  ///< the last one
};

/// Levels after which |z^2 s - 1| is at most `tolerance` for all s of a positive interval: interpolations of y^{-1/2} in
/// Chebyshev's points where they converge fast, else its Taylor polynomials around the middle.
/// @return none where there is nothing to do
std::vector<RootLevel> inverse_root_levels(SpectralInterval s, double tolerance);

}  // namespace tessera::detail
