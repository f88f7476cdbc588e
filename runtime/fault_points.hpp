// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

/// Places where a rank may fail while others continue: tests make it fail at each of them, one after the
/// other.
namespace tessera::detail {

/// Null except in tests. Its exception is thrown at the fault point.
using FaultHook = void (*)();
extern std::atomic<FaultHook> fault_hook;

inline void fault_point() {
  if (const FaultHook hook = fault_hook.load(std::memory_order_relaxed)) hook();
}

}  // namespace tessera::detail
