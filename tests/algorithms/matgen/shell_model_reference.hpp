// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tests/support/matrix.hpp>

#include <tessera/algorithms/matgen/shell_model/angular_momentum.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>

namespace tessera::test {
using namespace detail;

/// The shell-model Hamiltonian in second quantization only. Protons and neutrons are the states of
/// one determinant (protons first), every matrix element comes from the formula with isospin (or, if the
/// interaction tells protons and neutrons apart, from its elements of each kind), and every
/// term c+_i c+_j c_l c_k is applied.
class ShellModelReference {
 public:
  ShellModelReference(const ShellInteraction& h, const ShellModelSpace& space) : h_(h) {
    for (int twice_t : {1, -1})
      for (const ShellState& state : h.states()) states_.push_back({state, twice_t});
    const int count = static_cast<int>(states_.size()), kind = count / 2;
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << count; ++mask) {
      if (std::popcount(mask & ((std::uint64_t{1} << kind) - 1)) != space.protons) continue;
      if (std::popcount(mask >> kind) != space.neutrons) continue;
      int twice_m = 0, odd = 0;
      for (int s = 0; s < count; ++s)
        if (mask >> s & 1) twice_m += states_[s].at.twice_m, odd += h.orbits()[states_[s].at.orbit].l;
      if (twice_m == space.twice_m && (space.parity == 0 || space.parity == (odd % 2 == 0 ? 1 : -1)))
        basis_.emplace(mask, static_cast<Index>(basis_.size()));
    }
  }

  Matrix<double> matrix() const {
    const int count = static_cast<int>(states_.size());
    Matrix<double> a(static_cast<Index>(basis_.size()), static_cast<Index>(basis_.size()));
    for (const auto& [mask, column] : basis_) {
      for (int s = 0; s < count; ++s)
        if (mask >> s & 1) a(column, column) += h_.energy(kind_of(states_[s]), states_[s].at.orbit);
      for (int l = 0; l < count; ++l)
        for (int k = 0; k < l; ++k)
          for (int j = 0; j < count; ++j)
            for (int i = 0; i < j; ++i) {
              std::uint64_t reached = mask;
              int sign = 1;
              if (!remove(reached, k, sign) || !remove(reached, l, sign) || !add(reached, j, sign) ||
                  !add(reached, i, sign))
                continue;
              const auto row = basis_.find(reached);
              if (row != basis_.end()) a(row->second, column) += sign * element(i, j, k, l);
            }
    }
    return a;
  }

 private:
  struct State {
    ShellState at;
    int twice_t;
  };
  static Nucleon kind_of(const State& state) {
    return state.twice_t > 0 ? Nucleon::proton : Nucleon::neutron;
  }
  static bool remove(std::uint64_t& mask, int s, int& sign) {
    if ((mask >> s & 1) == 0) return false;
    if (std::popcount(mask & ((std::uint64_t{1} << s) - 1)) % 2 != 0) sign = -sign;
    mask ^= std::uint64_t{1} << s;
    return true;
  }
  static bool add(std::uint64_t& mask, int s, int& sign) {
    if ((mask >> s & 1) != 0) return false;
    if (std::popcount(mask & ((std::uint64_t{1} << s) - 1)) % 2 != 0) sign = -sign;
    mask ^= std::uint64_t{1} << s;
    return true;
  }
  double element(int i, int j, int k, int l) const {
    const State &a = states_[i], &b = states_[j], &c = states_[k], &d = states_[l];
    const int twice_m = a.at.twice_m + b.at.twice_m, twice_t = a.twice_t + b.twice_t;
    if (twice_m != c.at.twice_m + d.at.twice_m || twice_t != c.twice_t + d.twice_t) return 0;
    if (!h_.isospin_invariant())  // protons stand before neutrons
      return twice_t == 0 ? h_.unlike_element(a.at, b.at, c.at, d.at)
                          : h_.like_element(a.at, b.at, c.at, d.at, kind_of(a));
    const auto j2 = [&](const State& s) { return h_.orbits()[s.at.orbit].twice_j; };
    double sum = 0;
    for (int twice_j = 0; twice_j <= 2 * h_.largest_j(); twice_j += 2)
      for (int t = 0; t < 2; ++t)
        sum += clebsch_gordan(j2(a), a.at.twice_m, j2(b), b.at.twice_m, twice_j, twice_m) *
               clebsch_gordan(1, a.twice_t, 1, b.twice_t, 2 * t, twice_t) *
               clebsch_gordan(j2(c), c.at.twice_m, j2(d), d.at.twice_m, twice_j, twice_m) *
               clebsch_gordan(1, c.twice_t, 1, d.twice_t, 2 * t, twice_t) *
               h_.element(a.at.orbit, b.at.orbit, c.at.orbit, d.at.orbit, twice_j / 2, t);
    return sum * std::sqrt((a.at.orbit == b.at.orbit ? 2.0 : 1.0) * (c.at.orbit == d.at.orbit ? 2.0 : 1.0));
  }

  const ShellInteraction& h_;
  std::vector<State> states_;
  std::map<std::uint64_t, Index> basis_;
};

}  // namespace tessera::test
