// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "shell_levels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace tessera::program {

namespace {

/// Twice the number, if that is an integer to 0.02; else -1.
int twice(double number) {
  const double rounded = std::round(2 * number);
  return std::abs(2 * number - rounded) <= 0.02 ? static_cast<int>(rounded) : -1;
}

/// `2`, `5/2`
std::string half(int twice_number) {
  return twice_number % 2 == 0 ? fmt::format("{}", twice_number / 2) : fmt::format("{}/2", twice_number);
}

std::string shown(double number) {
  const int rounded = twice(number);
  return rounded < 0 ? fmt::format("{:.3f}", number) : half(rounded);
}

const char* sign_of(const ShellModelState& state) {
  return state.parity > 0 ? "+" : state.parity < 0 ? "-" : "mixed";
}

std::string bigstick_table(const std::vector<double>& energies, const ShellModelStates& states) {
  std::string text = "  State      E        Ex         J       T      par\n";
  for (std::size_t k = 0; k < states.states.size(); ++k) {
    const ShellModelState& state = states.states[k];
    text += fmt::format("{:5}   {:10.5f}{:10.5f}  {:8.3f}{:8.3f}{:8}\n", k + 1, energies[k],
                        energies[k] - energies[0], state.j, state.t, state.parity);
  }
  return text;
}

std::string kshell_summary(const std::vector<double>& energies, const ShellModelStates& states,
                           const std::string& calculation) {
  std::string text = "\n Energy levels\n\n    N    J prty N_Jp    T     E(MeV)  Ex(MeV)  log-file\n\n";
  std::map<std::pair<int, bool>, int> found;
  for (std::size_t k = 0; k < states.states.size(); ++k) {
    const ShellModelState& state = states.states[k];
    const bool odd = state.parity < 0;
    // A mixture of both parities is no level.
    const int j = state.parity == 0 ? -1 : twice(state.j), t = twice(state.t);
    text += fmt::format("{:5} {:>5} {} {:5} {:>5} {:10.3f} {:8.3f}  log_{}.txt \n", k + 1,
                        j < 0 ? "-1" : half(j), odd ? "-" : "+", ++found[{j, odd}], t < 0 ? "-1" : half(t),
                        energies[k], energies[k] - energies[0], calculation);
  }
  return text + "\n";
}

/// All, or the twelve in which there are most nucleons.
std::vector<std::size_t> orbits_to_show(const ShellModelStates& states) {
  constexpr std::size_t most = 12;
  std::vector<std::size_t> orbits(states.orbits.size());
  std::iota(orbits.begin(), orbits.end(), std::size_t{0});
  if (orbits.size() <= most) return orbits;
  std::vector<double> nucleons(orbits.size(), 0.0);
  for (const ShellModelState& state : states.states)
    for (std::size_t a = 0; a < orbits.size(); ++a) nucleons[a] += state.protons[a] + state.neutrons[a];
  std::stable_sort(orbits.begin(), orbits.end(),
                   [&](std::size_t a, std::size_t b) { return nucleons[a] > nucleons[b]; });
  orbits.resize(most);
  std::sort(orbits.begin(), orbits.end());
  return orbits;
}

}  // namespace

std::string quantum_numbers(const ShellModelState& state) {
  return fmt::format("J {:<5}  T {:<5}  {}", shown(state.j), shown(state.t), sign_of(state));
}

std::vector<std::pair<std::string, std::string>> occupation_lines(const ShellModelStates& states) {
  std::vector<std::pair<std::string, std::string>> lines;
  const std::vector<std::size_t> orbits = orbits_to_show(states);
  const bool others = orbits.size() < states.orbits.size();
  std::string heading = fmt::format("{:>4}  {:<8}", "", "");
  for (const std::size_t orbit : orbits) heading += fmt::format("{:>9}", states.orbits[orbit]);
  lines.emplace_back("occupations", heading + (others ? fmt::format("{:>9}", "others") : ""));
  for (std::size_t k = 0; k < states.states.size(); ++k) {
    const ShellModelState& state = states.states[k];
    for (const bool protons : {true, false}) {
      std::string line = fmt::format("{:>4}  {:<8}", protons ? fmt::format("{}", k + 1) : "",
                                     protons ? "protons" : "neutrons");
      const std::vector<double>& numbers = protons ? state.protons : state.neutrons;
      double left = std::accumulate(numbers.begin(), numbers.end(), 0.0);
      for (const std::size_t orbit : orbits) {
        line += fmt::format("{:>9.4f}", numbers[orbit]);
        left -= numbers[orbit];
      }
      lines.emplace_back("", line + (others ? fmt::format("{:>9.4f}", std::abs(left)) : ""));
    }
  }
  return lines;
}

Json json_of(const ShellModelStates& states) {
  Json json{{"orbits", states.orbits}, {"states", Json::array()}};
  for (const ShellModelState& state : states.states)
    json["states"].push_back({{"j", state.j},
                              {"t", state.t},
                              {"parity", state.parity},
                              {"protons", state.protons},
                              {"neutrons", state.neutrons}});
  return json;
}

std::vector<NamedMatrix> matrices_of(const ShellModelStates& states) {
  const auto count = static_cast<Index>(states.states.size()),
             orbits = static_cast<Index>(states.orbits.size());
  NamedMatrix numbers{"quantum_numbers", 3, count, {}}, protons{"protons", orbits, count, {}},
      neutrons{"neutrons", orbits, count, {}};
  for (const ShellModelState& state : states.states) {
    numbers.values.insert(numbers.values.end(), {state.j, state.t, static_cast<double>(state.parity)});
    protons.values.insert(protons.values.end(), state.protons.begin(), state.protons.end());
    neutrons.values.insert(neutrons.values.end(), state.neutrons.begin(), state.neutrons.end());
  }
  return {numbers, protons, neutrons};
}

std::string levels_text(const std::string& file, const std::vector<double>& energies,
                        const ShellModelStates& states, const std::string& calculation) {
  return file.ends_with(".res") ? bigstick_table(energies, states)
                                : kshell_summary(energies, states, calculation);
}

}  // namespace tessera::program
