// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// How the kernel of one shape is launched: for the kernel itself and for its launcher.
namespace tessera::device {

struct StackPlan {
  int threads;
  int runs_per_block;
  int shared_bytes;
  int blocks_per_multiprocessor;
};

constexpr StackPlan stack_plan(int real_bytes, bool complex, int m, int n, int k) {
  return {128, 1, real_bytes * (complex ? 2 : 1) * (m + n) * k, 1};
}

}  // namespace tessera::device
