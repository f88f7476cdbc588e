// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/codelet.hpp>

namespace tessera::detail {

/// Seconds of a task that reads or writes its buffers once, from the latency and the bandwidth of a worker.
/// StarPU only compares workers, so a factor of two does not matter.
constexpr double memory_seconds(WorkerKind kind, double bytes) noexcept {
  return kind == WorkerKind::gpu ? 8e-6 + bytes / 2.5e12 : 2e-6 + bytes / 5e9;
}

}  // namespace tessera::detail
