// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/matgen.hpp>

#include "density_check.hpp"
#include "density_problem.hpp"
#include "options.hpp"
#include "output_files.hpp"
#include "table_parts.hpp"

namespace tessera::program {

namespace {

bool cuts_blocks(const DensityProgramOptions& options) {
  const auto is_hdf5 = [](const std::string& file) { return file.ends_with(".h5"); };
  return !options.generate.empty() || !std::ranges::all_of(options.hamiltonians, is_hdf5);
}

bool is_batch(const DensityProgramOptions& options) {
  return options.hamiltonians.size() > 1;
}

/// Several k-points at a temperature, which may share a chemical potential.
bool takes_common_mu(const DensityProgramOptions& options) {
  return is_batch(options) && options.temperature > 0 && !options.mu;
}

bool takes_mu(const DensityProgramOptions& options) {
  return options.method == DensityMethod::sign || options.method == DensityMethod::automatic ||
         options.temperature > 0;
}

/// What a method begins its work on the gap with.
bool takes_gap(const DensityProgramOptions& options) {
  const bool by_method = options.method == DensityMethod::sign || options.method == DensityMethod::sp2 ||
                         options.method == DensityMethod::purification ||
                         options.method == DensityMethod::submatrix ||
                         options.method == DensityMethod::automatic;
  return by_method && options.temperature == 0 && !options.mu;
}

/// `HOMO:LUMO`
std::optional<GapBounds> parse_gap_bounds(const std::string& text) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::size_t colon = text.find(':');
  GapBounds bounds{{none, 0}, {0, none}};
  const auto number = [](const std::string& part, double& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() && std::isfinite(value);
  };
  if (colon == std::string::npos || !number(text.substr(0, colon), bounds.homo.upper) ||
      !number(text.substr(colon + 1), bounds.lumo.lower) || !(bounds.homo.upper < bounds.lumo.lower))
    throw UsageError("--gap-bounds", text, "is not possible",
                     "HOMO:LUMO, two energies, the first below the second");
  return bounds;
}

void add_files(OptionTable& table, DensityProgramOptions& options) {
  const auto reads = [&options] { return options.generate.empty(); };
  table.group("Problem");
  table
      .texts(
          "--hamiltonian", options.hamiltonians, "FILE[,FILE...]",
          "H, symmetric or Hermitian: Matrix Market (may be gzipped), or HDF5 as --output writes it if the "
          "name ends in .h5; several are k-points or spin channels, computed at the same time")
      .at_place("H")
      .reads(FileFormat::matrix_market_or_hdf5);
  table
      .texts("--overlap", options.overlaps, "FILE[,FILE...]",
             "S, positive definite; of several Hamiltonians one for all or one for each")
      .at_place("S")
      .by_default("the identity")
      .reads(FileFormat::matrix_market_or_hdf5)
      .needs(reads, "--hamiltonian, as generated systems have their own");
  table
      .text("--block-sizes", options.block_sizes, "FILE",
            "block sizes of Matrix Market files, numbers in a text file")
      .by_default("--blocks")
      .reads(FileFormat::text)
      .needs([&options, reads] { return reads() && cuts_blocks(options); },
             "--hamiltonian and Matrix Market files, as HDF5 files have their own");
  table
      .integers("--blocks", options.blocks, 1, 4096,
                "block sizes of a molecule, as in 13,5,5 or 4,1,1; those of files are repeated")
      .by_default("23; of --generate amorphous 13,5, of tio2 26,13,13")
      .needs([&options] { return cuts_blocks(options) && options.block_sizes.empty(); },
             "--generate or Matrix Market files, as HDF5 files have their own, and without --block-sizes");
}

void add_system(OptionTable& table, DensityProgramOptions& options) {
  const auto generated = [&options] { return !options.generate.empty(); };
  const std::string with_generate = "--generate";
  table
      .word("--generate", options.generate, density_system_names(),
            "a system with a gap, in hartree, with --molecules or --n" + density_system_help())
      .shown_as("KIND");
  table.integer("--molecules", options.molecules, 0, largest_order, "its molecules or groups of atoms")
      .chosen("none", -1)
      .needs(generated, with_generate);
  table
      .integer("--n", options.n, 0, largest_order,
               "its basis functions, rounded to whole molecules (groups of atoms: by their mean size)")
      .chosen("none", -1)
      .needs(generated, with_generate);
  table
      .real("--gap", options.gap, real_above_0(),
            "between occupied and other levels of molecules alone, hartree")
      .chosen("0.22; of water of fewer than 12 functions 0.55", nullptr)
      .needs(generated, with_generate);
  table.real("--decay", options.decay, real_within(0.2, 10), "length over which molecules couple, angstrom")
      .chosen("2.6; of water of fewer than 12 functions 1.4", nullptr)
      .needs(generated, with_generate);
  table
      .real("--coupling", options.coupling, real_from_0(),
            "norm of the coupling, below where the gap may close")
      .chosen("0.8 of that limit", nullptr)
      .needs(generated, with_generate);
  add_type(table, options.type).by_default("z for a complex file, else d");
  table
      .reals("--electrons", options.electrons, real_from_0(),
             "whole number of occupied states; with --temperature any number, as 511.5; of several "
             "Hamiltonians one for all or one for each")
      .shown_as("N[,N...]")
      .chosen("the generator's, with --occupation 1 half of them; files need it", Json::array())
      .needs([&options] { return !options.mu; }, "the search for mu, and so not with --mu");
  table.choice("--occupation", options.occupation, {{"1", 1.0}, {"2", 2.0}},
               "electrons of an occupied state: 2 for closed shells, 1 for one spin");
  table.real("--mu", options.mu, any_real(), "occupy all states below, whatever their number")
      .chosen("found from --electrons", nullptr)
      .needs([&options] { return takes_mu(options); }, "--method sign or auto, or --temperature");
  table
      .real("--temperature", options.temperature, real_from_0(),
            "kT, in the unit of H: Fermi-Dirac occupations; 0: full and empty states")
      .shown_as("KT")
      .needs(
          [&options] {
            return options.method == DensityMethod::automatic || options.method == DensityMethod::fermi ||
                   options.method == DensityMethod::dense;
          },
          "--method fermi, dense or auto");
}

void add_batch(OptionTable& table, DensityProgramOptions& options) {
  table
      .reals("--weights", options.weights, real_from_0(),
             "of the Hamiltonians in the sums of energies and electrons, one for each")
      .chosen("1 each", Json::array())
      .needs([&options] { return is_batch(options); }, "several Hamiltonians");
  table
      .yes_no("--common-mu", options.common_mu,
              "one mu for all, at which the weighted sum of electrons is as wanted; no: each has its own")
      .needs([&options] { return takes_common_mu(options); },
             "several Hamiltonians and --temperature, without --mu");
}

void add_former(OptionTable& table, DensityProgramOptions& options) {
  const std::string methods =
      "--method sp2, purification, submatrix, sign or auto at temperature 0, without --mu";
  table
      .form(
          "--gap-bounds", options.gap_bounds, "HOMO:LUMO", parse_gap_bounds,
          [](const std::optional<GapBounds>& bounds) {
            return bounds ? Json::array({bounds->homo.upper, bounds->lumo.lower}) : Json();
          },
          "energies between which no state lies: the highest occupied is at most HOMO, the others at least "
          "LUMO; "
          "sp2 takes fewer steps with them")
      .needs([&options] { return takes_gap(options); }, methods);
  table
      .text("--restart", options.restart, "FILE",
            "begin with what --save of a run with nearly these H and S has written: Z, refined, and the "
            "bounds of "
            "the gap")
      .needs([&options] { return !is_batch(options); }, "one Hamiltonian");
  table
      .real("--moved", options.moved, real_from_0(),
            "how far states may have moved since: the bounds of the gap are narrowed by that much")
      .chosen("a quarter of that gap, as the former H is not known", nullptr)
      .needs([&options] { return !options.restart.empty() && !options.gap_bounds && takes_gap(options); },
             "--restart without --gap-bounds, and " + methods);
  table.text("--save", options.save, "FILE", "write P, Z, mu and the bounds of the gap for --restart, HDF5")
      .needs([&options] { return !is_batch(options); }, "one Hamiltonian");
}

void add_method(OptionTable& table, DensityProgramOptions& options) {
  const auto iterates = [&options] { return options.method != DensityMethod::dense; };
  const std::string with_iterations = "a --method that iterates";
  table.group("Method");
  table.choice(
      "--method", options.method, density_methods(),
      "sign function; filtered purification: trs4, tc2, sp2; purification of dense matrices, or of those of "
      "groups with their environments (submatrix); direct minimisation (curvy); polynomials of a "
      "--temperature (fermi); or the dense eigenproblem; auto is "
      "trs4, with --mu sign, with bounds of the gap sp2, with a temperature fermi");
  table.real("--filter", options.filter, real_from_0(), "of all products, as multiply --filter; 0: none")
      .shown_as("EPS");
  table
      .real("--tolerance", options.tolerance, real_above_0(),
            "error of idempotency, relative, that the iterations may leave")
      .chosen("from the filter; without one, rounding", 0.0)
      .needs(iterates, with_iterations);
  table.integer("--iterations", options.iterations, 1, 1000000, "of each iteration, at most")
      .needs(iterates, with_iterations);
  table.integer("--sign-order", options.sign_order, 2, 7, "of the sign iteration; 2: Newton-Schulz")
      .needs(
          [&options] {
            return options.method == DensityMethod::sign ||
                   (options.mu && takes_mu(options) && options.temperature == 0);
          },
          "--method sign or --mu");
  table.integer("--factor-order", options.factor_order, 2, 5, "of the iteration for Z with Z^H S Z = I")
      .needs(
          [&options, iterates] {
            return iterates() && options.method != DensityMethod::purification &&
                   options.method != DensityMethod::submatrix &&
                   (!options.generate.empty() || !options.overlaps.empty());
          },
          "an overlap, and a --method that iterates with blocks");
  table.integer("--group", options.group, 1, 1 << 20, "basis functions of a group of blocks, about")
      .chosen("those with the least work", 0)
      .needs([&options] { return options.method == DensityMethod::submatrix; }, "--method submatrix");
  table.integer("--panel", options.panel, 1, 1 << 20, "rows and columns of a panel, about")
      .chosen("from the order and the machine", 0);
}

}  // namespace

