// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/runtime/codelet.hpp>

namespace tessera {

/// Seconds of a task that goes through its buffers once: a core at 5 GB/s, a GPU at 2.5 TB/s and a launch.
/// StarPU only compares places, so a factor of two does not matter.
constexpr double memory_seconds(WorkerKind kind, double bytes) noexcept {
  return kind == WorkerKind::gpu ? 8e-6 + bytes / 2.5e12 : 2e-6 + bytes / 5e9;
}

}  // namespace tessera
