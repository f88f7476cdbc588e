// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/error.hpp>
#include <tessera/shell_model.hpp>

namespace tessera::detail {

namespace {

enum class Shell { sd, pf, of_file };

struct Nucleus {
  Shell shell;
  int protons, neutrons;
};

/// The elements with 8 to 40 protons.
constexpr std::array<std::string_view, 33> symbols{
    "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V", "Cr",
    "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr"};

/// `48Cr`, of which the shell follows.
Nucleus nucleus_by_name(const KindArguments& arguments) {
  const std::string_view name = arguments.word(1);
  std::size_t digits = 0;
  int mass = 0;
  while (digits < name.size() && digits < 4 && name[digits] >= '0' && name[digits] <= '9')
    mass = 10 * mass + (name[digits++] - '0');
  const auto symbol = std::find(symbols.begin(), symbols.end(), name.substr(digits));
  const int protons = static_cast<int>(symbol - symbols.begin()) + 8, neutrons = mass - protons;
  if (digits > 0 && symbol != symbols.end()) {
    const auto within = [&](int low, int high) {
      return protons >= low && protons <= high && neutrons >= low && neutrons <= high;
    };
    if (within(8, 20)) return {Shell::sd, protons - 8, neutrons - 8};
    if (within(20, 40)) return {Shell::pf, protons - 20, neutrons - 20};
  }
  arguments.fail(
      "a nucleus of the sd shell (Z and N from 8 to 20) or the pf shell (20 to 40), as 24Mg or 48Cr, or "
      "sd:Z:N, pf:Z:N, file:Z:N");
}

bool same_orbits(const std::vector<ShellOrbit>& a, const std::vector<ShellOrbit>& b) {
  const auto momenta = [](const std::vector<ShellOrbit>& orbits) {
    std::multiset<std::pair<int, int>> all;
    for (const ShellOrbit& orbit : orbits) all.emplace(orbit.l, orbit.twice_j);
    return all;
  };
  return momenta(a) == momenta(b);
}

void require_orbits_of(Shell shell, const std::vector<ShellOrbit>& found, const char* argument,
                       const std::string& file) {
  if (shell == Shell::of_file) return;
  if (!same_orbits(found, shell == Shell::pf ? pf_shell_orbits() : sd_shell_orbits()))
    throw InvalidArgument(argument, file, "a file with the orbits of the shell that the kind names");
}

ShellInteraction make_interaction(Shell shell, const SparseGeneratorOptions& options,
                                  const ShellModelTexts& texts) {
  if (options.interaction.ends_with(".snt")) {
    if (!options.orbits.empty())
      throw InvalidArgument("orbits", options.orbits, "none: an .snt file has its own orbits");
    ShellInteraction read = kshell_interaction_of(options.interaction, texts.interaction);
    require_orbits_of(shell, read.orbits(), "interaction", options.interaction);
    return read;
  }
  std::vector<ShellOrbit> orbits = shell == Shell::pf ? pf_shell_orbits() : sd_shell_orbits();
  if (!options.orbits.empty()) {
    orbits = shell_orbits_of(options.orbits, texts.orbits);
    require_orbits_of(shell, orbits, "orbits", options.orbits);
  } else if (shell == Shell::of_file) {
    throw InvalidArgument("orbits", "", "the path of an .sps file");
  }
  if (options.interaction == "random") return random_interaction(std::move(orbits), options.seed);
  if (options.interaction == "pairing") return pairing_interaction(std::move(orbits));
  if (options.interaction == "pairing-quadrupole") return pairing_quadrupole_interaction(std::move(orbits));
  if (options.interaction.find_first_of("./") == std::string::npos)
    throw InvalidArgument("interaction", options.interaction,
                          "random, pairing, pairing-quadrupole, or the path of an .int or .snt file");
  if (options.orbits.empty())
    throw InvalidArgument("orbits", "", "the path of the .sps file that belongs to the .int file");
  return shell_interaction_of(options.interaction, texts.interaction, std::move(orbits));
}

/// The pairing interaction's lowest state has all nucleons in pairs and the smallest isospin T that such
/// states have. Source: A. R. Edmonds, B. H. Flowers, Proc. R. Soc. A 214, 515 (1952).
double paired_energy(const std::vector<ShellOrbit>& orbits, int protons, int neutrons) {
  int half_degeneracy = 0;
  for (const ShellOrbit& orbit : orbits) half_degeneracy += (orbit.twice_j + 1) / 2;
  const double n = protons + neutrons, t = 0.5 * std::abs(protons - neutrons);
  return -0.5 * (n * (4 * half_degeneracy + 6 - n) / 4 - t * (t + 1));
}

SparseGenerator shell_model_of(const KindArguments& arguments, const SparseGeneratorOptions& options,
                               const ShellModelTexts& texts) {
  arguments.require_count(1, 5);
  Nucleus nucleus{};
  Index next = 2;  // the argument after the nucleus
  const std::string_view first = arguments.word(1);
  if (first == "sd" || first == "pf" || first == "file") {
    arguments.require_count(3, 5);
    nucleus.shell = first == "sd" ? Shell::sd : first == "pf" ? Shell::pf : Shell::of_file;
    const int most = first == "sd" ? 12 : first == "pf" ? 20 : 62;
    nucleus.protons = static_cast<int>(arguments.integer(2, "valence protons", 0, 0, most));
    nucleus.neutrons = static_cast<int>(arguments.integer(3, "valence neutrons", 0, 0, most));
    next = 4;
  } else {
    arguments.require_count(1, 3);
    nucleus = nucleus_by_name(arguments);
  }
  const int particles = nucleus.protons + nucleus.neutrons;
  const int twice_m = static_cast<int>(arguments.integer(next, "2M", particles % 2, -1000, 1000));
  if ((particles + twice_m) % 2 != 0)
    arguments.fail("2M even for an even number of particles, odd for an odd one");
  const int parity = !arguments.has(next + 1) ? 0 : arguments.choice(next + 1, "+", "-", false) ? -1 : 1;

  ShellInteraction interaction = make_interaction(nucleus.shell, options, texts);
  const std::vector<ShellOrbit> orbits = interaction.orbits();
  if (options.excitation && std::all_of(orbits.begin(), orbits.end(), [&](const ShellOrbit& orbit) {
        return orbit.weight == orbits.front().weight;
      }))
    throw InvalidArgument("excitation", std::to_string(*options.excitation),
                          "none, because all orbits have the same weight");
  SparseGenerator made;
  made.a = std::make_shared<ShellModelRows>(
      std::move(interaction),
      ShellModelSpace{nucleus.protons, nucleus.neutrons, twice_m, parity, options.excitation});
  const std::string levels =
      fmt::format("Every level with angular momentum J >= {}/2 is there once", std::abs(twice_m));
  if (options.interaction == "pairing" && parity >= 0 && !options.excitation && nucleus.protons % 2 == 0 &&
      nucleus.neutrons % 2 == 0 && twice_m == 0)
    made.spectrum = spectrum_of_lowest(levels +
                                           "; the lowest is -(n (4 Omega + 6 - n) / 4 - T (T + 1)) / 2, n "
                                           "nucleons in 2 Omega states, T = |Z - N| / 2.",
                                       {paired_energy(orbits, nucleus.protons, nucleus.neutrons)});
  else
    made.spectrum.text = levels + "; no energy is known in closed form.";
  return made;
}

}  // namespace

SparseGenerator shell_model_generator(const KindArguments& arguments, const SparseGeneratorOptions& options) {
  return shell_model_of(arguments, options, {});
}

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

SparseGenerator make_shell_model(std::string_view kind, const SparseGeneratorOptions& options,
                                 const ShellModelTexts& texts) {
  const KindArguments arguments(kind);
  if (arguments.name() != "shell") throw InvalidArgument("kind", kind, "shell:NUCLEUS");
  return shell_model_of(arguments, options, texts);
}

}  // namespace tessera
