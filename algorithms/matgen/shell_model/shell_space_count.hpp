// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

/// How many states a space of the shell model has, from the orbits alone: no state is listed.
namespace tessera::detail {

/// Slater determinants of one kind of nucleon, counted by 2M, parity and excitation.
class NucleonCount {
 public:
  /// @param excitation  by how much the sum of weights may exceed its least; none: weights do not count
  /// Fewer states than nucleons: all counts are zero.
  NucleonCount(const std::vector<ShellOrbit>& orbits, int nucleons, std::optional<int> excitation);

  int max_excitation() const noexcept { return levels_ - 1; }
  int max_twice_m() const noexcept { return max_twice_m_; }
  /// Determinants; zero for a 2M or an excitation outside of what there is.
  double operator()(int excitation, bool odd, int twice_m) const noexcept;
  double total() const noexcept;

 private:
  int levels_ = 1, max_twice_m_ = 0;
  std::vector<double> counts_;  ///< by excitation, parity and 2M
};

/// The least sum of weights of so many nucleons of one kind. @pre the orbits hold them
int least_weight(const std::vector<ShellOrbit>& orbits, int nucleons);

struct ShellModelSpace;

/// The largest sum of two nucleons' weights in a truncated space; 0 without a truncation, and where the orbits do not
/// hold the nucleons.
int max_pair_weight(const std::vector<ShellOrbit>& orbits, const ShellModelSpace& space);

/// Rows of the space's matrix; exact up to 2^53.
double count_states(const std::vector<ShellOrbit>& orbits, const ShellModelSpace& space);

}  // namespace tessera::detail
