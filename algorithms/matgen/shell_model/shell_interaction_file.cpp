// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
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

/// The lines of a text file that are not empty and no comments, as words.
class WordLines {
 public:
  explicit WordLines(const std::string& path) : lines_(path) {}

  /// False at the end of the file.
  bool next() {
    for (std::string_view text; lines_.next(text);) {
      words_ = words_of(text);
      if (words_.empty() || words_[0][0] == '!' || words_[0][0] == '#') continue;
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

}  // namespace

std::vector<ShellOrbit> read_shell_orbits(const std::string& path) {
  WordLines lines(path);
  lines.require_next("the word 'iso'");
  if (lines.words()[0] != "iso" || lines.words().size() != 1)
    lines.fail("the first line is not 'iso': only the same orbits for protons and neutrons are known");
  lines.require_next("the number of orbits");
  lines.require_words(1, "the number of orbits");
  const int count = lines.integer(0);
  if (count < 1 || count > 31) lines.fail(fmt::format("{} orbits, but 1 to 31 are possible", count));
  std::vector<ShellOrbit> orbits;
  for (int k = 0; k < count; ++k) {
    lines.require_next(fmt::format("orbit {} of {}", k + 1, count));
    lines.require_words(4, "n, l, j and w");
    const double twice_j = 2 * lines.real(2);
    if (twice_j != std::floor(twice_j) || std::abs(twice_j) > 99)
      lines.fail(fmt::format("j = {} is not half of an integer", shown_input(lines.words()[2])));
    lines.real(3);
    orbits.push_back({lines.integer(0), lines.integer(1), static_cast<int>(twice_j)});
    try {
      ShellInteraction check(orbits);
    } catch (const InvalidArgument& error) {
      lines.fail(fmt::format("{}, but expected: {}", error.value(), error.expected()));
    }
  }
  if (lines.next()) lines.fail(fmt::format("more lines than the {} orbits", count));
  return orbits;
}

ShellInteraction read_shell_interaction(const std::string& path, std::vector<ShellOrbit> orbits) {
  ShellInteraction interaction(std::move(orbits));
  WordLines lines(path);
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

}  // namespace tessera::detail
