// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::program {

/// One of several routines that a run of a peer has tried.
struct PeerTrial {
  std::string name;
  double seconds = 0;
};

/// Solution of the same problem by another library, for comparison.
template <class T>
struct PeerSolution {
  std::string name;    ///< names of the routines
  double seconds = 0;  ///< in the library, without allocating its workspace
  Index first = 0;     ///< index of the first value in the whole spectrum; 0 for a range by value
  std::vector<RealOf<T>> values;
  std::vector<T> vectors;           ///< n x count, leading dimension n; empty without vectors
  std::vector<PeerTrial> trials{};  ///< all routines that were tried, if several; `name` is the fastest
};

/// The same problem was solved again by another routine: keeps the faster of the two, and both times.
template <class T>
void keep_faster(PeerSolution<T>& best, PeerSolution<T> other) {
  std::vector<PeerTrial> trials = std::move(best.trials);
  if (trials.empty()) trials.push_back({best.name, best.seconds});
  trials.push_back({other.name, other.seconds});
  if (other.seconds < best.seconds) best = std::move(other);
  best.trials = std::move(trials);
}

}  // namespace tessera::program
