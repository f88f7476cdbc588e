// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include <tessera/runtime.hpp>

namespace tessera::detail {

/// Runs `work(thread)`, thread = 0 to info().cpu_workers - 1, on all CPU workers at once, where they compute
/// tasks; where there are none, work(0) on the calling thread. Returns when all are done. For peers and
/// limits of the machine that are to have the processors that tasks have. Threads may wait for each other. No
/// task may be in flight. Collective.
/// @throws what `work` throws, of one thread.
void run_on_cpu_workers(Runtime& runtime, const std::function<void(int)>& work);

}  // namespace tessera::detail
