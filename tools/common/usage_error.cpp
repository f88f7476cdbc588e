// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "usage_error.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::program {

namespace {

/// Number of insertions, deletions, substitutions and transpositions of neighbours that change one
/// word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above.back();
}

}  // namespace

InvalidArgument named_by_option(const InvalidArgument& error) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 26> options{
      {{"count", "--k"},
       {"block", "--block"},
       {"basis", "--basis"},
       {"kind", "--generate"},
       {"interaction", "--interaction"},
       {"orbits", "--orbits"},
       {"excitation", "--excitation"},
       {"oscillator", "--hw"},
       {"lawson", "--lawson"},
       {"coulomb", "--coulomb"},
       {"shift", "--shift"},
       {"hamiltonian", "--hamiltonian"},
       {"overlap", "--overlap"},
       {"molecules", "--molecules"},
       {"blocks", "--blocks"},
       {"gap", "--gap"},
       {"decay", "--decay"},
       {"coupling", "--coupling"},
       {"electrons", "--electrons"},
       {"occupation", "--occupation"},
       {"temperature", "--temperature"},
       {"chemical_potential", "--mu"},
       {"filter_eps", "--filter"},
       {"checkpoint.path", "--checkpoint"},
       {"resume", "--resume"},
       {"tolerance", "--tolerance"}}};
  for (const auto& [argument, option] : options)
    if (error.name() == argument) return InvalidArgument(option, error.value(), error.expected());
  return error;
}

std::string usage_text(std::string_view name, std::string_view value, std::string_view problem,
                       std::string_view expected) {
  if (value.empty()) return fmt::format("{} is missing; expected {}", name, expected);
  const bool quoted = value.starts_with('\'');
  return fmt::format("{0}: {1}{2}{1} {3}; expected {4}", name, quoted ? "" : "'", value, problem, expected);
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t longest = 64;  // longer words are not typing errors
  if (word.size() > longest) return {};
  std::string nearest;
  std::size_t least = longest;
  for (const std::string& known : words) {
    constexpr std::size_t telling = 3;  // minimum length for a match of the beginning
    const bool begins = word.size() >= telling && known.starts_with(word);
    const std::size_t distance = begins ? 1 : edit_distance(word, known);
    if (distance <= std::max(word.size(), known.size()) / 3 && distance < least) {
      nearest = known;
      least = distance;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& words) {
  const std::string nearest = nearest_word(word, words);
  return nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest);
}

std::string one_of(const std::vector<std::string>& words) {
  return words.size() == 1 ? words.front() : fmt::format("one of {}", fmt::join(words, ", "));
}

}  // namespace tessera::program
