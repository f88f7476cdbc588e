// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// What several ranks do when one of them goes wrong. A case runs in processes of its own, since it may leave
/// the Runtime poisoned.
namespace tessera::test {

/// What a case knows about itself.
struct Ranks {
  Runtime& runtime;
  int faulty;  ///< the rank that goes wrong
  bool here() const { return runtime.rank() == faulty; }
};

struct FaultCase {
  std::string name;
  /// Goes wrong on the faulty rank. What leaves it on each rank is printed.
  std::function<void(const Ranks&)> run;
  /// Part of the message that every rank must see; empty: no exception on any rank.
  std::string message;
  /// Instead of `run`: makes its Runtime by itself, on the communicator of all processes.
  std::function<void(int rank, int faulty)> run_alone{};
};

std::vector<FaultCase>& fault_cases();

/// Static objects of this kind add cases.
struct AddFaultCases {
  explicit AddFaultCases(std::vector<FaultCase> cases) {
    for (FaultCase& fault : cases) fault_cases().push_back(std::move(fault));
  }
};

}  // namespace tessera::test
