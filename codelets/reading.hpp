// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include <tessera/runtime/sequence.hpp>

namespace tessera {

/// The accesses of a task that reads a list of pieces; what else it uses is appended.
inline std::vector<Access> reading(std::span<const Data* const> pieces) {
  std::vector<Access> accesses;
  for (const Data* piece : pieces) accesses.push_back(read(*piece));
  return accesses;
}

}  // namespace tessera