OptionTable option_table(DensityProgramOptions& options) {
  OptionTable table("tessera density", "the density matrix of a Hamiltonian, without diagonalisation");
  add_files(table, options);
  add_system(table, options);
  add_batch(table, options);
  add_method(table, options);
  add_former(table, options);
  add_machine(table, options.common);
  add_grid(table, options.grid);
  table.word("--keep-on", options.keep_on, {"host", "gpu"},
             "where H and S are when the clock starts: in host memory only, or on the GPU already");
  add_runs(table, options.common);
  table.entry("--seed").needs([&options] { return !options.generate.empty(); }, "--generate KIND");
  add_check(table, options.common);
  table.entry("--check").help += fmt::format(". {}", density_gates);
  table.word("--peer", options.peer, {"none", "dense"},
             "compute it by --method dense, too, alternating run by run, and compare energy and elements");
  table.text(
      "--output", options.output, "FILE",
      "write P: Matrix Market, or HDF5 if the name ends in .h5; of several Hamiltonians a file for each, "
      "P_1.h5, P_2.h5, ...");
  table.text("--plot", options.plot, "FILE", "draw the convergence of the iterations, SVG")
      .needs([&options] { return options.method != DensityMethod::dense && !is_batch(options); },
             "a --method that iterates, and one Hamiltonian");
  add_trace(table, options.common);
  add_record(table, options.common);
  table.example("H.mtx.gz S.mtx.gz --blocks 13,5,5 --electrons 256 --output P.h5",
                "32 molecules of water, from files");
  table.example("--generate water --molecules 512 --filter 1e-5 --peer dense",
                "a model of water, beside eigenpairs");
  table.example("--generate tio2 --n 5200 --method sign --sign-order 3 --plot sign.svg",
                "by the sign function, with a search for mu");
  table.example("H1.mtx,H2.mtx S1.mtx,S2.mtx --weights 0.25,0.75 --electrons 8 --temperature 0.01",
                "two k-points at an electronic temperature of 3158 K, with one mu");
  return table;
}

