// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

namespace tessera::fuzz {

/// A parser and the corpus files that it reads.
struct Target {
  std::string name;
  std::string prefix;  ///< of the corpus files
  /// Reads a file. Must throw nothing but tessera::Error.
  std::function<void(const std::string& path)> read;
};

/// All parsers of the library and the program.
/// @param corpus  a folder; some parsers also need a second, undamaged file from it
std::vector<Target> all_targets(Runtime& runtime, const std::string& corpus);

}  // namespace tessera::fuzz
