// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/dense/generators.hpp>
#include <tessera/runtime/error.hpp>

#include "option_parts.hpp"

namespace tessera::program {

namespace {

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The two texts behind `NAME:`.
bool split_pair(std::string_view text, std::string_view prefix, char separator, std::string_view& a,
                std::string_view& b) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const auto middle = text.find(separator);
  if (middle == std::string_view::npos) return false;
  a = text.substr(0, middle);
  b = text.substr(middle + 1);
  return true;
}

template <class Wanted>
CLI::Validator finite_number(Wanted wanted, const std::string& expected, const std::string& shown) {
  return CLI::Validator(
      [wanted, expected](const std::string& text) {
        double value = 0;
        const std::string_view digits = std::string_view(text).substr(text.starts_with('+') ? 1 : 0);
        const bool right = parse_number(digits, value) && std::isfinite(value) && wanted(value);
        return right ? std::string() : fmt::format("{}: expected a {}", text, expected);
      },
      shown);
}

}  // namespace

std::string generator_help() {
  std::string text = "Hermitian test matrix, with --n; KIND is one of";
  for (const GeneratorKind& kind : generator_kinds())
    text += fmt::format("\n  {}{}: {}", kind.name, kind.takes_argument ? "[:ARG]" : "", kind.help);
  return text;
}

void check_generator(const std::string& kind) {
  MatrixGenerator<double>::make(kind, 1);
}

void add_type_option(CLI::App& command, char& type, const std::string& help) {
  command
      .add_option_function<std::string>(
          "--type", [&type](const std::string& text) { type = text.at(0); }, help)
      ->check(CLI::IsMember({"s", "d", "c", "z"}))
      ->type_name("s|d|c|z");
}

void add_letter_option(CLI::App& command, const std::string& name, char& value, const std::string& help) {
  command
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { value = text.at(0); }, help)
      ->check(CLI::IsMember({"f", "d"}))
      ->type_name("f|d");
}

void add_yes_no_option(CLI::App& command, const std::string& name, bool& value, const std::string& help) {
  command
      .add_option_function<std::string>(
          name, [&value](const std::string& text) { value = text == "yes"; }, help)
      ->check(CLI::IsMember({"yes", "no"}))
      ->type_name("yes|no");
}

CLI::Validator any_number() {
  return finite_number([](double) { return true; }, "finite number", "FINITE");
}

CLI::Validator number_from_0() {
  return finite_number([](double x) { return x >= 0; }, "number >= 0", "NONNEGATIVE");
}

CLI::Validator number_above_0() {
  return finite_number([](double x) { return x > 0; }, "number > 0", "POSITIVE");
}

CLI::Validator number_in(double least, double most) {
  return finite_number([=](double x) { return x >= least && x <= most; },
                       fmt::format("number from {} to {}", least, most),
                       fmt::format("FLOAT in [{} - {}]", least, most));
}

CLI::Validator integer_in(Index least, Index most) {
  return CLI::Validator(
      [=](const std::string& text) {
        Index value = 0;
        const bool right = parse_number(text, value) && value >= least && value <= most;
        const bool octal = text.size() > 1 && text[0] == '0';
        return right && !octal ? std::string()
                               : fmt::format("{}: expected an integer from {} to {}", text, least, most);
      },
      fmt::format("INT in [{} - {}]", least, most));
}

void add_shell_model_options(CLI::App& command, std::string& interaction, std::string& orbits) {
  command
      .add_option("--interaction", interaction,
                  "of the shell model: random (with --seed; the default), pairing, pairing-quadrupole, or a "
                  "file .int")
      ->type_name("NAME|FILE");
  command
      .add_option("--orbits", orbits,
                  "the file .sps that belongs to --interaction FILE and to shell:file:...")
      ->type_name("FILE");
}

void add_grid_option(CLI::App& command, GridOption& grid) {
  command
      .add_option_function<std::string>(
          "--grid", [&grid](const std::string& text) { grid = parse_grid(text); },
          "process grid under mpirun (default: as square as possible)")
      ->check(parsed_by(parse_grid, "PxQ"))
      ->type_name("PxQ");
}