DensitySource source_of(const DensityProgramOptions& options, std::size_t k) {
  const auto of = [k](const std::vector<std::string>& files) {
    return k < files.size() ? files[k] : std::string();
  };
  return {.hamiltonian = of(options.hamiltonians),
          .overlap = of(options.overlaps),
          .generate = options.generate,
          .blocks = options.blocks,
          .molecules = options.molecules,
          .n = options.n,
          .gap = options.gap,
          .decay = options.decay,
          .coupling = options.coupling,
          .seed = options.common.seed,
          .usual_layout = options.panel == 0 && options.grid.rows == 0};
}

namespace {

void require_count(const char* option, std::size_t count, std::size_t hamiltonians, bool may_be_one) {
  if (count == 0 || count == hamiltonians || (may_be_one && count == 1)) return;
  throw UsageError(option, fmt::format("{} of them", count), "is not possible",
                   fmt::format("{}{}, as many as Hamiltonians", may_be_one && hamiltonians > 1 ? "1 or " : "",
                               hamiltonians));
}

}  // namespace

void validate(const DensityProgramOptions& options) {
  const bool generated = !options.generate.empty();
  if (generated != options.hamiltonians.empty())
    throw UsageError("--hamiltonian", fmt::format("{}", fmt::join(options.hamiltonians, ",")),
                     "stands beside --generate",
                     "either --hamiltonian FILE or --generate KIND with --molecules or --n");
  if (generated && options.molecules < 0 && options.n < 0)
    throw UsageError("--molecules", "", "", "the size of the generated system, or --n");
  if (options.molecules >= 0 && options.n >= 0)
    throw UsageError("--n", fmt::to_string(options.n), "stands beside --molecules", "one of them");
  if (!generated && options.electrons.empty() && !options.mu)
    throw UsageError("--electrons", "", "", "the number of electrons, or --mu with --method sign");
  const std::size_t count = std::max<std::size_t>(options.hamiltonians.size(), 1);
  require_count("--overlap", options.overlaps.size(), count, true);
  require_count("--electrons", options.electrons.size(), count, true);
  require_count("--weights", options.weights.size(), count, false);
  if (generated) system_options(source_of(options));
  for (std::size_t k = 0; k < count && !options.output.empty(); ++k)
    require_writable("--output", output_of(options, k));
  if (!options.plot.empty()) require_writable("--plot", options.plot);
  if (!options.save.empty()) require_writable("--save", options.save);
}

std::string output_of(const DensityProgramOptions& options, std::size_t k) {
  if (options.hamiltonians.size() < 2) return options.output;
  // P.mtx.gz is P_1.mtx.gz.
  const std::size_t slash = options.output.rfind('/'), name = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t dot = std::min(options.output.find('.', name + 1), options.output.size());
  return fmt::format("{}_{}{}", options.output.substr(0, dot), k + 1, options.output.substr(dot));
}

}  // namespace tessera::program
