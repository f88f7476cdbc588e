// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/common/host_device.hpp>

namespace tessera::detail {

/// Random number k of the stream `key`: one step of the generator splitmix64.
/// Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators (2014).
TESSERA_HOST_DEVICE constexpr std::uint64_t splitmix(std::uint64_t key, std::uint64_t k) noexcept {
  std::uint64_t x = key + (k + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A random number in [0, 1), from 64 random bits.
TESSERA_HOST_DEVICE constexpr double unit_uniform(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace tessera::detail
