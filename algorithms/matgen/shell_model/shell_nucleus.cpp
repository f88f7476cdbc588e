// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/matgen/shell_model/no_core.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_space_count.hpp>
#include <tessera/error.hpp>
#include <tessera/shell_model.hpp>

namespace tessera::detail {

namespace {

enum class Shell { sd, pf, of_file, no_core };

struct Nucleus {
  Shell shell;
  int protons, neutrons;
  int nmax = 0;  ///< of a no-core space
};

/// The elements with 1 to 40 protons.
constexpr std::array<std::string_view, 40> symbols{
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si",
    "P",  "S",  "Cl", "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni",
    "Cu", "Zn", "Ga", "Ge", "As", "Se", "Br", "Kr", "Rb", "Sr", "Y",  "Zr"};

/// Protons and neutrons of `48Cr`.
std::optional<std::pair<int, int>> nucleons_by_name(std::string_view name) {
  std::size_t digits = 0;
  int mass = 0;
  while (digits < name.size() && digits < 4 && name[digits] >= '0' && name[digits] <= '9')
    mass = 10 * mass + (name[digits++] - '0');
  const auto symbol = std::find(symbols.begin(), symbols.end(), name.substr(digits));
  const int protons = static_cast<int>(symbol - symbols.begin()) + 1;
  if (digits == 0 || symbol == symbols.end() || mass < protons) return std::nullopt;
  return std::pair(protons, mass - protons);
}

/// `48Cr`, of which the shell follows.
Nucleus nucleus_by_name(const KindArguments& arguments) {
  if (const auto nucleons = nucleons_by_name(arguments.word(1))) {
    const auto [protons, neutrons] = *nucleons;
    const auto within = [&, z = protons, n = neutrons](int low, int high) {
      return z >= low && z <= high && n >= low && n <= high;
    };
    if (within(8, 20)) return {Shell::sd, protons - 8, neutrons - 8};
    if (within(20, 40)) return {Shell::pf, protons - 20, neutrons - 20};
  }
  arguments.fail(
      "a nucleus of the sd shell (Z and N from 8 to 20) or the pf shell (20 to 40), as 24Mg or 48Cr, or "
      "sd:Z:N, pf:Z:N, file:Z:N, or without a core nocore:NUCLEUS:NMAX, nocore:Z:N:NMAX");
}

/// What the kind says: `48Cr:0`, `file:2:2`, `nocore:6Li:4`.
struct Request {
  Nucleus nucleus;
  int twice_m;
  int parity;  ///< 0: not given
};

Request request_of(const KindArguments& arguments) {
  arguments.require_count(1, 6);
  Request request{};
  Nucleus& nucleus = request.nucleus;
  Index next = 2;  // the argument after the nucleus
  const std::string_view first = arguments.word(1);
  const auto numbers = [&](int most, const char* what) {
    nucleus.protons = static_cast<int>(arguments.integer(2, fmt::format("{}protons", what), 0, 0, most));
    nucleus.neutrons = static_cast<int>(arguments.integer(3, fmt::format("{}neutrons", what), 0, 0, most));
    next = 4;
  };
  if (first == "nocore") {
    arguments.require_count(3, 6);
    nucleus.shell = Shell::no_core;
    next = 3;
    constexpr int most = 40;
    const std::string_view name = arguments.word(2);
    if (name.find_first_not_of("0123456789") == std::string_view::npos) {
      numbers(most, "");
    } else if (const auto nucleons = nucleons_by_name(name)) {
      std::tie(nucleus.protons, nucleus.neutrons) = *nucleons;
    } else {
      arguments.fail("a nucleus up to zirconium after nocore, as 6Li or 3:3");
    }
    if (nucleus.protons + nucleus.neutrons == 0) arguments.fail("at least one nucleon");
    if (nucleus.neutrons > most) arguments.fail("at most 40 neutrons");
    if (!arguments.has(next)) arguments.fail("Nmax after the nucleus, as nocore:6Li:4");
    nucleus.nmax = static_cast<int>(arguments.integer(next++, "Nmax", 0, 0, 40));
    arguments.require_count(1, next + 1);
  } else if (first == "sd" || first == "pf" || first == "file") {
    arguments.require_count(3, 5);
    nucleus.shell = first == "sd" ? Shell::sd : first == "pf" ? Shell::pf : Shell::of_file;
    numbers(first == "sd" ? 12 : first == "pf" ? 20 : Determinant::max_states, "valence ");
  } else {
    arguments.require_count(1, 3);
    nucleus = nucleus_by_name(arguments);
  }
  const int particles = nucleus.protons + nucleus.neutrons;
  request.twice_m = static_cast<int>(arguments.integer(next, "2M", particles % 2, -1000, 1000));
  if ((particles + request.twice_m) % 2 != 0)
    arguments.fail("2M even for an even number of particles, odd for an odd one");
  request.parity = !arguments.has(next + 1) ? 0 : arguments.choice(next + 1, "+", "-", false) ? -1 : 1;
  return request;
}

/// The space that the kind and the options name.
ShellModelSpace space_of(const KindArguments& arguments, const Request& request,
                         const SparseGeneratorOptions& options) {
  const Nucleus& nucleus = request.nucleus;
  if (nucleus.shell != Shell::no_core)
    return {nucleus.protons, nucleus.neutrons, request.twice_m, request.parity, options.excitation};
  if (options.excitation)
    throw InvalidArgument("excitation", std::to_string(*options.excitation),
                          "none: Nmax truncates a space without a core");
  const ShellModelSpace space =
      no_core_space(nucleus.protons, nucleus.neutrons, nucleus.nmax, request.twice_m);
  if (request.parity != 0 && request.parity != space.parity)
    arguments.fail(fmt::format("{}, the parity of states with Nmax = {} quanta above the least",
                               space.parity > 0 ? '+' : '-', nucleus.nmax));
  return space;
}

bool same_orbits(const std::vector<ShellOrbit>& a, const std::vector<ShellOrbit>& b) {
  const auto momenta = [](const std::vector<ShellOrbit>& orbits) {
    std::multiset<std::pair<int, int>> all;
    for (const ShellOrbit& orbit : orbits) all.emplace(orbit.l, orbit.twice_j);
    return all;
  };
  return momenta(a) == momenta(b);
}

/// Orbits of a file for a space without a core: those of the oscillator's shells that nucleons reach, and perhaps more.
/// The weight is 2 n + l, and decides: n is a label.
void require_oscillator_orbits(const std::vector<ShellOrbit>& found, int max_shell, const char* argument,
                               const std::string& file) {
  std::set<std::tuple<int, int, int>> orbits;
  for (const ShellOrbit& orbit : found) {
    const bool possible = orbit.weight >= orbit.l && (orbit.weight - orbit.l) % 2 == 0;
    if (!possible || !orbits.emplace(orbit.weight, orbit.l, orbit.twice_j).second)
      throw InvalidArgument(argument, file,
                            "a file with the weights w = 2 n + l (n from 0), each orbit once");
  }
  for (const ShellOrbit& orbit : oscillator_orbits(max_shell))
    if (!orbits.contains({orbit.weight, orbit.l, orbit.twice_j}))
      throw InvalidArgument(argument, file,
                            fmt::format("a file with all orbits of the shells 2 n + l = 0 to {}", max_shell));
}

void require_orbits_of(const Nucleus& nucleus, const std::vector<ShellOrbit>& found, const char* argument,
                       const std::string& file) {
  if (nucleus.shell == Shell::of_file) return;
  if (nucleus.shell == Shell::no_core)
    return require_oscillator_orbits(found, highest_shell(nucleus.protons, nucleus.neutrons, nucleus.nmax),
                                     argument, file);
  if (!same_orbits(found, nucleus.shell == Shell::pf ? pf_shell_orbits() : sd_shell_orbits()))
    throw InvalidArgument(argument, file, "a file with the orbits of the shell that the kind names");
}

std::vector<ShellOrbit> orbits_of(const Nucleus& nucleus, const SparseGeneratorOptions& options,
                                  const ShellModelTexts& texts) {
  if (!options.orbits.empty()) {
    std::vector<ShellOrbit> orbits = shell_orbits_of(options.orbits, texts.orbits);
    require_orbits_of(nucleus, orbits, "orbits", options.orbits);
    return orbits;
  }
  switch (nucleus.shell) {
    case Shell::sd:
      return sd_shell_orbits();
    case Shell::pf:
      return pf_shell_orbits();
    case Shell::no_core:
      return oscillator_orbits(highest_shell(nucleus.protons, nucleus.neutrons, nucleus.nmax));
    default:
      throw InvalidArgument("orbits", "", "the path of an .sps file");
  }
}

ShellInteraction make_interaction(const Nucleus& nucleus, const ShellModelSpace& space,
                                  const SparseGeneratorOptions& options, const ShellModelTexts& texts) {
  const std::string& name = options.interaction;
  if (name.ends_with(".snt")) {
    if (!options.orbits.empty())
      throw InvalidArgument("orbits", options.orbits, "none: an .snt file has its own orbits");
    ShellInteraction read = kshell_interaction_of(name, texts.interaction);
    require_orbits_of(nucleus, read.orbits(), "interaction", name);
    return read;
  }
  std::vector<ShellOrbit> orbits = orbits_of(nucleus, options, texts);
  const bool no_core = nucleus.shell == Shell::no_core;
  if (name == "random") {
    const std::optional<int> pair = no_core ? std::optional(max_pair_weight(orbits, space)) : std::nullopt;
    return random_interaction(std::move(orbits), options.seed, pair);
  }
  if (name == "pairing") return pairing_interaction(std::move(orbits));
  if (name == "pairing-quadrupole") return pairing_quadrupole_interaction(std::move(orbits));
  if (name == "minnesota") {
    if (!no_core)
      throw InvalidArgument("interaction", name, "another one than minnesota, which is for nocore:... alone");
    return minnesota_interaction(std::move(orbits), space, options.oscillator);
  }
  if (name.find_first_of("./") == std::string::npos)
    throw InvalidArgument(
        "interaction", name,
        "random, pairing, pairing-quadrupole, minnesota, or the path of an .int or .snt file");
  if (options.orbits.empty())
    throw InvalidArgument("orbits", "", "the path of the .sps file that belongs to the .int file");
  return shell_interaction_of(name, texts.interaction, std::move(orbits));
}

/// The options of spaces without a core.
void require_no_core_options(Shell shell, const SparseGeneratorOptions& options) {
  if (!(options.oscillator > 0) || !std::isfinite(options.oscillator))
    throw InvalidArgument("oscillator", fmt::format("{:g}", options.oscillator),
                          "a finite energy above 0, in MeV");
  if (!std::isfinite(options.lawson) || options.lawson < 0)
    throw InvalidArgument("lawson", fmt::format("{:g}", options.lawson), "a finite number, 0 or more");
  if (options.lawson != 0 && shell != Shell::no_core)
    throw InvalidArgument("lawson", fmt::format("{:g}", options.lawson), "0 but for nocore:...");
  if (options.coulomb && (shell != Shell::no_core || options.interaction != "minnesota"))
    throw InvalidArgument("coulomb", "true", "false but for the interaction minnesota");
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
  const Request request = request_of(arguments);
  const Nucleus& nucleus = request.nucleus;
  const ShellModelSpace space = space_of(arguments, request, options);
  const bool no_core = nucleus.shell == Shell::no_core;
  require_no_core_options(nucleus.shell, options);
  if (const int most = largest_nmax(nucleus.protons, nucleus.neutrons); no_core && nucleus.nmax > most)
    arguments.fail(most < 0 ? "fewer nucleons" : fmt::format("Nmax from 0 to {} for this nucleus", most));
  ShellInteraction interaction = make_interaction(nucleus, space, options, texts);
  if (options.coulomb) add_coulomb(interaction, space, options.oscillator);
  if (options.lawson != 0) add_lawson(interaction, space, options.oscillator, options.lawson);
  const std::vector<ShellOrbit> orbits = interaction.orbits();
  if (options.excitation && std::all_of(orbits.begin(), orbits.end(), [&](const ShellOrbit& orbit) {
        return orbit.weight == orbits.front().weight;
      }))
    throw InvalidArgument("excitation", std::to_string(*options.excitation),
                          "none, because all orbits have the same weight");
  SparseGenerator made;
  made.a = std::make_shared<ShellModelRows>(std::move(interaction), space);
  const std::string levels =
      fmt::format("Every level with angular momentum J >= {}/2 is there once", std::abs(space.twice_m));
  if (options.interaction == "pairing" && space.parity >= 0 && !space.excitation &&
      nucleus.protons % 2 == 0 && nucleus.neutrons % 2 == 0 && space.twice_m == 0)
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

double shell_model_order(std::string_view kind, const SparseGeneratorOptions& options,
                         const ShellModelTexts& texts) {
  const KindArguments arguments(kind);
  if (arguments.name() != "shell") throw InvalidArgument("kind", kind, "shell:NUCLEUS");
  const Request request = request_of(arguments);
  const ShellModelSpace space = space_of(arguments, request, options);
  if (request.nucleus.shell != Shell::no_core && options.interaction.ends_with(".snt"))
    return count_states(kshell_interaction_of(options.interaction, texts.interaction).orbits(), space);
  return count_states(orbits_of(request.nucleus, options, texts), space);
}

}  // namespace tessera
