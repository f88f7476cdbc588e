// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tests/support/matrix.hpp>

namespace tessera::test {

/// Elements (real and imaginary parts) uniform in [-1, 1].
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = random_scalar<T>(seed, static_cast<Index>(i), 0);
  return values;
}

}  // namespace tessera::test
