// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/band/kernels/chase.hpp>

namespace tessera::kernels {

/// How the chase on a GPU keeps the reflectors of the sweeps first_sweep .. first_sweep + sweeps - 1: in
/// groups of g consecutive sweeps (the last may have fewer; its block has g columns all the same, those
/// without a sweep hold v = 0, tau = 0). Block (group, hop) is b x g, column-major with ld = b: column j is v
/// of reflector (first_sweep + group g + j, hop) with v(0) = 1 stored and zeros behind its end; a reflector
/// that does not exist (its first row is n or more) has v = 0 and tau = 0. Blocks follow one another by hop
/// within a group, the groups by ascending sweep. Behind all blocks come the tau, g a block, in the same
/// order. Every element is written.
struct DeviceReflectors {
  Index n = 0, bandwidth = 1, first_sweep = 0, sweeps = 0, group = 1;

  constexpr Index groups() const noexcept { return ceil_div(sweeps, group); }
  /// Hops of a group's first sweep: no later sweep of the group has more.
  constexpr Index hops(Index g) const noexcept { return hop_count(n, bandwidth, first_sweep + g * group); }
  /// Blocks in the groups before group g, in closed form.
  constexpr Index first_block(Index g) const noexcept {
    // Sum over k < g of ceil((n - 1 - first_sweep - k group) / b): by runs would be faster, but g is small on
    // the host and kernels are given the table.
    Index sum = 0;
    for (Index k = 0; k < g; ++k) sum += hops(k);
    return sum;
  }
  constexpr Index blocks() const noexcept { return first_block(groups()); }
  /// Elements of T: vectors, then tau.
  constexpr Index size() const noexcept { return blocks() * group * (bandwidth + 1); }
  constexpr Index vector_offset(Index block, Index j) const noexcept {
    return (block * group + j) * bandwidth;
  }
  constexpr Index tau_offset(Index block, Index j) const noexcept {
    return blocks() * group * bandwidth + block * group + j;
  }
};

/// Sweeps of a group.
constexpr Index device_group(Index bandwidth) noexcept {
  return std::min<Index>(bandwidth, 32);
}

}  // namespace tessera::kernels
