// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::detail {

namespace {

/// Those of the shells 2 n + l = 0 to 11 of an oscillator.
constexpr int most_orbits = 78;

bool is_comment(std::string_view word) noexcept {
  return word[0] == '!' || word[0] == '#';
}

/// The lines of a text file that are not empty and no comments, as words; a comment may end a line.
class WordLines {
 public:
  WordLines(const std::string& path, const FileText& text)
      : lines_(text ? TextLines(path, *text) : TextLines(path)) {}

  /// False at the end of the file.
  bool next() {
    for (std::string_view text; lines_.next(text);) {
      words_ = words_of(text);
      words_.erase(std::find_if(words_.begin(), words_.end(), is_comment), words_.end());
      if (words_.empty()) continue;
      lines_.require_line_end();
      return true;
    }
    return false;
  }
  void require_next(std::string_view what) {
    if (!next()) fail(fmt::format("ends where {} should follow", what));
  }
  void require_words(std::size_t count, std::string_view what) const {
    if (words_.size() != count)
      fail(fmt::format("{} words in the line, but {} expected: {}", words_.size(), count, what));
  }
  const std::vector<std::string_view>& words() const { return words_; }

  double real(std::size_t k) const {
    const std::string_view word = words_[k];
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value))
      fail(fmt::format("{} is not a finite number", shown_input(word)));
    return value;
  }
  /// An integer, which may be written as a real number.
  int integer(std::size_t k) const {
    const double value = real(k);
    if (value != std::floor(value) || std::abs(value) > 1e6)
      fail(fmt::format("{} is not an integer (of a sensible size)", shown_input(words_[k])));
    return static_cast<int>(value);
  }
  [[noreturn]] void fail(std::string_view reason) const { lines_.fail(reason); }

 private:
  TextLines lines_;
  std::vector<std::string_view> words_;
};

/// The head of an interaction file: the number of elements, which is returned, the energies, the mass
/// dependence.
int read_head(WordLines& lines, ShellInteraction& interaction) {
  lines.require_next("the head");
  const std::size_t orbits = interaction.orbits().size();
  if (lines.words().size() != orbits + 1 && lines.words().size() != orbits + 4)
    lines.fail(fmt::format("{} words in the head: for {} orbits there are {}, or {} with a mass dependence",
                           lines.words().size(), orbits, orbits + 1, orbits + 4));
  for (std::size_t a = 0; a < orbits; ++a) interaction.energies[a] = lines.real(a + 1);
  if (lines.words().size() == orbits + 4) {
    const MassDependence mass{lines.real(orbits + 1), lines.real(orbits + 2), lines.real(orbits + 3)};
    if (mass.core < 0 || mass.reference <= 0)
      lines.fail("the core's mass is below 0, or the mass of reference is not above 0");
    interaction.mass_dependence = mass;
  }
  return std::abs(lines.integer(0));
}

void require_possible(const WordLines& lines, const std::vector<ShellOrbit>& orbits) {
  try {
    require_shell_orbits(orbits);
  } catch (const InvalidArgument& error) {
    lines.fail(fmt::format("{}, but expected: {}", error.value(), error.expected()));
  }
}

/// An orbit of protons or of neutrons in a file of KSHELL, by its number among those of both.
struct NucleonOrbit {
  Nucleon kind;
  int orbit;
};

/// The head of such a file: the orbits, and those of protons and neutrons that belong to its numbers.
struct KshellOrbits {
  std::vector<ShellOrbit> orbits;
  std::vector<NucleonOrbit> numbers;
  double core = 0;  ///< its mass

  const NucleonOrbit& at(const WordLines& lines, std::size_t word) const {
    const int number = lines.integer(word), last = static_cast<int>(numbers.size());
    if (number < 1 || number > last)
      lines.fail(fmt::format("orbit {} does not exist: there are 1 to {}", number, last));
    return numbers[static_cast<std::size_t>(number - 1)];
  }
};

