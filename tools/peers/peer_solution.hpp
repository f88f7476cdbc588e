// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::program {

/// Solution of the same problem by another library, for comparison.
template <class T>
struct PeerSolution {
  std::string name;    ///< names of the routines
  double seconds = 0;  ///< in the library, without allocating its workspace
  Index first = 0;     ///< index of the first value in the whole spectrum; 0 for a range by value
  std::vector<RealOf<T>> values;
  std::vector<T> vectors;  ///< n x count, leading dimension n; empty without vectors
};

}  // namespace tessera::program
