// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include <tessera/types.hpp>

namespace tessera::testing {

/// Real and imaginary parts are normally distributed with variance 1.
template <class T>
T random_scalar(std::mt19937& generator) {
  std::normal_distribution<double> normal;
  if constexpr (is_complex<T>) {
    const auto re = static_cast<RealOf<T>>(normal(generator));
    return T(re, static_cast<RealOf<T>>(normal(generator)));
  } else {
    return static_cast<T>(normal(generator));
  }
}

}  // namespace tessera::testing