KshellOrbits read_kshell_orbits(WordLines& lines) {
  KshellOrbits read;
  lines.require_next("the numbers of orbits of protons and neutrons");
  lines.require_words(4, "orbits of protons and of neutrons, protons and neutrons of the core");
  const int protons = lines.integer(0), neutrons = lines.integer(1);
  if (protons < 1 || protons > most_orbits || neutrons != protons)
    lines.fail(fmt::format(
        "{} orbits of protons and {} of neutrons, but only equally many of both, 1 to {}, are known", protons,
        neutrons, most_orbits));
  read.core = lines.integer(2) + lines.integer(3);
  if (read.core < 0) lines.fail("the core's mass is below 0");
  for (int k = 0; k < 2 * protons; ++k) {
    lines.require_next(fmt::format("orbit {} of {}", k + 1, 2 * protons));
    lines.require_words(5, "number, n, l, 2j and 2tz");
    if (lines.integer(0) != k + 1) lines.fail(fmt::format("orbit {} should follow", k + 1));
    const ShellOrbit orbit{lines.integer(1), lines.integer(2), lines.integer(3),
                           2 * lines.integer(1) + lines.integer(2)};
    const bool of_protons = k < protons;
    if (lines.integer(4) != (of_protons ? -1 : 1))
      lines.fail("2tz is not -1 for the orbits of protons, which come first, and 1 for those of neutrons");
    if (of_protons) {
      read.orbits.push_back(orbit);
      require_possible(lines, read.orbits);
      read.numbers.push_back({Nucleon::proton, k});
      continue;
    }
    const auto same = std::find_if(read.orbits.begin(), read.orbits.end(), [&](const ShellOrbit& o) {
      return o.n == orbit.n && o.l == orbit.l && o.twice_j == orbit.twice_j;
    });
    if (same == read.orbits.end())
      lines.fail("protons do not have this orbit: only the same orbits for both are known");
    const int number = static_cast<int>(same - read.orbits.begin());
    for (const NucleonOrbit& former : read.numbers)
      if (former.kind == Nucleon::neutron && former.orbit == number) lines.fail("the orbit is given twice");
    read.numbers.push_back({Nucleon::neutron, number});
  }
  return read;
}

/// Energies: one-body elements of an orbit with itself.
void read_kshell_energies(WordLines& lines, const KshellOrbits& orbits, ShellInteraction& interaction) {
  lines.require_next("the number of one-body elements");
  if (lines.words().size() < 2 || lines.integer(1) != 0)
    lines.fail("the number of one-body elements and the method 0 should follow: no other method is known");
  const int count = lines.integer(0);
  interaction.neutron_energies.assign(interaction.energies.size(), 0.0);
  std::set<std::pair<Nucleon, int>> given;
  for (int k = 0; k < count; ++k) {
    lines.require_next(fmt::format("one-body element {} of {}", k + 1, count));
    lines.require_words(3, "i, j and the element");
    const NucleonOrbit &i = orbits.at(lines, 0), &j = orbits.at(lines, 1);
    const double value = lines.real(2);
    if (i.kind != j.kind || i.orbit != j.orbit) {
      if (value != 0) lines.fail("one-body elements between different orbits are not known");
      continue;
    }
    if (!given.insert({i.kind, i.orbit}).second) lines.fail("the energy is given twice");
    (i.kind == Nucleon::proton ? interaction.energies : interaction.neutron_energies)[i.orbit] = value;
  }
}

void read_kshell_element(WordLines& lines, const KshellOrbits& orbits, ShellInteraction& interaction) {
  lines.require_words(6, "i, j, k, l, J and the element");
  const NucleonOrbit &i = orbits.at(lines, 0), &j = orbits.at(lines, 1), &k = orbits.at(lines, 2),
                     &l = orbits.at(lines, 3);
  const bool like = i.kind == j.kind;
  if (like ? k.kind != i.kind || l.kind != i.kind
           : i.kind != Nucleon::proton || k.kind != Nucleon::proton || l.kind != Nucleon::neutron)
    lines.fail(
        "the orbits are not those of two protons, two neutrons, or a proton before a neutron, on both sides");
  const CoupledElement at{i.orbit, j.orbit, k.orbit, l.orbit, lines.integer(4)};
  if (!interaction.allowed(like, at))
    lines.fail("the orbits cannot couple to this J (or the parity changes)");
  const double value = lines.real(5);
  if (!(like ? interaction.set_like_element(i.kind, at, value) : interaction.set_unlike_element(at, value)))
    lines.fail("the element is given twice");
}

}  // namespace