void add_common_options(CLI::App& command, CommonOptions& options) {
  command
      .add_option(
          "--cores", options.cores,
          "CPU workers (default: every core; of more than 8, or with GPUs, one less for submitting, one "
          "for each GPU and one for messages between ranks; with GPUs, and without --hybrid, at most "
          "14, or 4 with several ranks)")
      ->check(integer_in(0, 4096));
  command.add_option("--gpus", options.gpus, "GPUs (default: all that can be used)")
      ->check(integer_in(0, 64));
  command.add_flag("--hybrid", options.hybrid,
                   "let CPUs take part in what GPUs can do (default: GPUs do it alone)");
  // StarPU itself would take any name, and its default for one that it does not know.
  command
      .add_option("--scheduler", options.scheduler,
                  "StarPU's scheduling policy (default: lws, with GPUs dmdas)")
      ->check(CLI::IsMember({"lws", "ws", "eager", "prio", "random", "dm", "dmda", "dmdar", "dmdas", "dmdasd",
                             "pheft", "heteroprio", "modular-eager", "modular-ws", "modular-heft",
                             "modular-heft2"}))
      ->type_name("POLICY");
  command.add_option("--seed", options.seed, "of everything that is random")
      ->check(integer_in(0, std::numeric_limits<Index>::max()));
  command.add_option("--repeat", options.repeat, "timed runs, of which the median counts")
      ->check(integer_in(1, 100000));
  command
      .add_option("--warmup", options.warmup,
                  "runs before, not counted (default: 0, with --peer cusolver or cusolvermg 1: the first use "
                  "of a GPU is slow)")
      ->check(integer_in(0, 100000));
  command
      .add_option_function<std::string>(
          "--check",
          [&options](const std::string& text) {
            options.check = text == "none"  ? CheckPolicy::none
                            : text == "all" ? CheckPolicy::all
                                            : CheckPolicy::last;
          },
          "which runs are checked (default: last); a failed check is exit code 1")
      ->check(CLI::IsMember({"none", "last", "all"}))
      ->type_name("none|last|all");
  command
      .add_option("--json", options.json,
                  "write the record of the run there (- for stdout, then nothing else is)")
      ->type_name("FILE|-");
  command.add_option("--trace", options.trace, "record StarPU's trace there and summarise it")
      ->type_name("DIR");
  command.add_flag("--quiet", options.quiet, "no report and no progress");
}

void warm_up_with_gpu_peer(CLI::App& command, const std::string& peer, CommonOptions& common) {
  command.parse_complete_callback([&] {
    if (peer.starts_with("cusolver") && command.count("--warmup") == 0) common.warmup = 1;
  });
}

RangeOption parse_range(const std::string& text) {
  RangeOption range;
  std::string_view a, b;
  if (text == "all") return range;
  if (split_pair(text, "index:", ':', a, b) && parse_number(a, range.index_low) &&
      parse_number(b, range.index_high) && range.index_low >= 0 && range.index_low <= range.index_high) {
    range.kind = RangeOption::Kind::index;
    return range;
  }
  if (split_pair(text, "value:", ':', a, b) && parse_number(a, range.value_low) &&
      parse_number(b, range.value_high) && !std::isnan(range.value_low) && !std::isnan(range.value_high) &&
      range.value_low < range.value_high) {
    range.kind = RangeOption::Kind::value;
    return range;
  }
  throw InvalidArgument(
      "--range", text,
      "all, index:LO:HI with 0 <= LO <= HI (eigenvalues LO to HI-1, from 0), or value:LO:HI with LO < HI");
}

std::string to_string(const RangeOption& range) {
  switch (range.kind) {
    case RangeOption::Kind::all:
      return "all";
    case RangeOption::Kind::index:
      return fmt::format("index:{}:{}", range.index_low, range.index_high);
    case RangeOption::Kind::value:
      break;
  }
  return fmt::format("value:{}:{}", range.value_low, range.value_high);
}

GridOption parse_grid(const std::string& text) {
  GridOption grid;
  std::string_view a, b;
  constexpr int most = 1 << 15;  // the product is an int
  if (split_pair(text, "", 'x', a, b) && parse_number(a, grid.rows) && parse_number(b, grid.cols) &&
      grid.rows > 0 && grid.cols > 0 && grid.rows <= most && grid.cols <= most)
    return grid;
  throw InvalidArgument("--grid", text, "PxQ, two positive numbers");
}

Json to_json(const CommonOptions& options) {
  constexpr std::array<const char*, 3> policies{"none", "last", "all"};
  Json json;
  json["cores"] = options.cores;
  json["gpus"] = options.gpus;
  json["hybrid"] = options.hybrid;
  json["seed"] = options.seed;
  json["repeat"] = options.repeat;
  json["warmup"] = options.warmup;
  json["check"] = policies[static_cast<std::size_t>(options.check)];
  if (!options.trace.empty()) json["trace"] = options.trace;
  return json;
}

}  // namespace tessera::program
