// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

/// Where a rank may fail while others go on: tests make it fail at each of them in turn.
namespace tessera::detail {

/// Null but in tests; what it throws is thrown at the place that is passed.
using FaultHook = void (*)();
extern std::atomic<FaultHook> fault_hook;

inline void fault_point() {
  if (const FaultHook hook = fault_hook.load(std::memory_order_relaxed)) hook();
}

}  // namespace tessera::detail