ShellInteraction kshell_interaction_of(const std::string& path, const FileText& text) {
  WordLines lines(path, text);
  const KshellOrbits orbits = read_kshell_orbits(lines);
  ShellInteraction interaction(orbits.orbits);
  interaction.separate_nucleons();
  read_kshell_energies(lines, orbits, interaction);
  lines.require_next("the number of two-body elements");
  const std::size_t words = lines.words().size();
  const int count = lines.integer(0), method = words > 1 ? lines.integer(1) : 0;
  if (!(method == 0 && words <= 2) && !(method == 1 && words == 4))
    lines.fail(
        "the number of two-body elements should follow, with 0, or with 1, the mass of reference and an "
        "exponent");
  if (method == 1) {
    interaction.mass_dependence = MassDependence{orbits.core, lines.real(2), -lines.real(3)};
    if (interaction.mass_dependence->reference <= 0) lines.fail("the mass of reference is not above 0");
  }
  for (int k = 0; k < count; ++k) {
    lines.require_next(fmt::format("two-body element {} of {}", k + 1, count));
    read_kshell_element(lines, orbits, interaction);
  }
  if (lines.next()) lines.fail(fmt::format("more lines than the {} two-body elements", count));
  return interaction;
}

std::vector<ShellOrbit> shell_orbits_of(const std::string& path, const FileText& text) {
  WordLines lines(path, text);
  lines.require_next("the word 'iso'");
  if (lines.words()[0] != "iso" || lines.words().size() != 1)
    lines.fail("the first line is not 'iso': only the same orbits for protons and neutrons are known");
  lines.require_next("the number of orbits");
  lines.require_words(1, "the number of orbits");
  const int count = lines.integer(0);
  if (count < 1 || count > most_orbits)
    lines.fail(fmt::format("{} orbits, but 1 to {} are possible", count, most_orbits));
  std::vector<ShellOrbit> orbits;
  for (int k = 0; k < count; ++k) {
    lines.require_next(fmt::format("orbit {} of {}", k + 1, count));
    lines.require_words(4, "n, l, j and w");
    const double twice_j = 2 * lines.real(2);
    if (twice_j != std::floor(twice_j) || std::abs(twice_j) > 99)
      lines.fail(fmt::format("j = {} is not half of an integer", shown_input(lines.words()[2])));
    orbits.push_back({lines.integer(0), lines.integer(1), static_cast<int>(twice_j), lines.integer(3)});
    require_possible(lines, orbits);
  }
  if (lines.next()) lines.fail(fmt::format("more lines than the {} orbits", count));
  return orbits;
}

ShellInteraction shell_interaction_of(const std::string& path, const FileText& text,
                                      std::vector<ShellOrbit> orbits) {
  ShellInteraction interaction(std::move(orbits));
  WordLines lines(path, text);
  const int count = read_head(lines, interaction), last = static_cast<int>(interaction.orbits().size());
  std::set<std::array<int, 6>> seen;
  for (int k = 0; k < count; ++k) {
    lines.require_next(fmt::format("element {} of {}", k + 1, count));
    lines.require_words(7, "a b c d J T V");
    std::array<int, 6> at{};
    for (std::size_t i = 0; i < 6; ++i) at[i] = lines.integer(i) - (i < 4 ? 1 : 0);
    auto [a, b, c, d, j, t] = at;
    for (int orbit : {a, b, c, d})
      if (orbit < 0 || orbit >= last)
        lines.fail(fmt::format("orbit {} does not exist: there are 1 to {}", orbit + 1, last));
    if (!interaction.allowed(a, b, c, d, j, t))
      lines.fail("the orbits cannot couple to this J and T (or the parity changes)");
    interaction.set_element(a, b, c, d, j, t, lines.real(6));
    if (a > b) std::swap(a, b);
    if (c > d) std::swap(c, d);
    if (std::pair(a, b) > std::pair(c, d)) std::swap(a, c), std::swap(b, d);
    if (!seen.insert({a, b, c, d, j, t}).second) lines.fail("the element is given twice");
  }
  if (lines.next()) lines.fail(fmt::format("more lines than the {} elements of the head", count));
  return interaction;
}

std::vector<ShellOrbit> read_shell_orbits(const std::string& path) {
  return shell_orbits_of(path, {});
}
ShellInteraction read_shell_interaction(const std::string& path, std::vector<ShellOrbit> orbits) {
  return shell_interaction_of(path, {}, std::move(orbits));
}
ShellInteraction read_kshell_interaction(const std::string& path) {
  return kshell_interaction_of(path, {});
}

}  // namespace tessera::detail
