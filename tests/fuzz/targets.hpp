// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

namespace tessera::fuzz {

/// A parser, and the files of the corpus that it reads.
struct Target {
  std::string name;
  std::string prefix;  ///< of the corpus' files
  /// Reads a file. May throw tessera::Error, and nothing else.
  std::function<void(const std::string& path)> read;
};

/// All parsers of the library and the program.
/// @param corpus  a folder; some parsers need a second file, which is whole
std::vector<Target> all_targets(Runtime& runtime, const std::string& corpus);

}  // namespace tessera::fuzz
