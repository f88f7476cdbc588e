// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How the CUDA kernel of stack_kernel.cuh computes products of one shape: chosen from the shape alone, by
/// the compiler, for the kernel and for its launch. No headers: also compiled at run time.
#ifdef __CUDACC__
#define TESSERA_STACK_PLAN __host__ __device__ constexpr
#else
#define TESSERA_STACK_PLAN constexpr
#endif

namespace tessera {

/// A run is computed by `parts` groups of warps_m x warps_n warps: group p takes the products p, p + parts,
/// ... (or `products` of them at a time), and the groups' sums are added in order. A warp holds tiles_m x
/// tiles_n tiles of 8 x 8 elements of C.
struct StackPlan {
  int threads;                    ///< of a thread block
  int runs_per_block;             ///< the grid has ceil(runs / runs_per_block) blocks
  int shared_bytes;               ///< dynamic shared memory of a thread block
  int blocks_per_multiprocessor;  ///< that the registers and the shared memory are planned for

  bool staged;  ///< blocks pass through shared memory; else they are loaded as the tensor cores take them
  int parts;
  int warps_m, warps_n;
  int tiles_m, tiles_n;
  int stages;    ///< staged: buffers of a group
  int slice;     ///< staged: columns of A and rows of B in a buffer
  int products;  ///< not staged: products whose inner dimensions are laid end to end
};

TESSERA_STACK_PLAN int stack_ceil(int a, int b) {
  return (a + b - 1) / b;
}
TESSERA_STACK_PLAN int stack_common_divisor(int a, int b) {
  return b == 0 ? a : stack_common_divisor(b, a % b);
}
TESSERA_STACK_PLAN int stack_min(int a, int b) {
  return a < b ? a : b;
}
TESSERA_STACK_PLAN int stack_max(int a, int b) {
  return a > b ? a : b;
}

/// Distance between columns in shared memory: odd, and the inner indices that a warp reads at once this far
/// apart. Then the 8 rows of 4 columns of A and the 4 rows of 8 columns of B that it reads meet in different
/// banks.
TESSERA_STACK_PLAN int stack_leading_dimension(int rows) {
  return rows | 1;
}
TESSERA_STACK_PLAN int stack_spacing(int element_bytes) {
  return 32 / element_bytes;
}

/// Bytes of shared memory, registers and threads of a multiprocessor (Hopper) and what a thread block may
/// have.
struct StackDevice {
  static constexpr int shared_bytes = 228 * 1024, shared_bytes_reserved = 1024, registers = 65536,
                       threads = 2048, blocks = 32;
};

/// Elements of a slice of A and of B in shared memory.
TESSERA_STACK_PLAN int stack_buffer_elements(int m, int n, int slice) {
  return stack_leading_dimension(m) * slice + stack_leading_dimension(slice) * n;
}
/// Thread blocks of so much dynamic shared memory that a multiprocessor can hold at a time.
TESSERA_STACK_PLAN int stack_blocks_that_fit(int shared_bytes) {
  return StackDevice::shared_bytes / (shared_bytes + StackDevice::shared_bytes_reserved);
}

/// Fills in what follows from the other numbers: tiles, threads, shared memory, blocks that fit.
TESSERA_STACK_PLAN StackPlan complete_stack_plan(StackPlan plan, int element_bytes, bool complex, int m,
                                                 int n, int k) {
  const int planes = complex ? 2 : 1, words = 2;
  plan.tiles_m = stack_ceil(stack_ceil(m, 8), plan.warps_m);
  plan.tiles_n = stack_ceil(stack_ceil(n, 8), plan.warps_n);
  const int warps = plan.warps_m * plan.warps_n, tiles = plan.tiles_m * plan.tiles_n;
  plan.threads = 32 * warps * plan.parts * plan.runs_per_block;
  plan.shared_bytes = plan.runs_per_block * (plan.parts - 1) * warps * 32 * 8 * 2 * tiles * planes;
  int registers = 4 * tiles * planes + 48;
  if (plan.staged) {
    const int buffers = plan.parts * plan.stages * stack_buffer_elements(m, n, plan.slice) * element_bytes;
    plan.shared_bytes = stack_max(plan.shared_bytes, buffers);
    registers += 2 * words * (plan.tiles_m + plan.tiles_n);
  } else {
    const int steps = stack_ceil(plan.products * k, 4);
    registers += words * planes * stack_min(steps, 16) * (plan.tiles_m + plan.tiles_n);
  }
  registers = stack_min((registers + 7) / 8 * 8, 255);
  const int by_registers = StackDevice::registers / (stack_max(registers, 32) * plan.threads);
  const int by_shared = stack_blocks_that_fit(plan.shared_bytes);
  const int most =
      stack_max(1, stack_min(stack_min(by_registers, by_shared),
                             stack_min(StackDevice::blocks, StackDevice::threads / plan.threads)));
  if (plan.blocks_per_multiprocessor == 0 || most <= plan.blocks_per_multiprocessor)
    plan.blocks_per_multiprocessor = most;
  else
    plan.shared_bytes = StackDevice::shared_bytes / (plan.blocks_per_multiprocessor + 1) / 16 * 16 + 16 -
                        StackDevice::shared_bytes_reserved;
  return plan;
}

/// The plan for C (m x n) += A (m x k) B (k x n), 1 <= m, n, k <= 80.
TESSERA_STACK_PLAN StackPlan stack_plan(int element_bytes, bool complex, int m, int n, int k) {
  StackPlan plan{};
  plan.runs_per_block = plan.warps_m = plan.warps_n = 1;
  plan.parts = 2;
  const int tiles_m = stack_ceil(m, 8), tiles_n = stack_ceil(n, 8);
  if (tiles_m * tiles_n == 1 || (tiles_m * tiles_n <= 4 && (m + n) * k <= 200)) {
    plan.products = stack_max(1, 20 / k);
    return complete_stack_plan(plan, element_bytes, complex, m, n, k);
  }
  plan.staged = true;
  const int most_tiles = complex ? 8 : 16, most_warps = complex ? 8 : 4;
  while (stack_ceil(tiles_m, plan.warps_m) * stack_ceil(tiles_n, plan.warps_n) > most_tiles &&
         plan.warps_m * plan.warps_n < most_warps)
    (stack_ceil(tiles_m, plan.warps_m) >= stack_ceil(tiles_n, plan.warps_n) ? plan.warps_m : plan.warps_n) *=
        2;
  const int warps = plan.warps_m * plan.warps_n;

  constexpr int kilobyte = 1024, most_in_flight = 90 * kilobyte;
  const int most_bytes = stack_min(10 + 3 * warps, 22) * kilobyte;
  int slices = 1;
  plan.slice = k;
  while (stack_buffer_elements(m, n, plan.slice) * element_bytes > most_bytes && plan.slice > 4)
    plan.slice = (stack_ceil(k, ++slices) + 3) / 4 * 4;

  const int buffers =
      stack_max(1, most_in_flight / (stack_buffer_elements(m, n, plan.slice) * element_bytes));
  plan.parts = warps >= 8 ? 1 : buffers >= 16 ? 4 : buffers >= 6 && slices > 1 ? 3 : 2;
  plan.stages = 2;
  plan.blocks_per_multiprocessor = stack_max(1, buffers / plan.parts);
  plan = complete_stack_plan(plan, element_bytes, complex, m, n, k);
  plan.stages = 1 + stack_max(1, stack_min(3, buffers / (plan.parts * plan.blocks_per_multiprocessor)));
  return complete_stack_plan(plan, element_bytes, complex, m, n, k);
}

}  // namespace tessera

#undef TESSERA_STACK_PLAN
