// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <tessera/runtime/sequence.hpp>

namespace tessera {

/// The accesses of a task that reads a list of pieces, after those in `first`; what else it uses is appended.
inline std::vector<Access> reading(std::span<const Data* const> pieces,
                                   std::initializer_list<Access> first = {}) {
  std::vector<Access> accesses(first);
  for (const Data* piece : pieces) accesses.push_back(read(*piece));
  return accesses;
}
inline std::vector<Access> reading(std::span<const Data> pieces, std::initializer_list<Access> first = {}) {
  std::vector<Access> accesses(first);
  for (const Data& piece : pieces) accesses.push_back(read(piece));
  return accesses;
}

}  // namespace tessera
