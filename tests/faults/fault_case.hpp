// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/runtime.hpp>

/// What several ranks do if one of them fails. Each case runs in separate processes, because it may
/// leave the Runtime poisoned.
namespace tessera::test {

/// The ranks of a case, and which of them is faulty.
struct Ranks {
  Runtime& runtime;
  int faulty;  ///< the rank that fails
  bool here() const { return runtime.rank() == faulty; }
};

struct FaultCase {
  std::string name;
  /// Fails on the faulty rank. The exception that leaves it on each rank is printed.
  std::function<void(const Ranks&)> run;
  /// Part of the message that every rank must report. If empty, no rank may throw.
  std::string message;
  /// Replaces `run` and creates its own Runtime on the communicator of all processes.
  std::function<void(int rank, int faulty)> run_alone{};
};

std::vector<FaultCase>& fault_cases();

/// Static objects of this type add cases.
struct AddFaultCases {
  explicit AddFaultCases(std::vector<FaultCase> cases) {
    for (FaultCase& fault : cases) fault_cases().push_back(std::move(fault));
  }
};

}  // namespace tessera::test
