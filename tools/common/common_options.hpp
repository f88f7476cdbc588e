// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/types.hpp>

/// Options that the program and all benchmarks have.
namespace tessera::program {

using Json = nlohmann::ordered_json;

enum class CheckPolicy { none, last, all };

struct CommonOptions {
  int cores = -1;
  int gpus = -1;
  bool hybrid = false;
  std::uint64_t seed = 1;
  int repeat = 1;
  int warmup = 0;
  CheckPolicy check = CheckPolicy::last;
  std::string json;   ///< file, "-" for stdout, empty for none
  std::string trace;  ///< directory, empty for none
  std::string scheduler;
  bool quiet = false;

  /// The JSON goes to stdout, so nothing else may be printed there.
  bool json_alone() const { return json == "-"; }
  bool wants_check(int run) const {
    return check == CheckPolicy::all || (check == CheckPolicy::last && run == repeat - 1);
  }
};

/// `all`, `index:LO:HI` for [LO, HI) from 0, or `value:LO:HI` for (LO, HI].
struct RangeOption {
  enum class Kind { all, index, value };
  Kind kind = Kind::all;
  Index index_low = 0, index_high = 0;
  double value_low = 0, value_high = 0;
};
/// @throws InvalidArgument
RangeOption parse_range(const std::string& text);
std::string to_string(const RangeOption& range);

/// `PxQ`; 0x0: as square as possible.
struct GridOption {
  int rows = 0, cols = 0;
};
/// @throws InvalidArgument
GridOption parse_grid(const std::string& text);

/// Rejects words that no option accepts, before any work starts: an empty value, or a value that
/// the record of the run cannot store. `words` is the command line, including the program's name.
/// @throws InvalidArgument
void require_plain_words(const std::vector<std::string>& words);

/// The part of the record for the options that all commands with a solve have.
Json to_json(CommonOptions options);

}  // namespace tessera::program
