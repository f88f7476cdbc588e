// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// How the CUDA kernel of stack_kernel.cuh computes products of one shape; the kernel and its launch both read
/// it. The order of summation follows from it. It is chosen from the shape alone, by formula, so that it does
/// not depend on the device, unless `tessera tune` has found another one (stack_choice.hpp,
/// tuned_plans.hpp). No headers: also compiled at run time.
///
/// What is chosen:
/// - Blocks of one tile, or few elements: no shared memory. A warp loads the operands of several products at
///   once, which hides the latency, and the inner dimensions of these products are laid end to end, so that a
///   small k needs no padding. In single precision each thread loads those of products of its own, four of which
///   are at work side by side (stack_by_lanes): without exchange between threads it takes half the instructions.
/// - Else blocks are copied to shared memory, whole or (beyond 13 to 22 KB a product) in slices of the inner
///   dimension, into two buffers or more of each group of warps. A group has one warp up to C of 32 x 32
///   (complex: 16 x 32), as then each element is read from shared memory only once, and else up to eight.
/// - In single precision all shapes take tensor cores as well: a tile of 8 x 8 and 8 inner indices takes two
///   instructions and six to split each pair of elements, less than the 16 multiplications of a thread that has
///   two of its elements, and their operands are loaded once for the warp, not for each thread.
/// - A thread block has two to four groups (of eight warps one). Where a launch has few runs they share one, so
///   that a run of a few products is not a chain of as many latencies. Where it has many (StackOrder) each takes
///   a run of its own: this spends fewer instructions, and what neighbours read both comes from the first-level
///   cache.
/// - The number of thread blocks on a multiprocessor is such that about 90 KB of copies are under way. Half
///   of that keeps the memory busy (its bandwidth times its latency); with more than 100 KB the device reads
///   blocks that lie scattered in its memory more slowly. To hold fewer thread blocks than would fit, they
///   request more shared memory than they use.
#ifdef __CUDACC__
#define TESSERA_STACK_PLAN __host__ __device__ constexpr
#else
#define TESSERA_STACK_PLAN constexpr
#endif

namespace tessera::detail {

/// A thread block has `parts` groups of warps_m x warps_n warps. If they share a run, group p takes the products
/// p, p + parts, ... (or `products` of them at a time), and the groups' sums are added in order. A warp holds
/// tiles_m x tiles_n tiles of 8 x 8 elements of C.
struct StackPlan {
  int threads;       ///< of a thread block
  int shared_bytes;  ///< dynamic shared memory of a thread block: more than 48 KB must be allowed
  int blocks_per_multiprocessor;  ///< that the registers and the shared memory are planned for

  bool staged;  ///< blocks pass through shared memory; else they are loaded as the tensor cores take them
  int parts;
  int warps_m, warps_n;
  int tiles_m, tiles_n;
  int stages;    ///< staged: buffers of a group
  int slice;     ///< staged: columns of A and rows of B in a buffer
  int products;  ///< not staged: products whose inner dimensions are laid end to end

  bool operator==(const StackPlan&) const = default;
};

/// How a launch deals runs to thread blocks.
struct StackOrder {
  /// 0, or that the runs go row by row of C, so many in each: they are taken in strips of columns.
  int per_row;
  /// All groups of a thread block take one run; else each takes its own, neighbours in a row of C.
  bool together;
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

/// Where the run is that is number `number` to be computed. Those that are computed at a time, some hundreds,
/// read fewer blocks of A and B if their blocks of C make up a square: runs are taken in strips of columns of C,
/// as if each of its rows had `per_row`.
TESSERA_STACK_PLAN int place_of_run(int number, int run_count, int per_row) {
  constexpr unsigned width = 32;
  if (per_row <= int(width)) return number;
  // Divisions of numbers without sign, and by a constant where the strip is full, take fewer instructions.
  const unsigned runs_of_row = unsigned(per_row), at = unsigned(number),
                 rows = unsigned(run_count) / runs_of_row, of_strip = rows * width;
  if (at >= rows * runs_of_row) return number;
  const unsigned strip = at / of_strip, within = at - strip * of_strip, left = runs_of_row - strip * width,
                 row = left >= width ? within / width : within / left,
                 column = within - row * (left >= width ? width : left);
  return int(row * runs_of_row + strip * width + column);
}

/// The type of an element, and how many of them are copied at once: in single precision 16 bytes, where a
/// single element would take as many instructions as in double precision.
struct StackElement {
  int bytes;
  bool complex;
  TESSERA_STACK_PLAN bool single() const { return bytes == (complex ? 8 : 4); }
  TESSERA_STACK_PLAN int chunk() const { return single() ? 16 / bytes : 1; }
};

/// Distance between columns in shared memory: columns of a multiple of half the banks would meet in the same
/// ones. Other columns stay without gaps, since that makes faster copies. In single precision gaps are
/// multiples of 16 bytes: eight rows and four columns of A, or four rows and eight columns of B, are then in
/// different banks.
TESSERA_STACK_PLAN int stack_leading_dimension_a(StackElement element, int rows) {
  return rows % (64 / element.bytes) == 0 ? rows + (element.single() ? 32 / element.bytes : 1) : rows;
}
TESSERA_STACK_PLAN int stack_leading_dimension_b(StackElement element, int rows) {
  return rows % (64 / element.bytes) == 0 ? rows + (element.single() ? 4 : 1) : rows;
}
/// Elements of the place for so many: it begins at a multiple of 16 bytes where they are copied in chunks, and
/// they anywhere in its first 16 bytes.
TESSERA_STACK_PLAN int stack_place(StackElement element, int elements) {
  return stack_ceil(elements + element.chunk() - 1, element.chunk()) * element.chunk();
}
/// How often the busiest bank is read when a warp's threads that are served at once read the elements
/// i outer + l inner, i = 0, 1, ..., l = 0, ..., 3.
TESSERA_STACK_PLAN int stack_conflicts(int element_bytes, int outer, int inner) {
  const int banks = 128 / element_bytes;
  int most = 0;
  for (int bank = 0; bank < banks; ++bank) {
    int reads = 0;
    for (int i = 0; i < banks / 4; ++i)
      for (int l = 0; l < 4; ++l) reads += (i * outer + l * inner) % banks == bank;
    most = reads > most ? reads : most;
  }
  return most;
}
/// How far apart the four inner indices of a step are, of which a warp reads 8 rows of A and 8 columns of B
/// at once: with the fewest conflicts.
TESSERA_STACK_PLAN int stack_spacing(int element_bytes, int lda, int ldb) {
  int best = 1, least = 1 << 30;
  for (int spacing = 1; spacing <= 32 / element_bytes; spacing *= 2) {
    const int conflicts =
        stack_conflicts(element_bytes, 1, spacing * lda) + stack_conflicts(element_bytes, ldb, spacing);
    if (conflicts <= least) best = spacing, least = conflicts;
  }
  return best;
}

/// Bytes of shared memory, registers and threads of a multiprocessor (Hopper) and what a thread block may
/// have.
struct StackDevice {
  static constexpr int shared_bytes = 228 * 1024, shared_bytes_reserved = 1024, registers = 65536,
                       threads = 2048, blocks = 32;
};

/// Bytes of a slice of A and of B in shared memory.
TESSERA_STACK_PLAN int stack_buffer_bytes(StackElement element, int m, int n, int slice) {
  return element.bytes * (stack_place(element, stack_leading_dimension_a(element, m) * slice) +
                          stack_place(element, stack_leading_dimension_b(element, slice) * n));
}
/// Thread blocks of so much dynamic shared memory that a multiprocessor can hold at a time.
TESSERA_STACK_PLAN int stack_blocks_that_fit(int shared_bytes) {
  return StackDevice::shared_bytes / (shared_bytes + StackDevice::shared_bytes_reserved);
}

/// In single precision: the smaller terms of a warp's tiles have sums of their own (stack_float.cuh). There are
/// not enough registers for that for complex blocks beyond 48.
TESSERA_STACK_PLAN bool stack_two_chains(bool complex, int tiles_m, int tiles_n) {
  return !complex || tiles_m * tiles_n <= 9;
}

/// In single precision, not staged: how one tile's products are dealt to threads (stack_kernel.cuh). With a long
/// inner dimension a thread would have too much to load.
TESSERA_STACK_PLAN bool stack_by_lanes(const StackPlan& plan, int k) {
  return !plan.staged && plan.tiles_m * plan.tiles_n == 1 && plan.products % 4 == 0 &&
         plan.products / 4 * k <= 16;
}

/// Fills in what follows from the other numbers: tiles, threads, shared memory, blocks that fit.
TESSERA_STACK_PLAN StackPlan complete_stack_plan(StackPlan plan, StackElement element, int m, int n, int k) {
  const int planes = element.complex ? 2 : 1, words = 2;
  plan.tiles_m = stack_ceil(stack_ceil(m, 8), plan.warps_m);
  plan.tiles_n = stack_ceil(stack_ceil(n, 8), plan.warps_n);
  const int warps = plan.warps_m * plan.warps_n, tiles = plan.tiles_m * plan.tiles_n;
  plan.threads = 32 * warps * plan.parts;
  plan.shared_bytes = (plan.parts - 1) * warps * 32 * (element.single() ? 4 : 8) * 2 * tiles * planes;
  int registers = 4 * tiles * planes + 48;
  if (plan.staged) {
    const int buffers = plan.parts * plan.stages * stack_buffer_bytes(element, m, n, plan.slice);
    plan.shared_bytes = stack_max(plan.shared_bytes, buffers);
    registers += 2 * words * (plan.tiles_m + plan.tiles_n);
  } else {
    const int steps = stack_ceil(plan.products * k, 4);
    registers += words * planes * stack_min(steps, 16) * (plan.tiles_m + plan.tiles_n);
  }
  if (element.single() && plan.staged) {
    const int chains = stack_two_chains(element.complex, plan.tiles_m, plan.tiles_n) ? 2 : 1;
    registers = (element.complex ? 32 : 38) +
                planes * (2 * tiles + chains * 4 * stack_ceil(plan.tiles_m, 2) * plan.tiles_n) +
                4 * plan.tiles_m + 4 * planes * plan.tiles_n;
  } else if (element.single()) {
    registers += planes * (8 * stack_ceil(plan.tiles_m, 2) * plan.tiles_n - 2 * tiles);
    if (stack_by_lanes(plan, k)) registers = 44 + planes * (2 * (plan.products / 4) * k);
  }
  registers = stack_min((registers + 7) / 8 * 8, 255);
  int by_registers = StackDevice::registers / (stack_max(registers, 32) * plan.threads);
  if (element.single())  // each of a multiprocessor's quarters has a quarter of them
    by_registers = StackDevice::registers / 4 / (32 * stack_max(registers, 32)) * 4 * 32 / plan.threads;
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
  const StackElement element{element_bytes, complex};
  StackPlan plan{};
  plan.warps_m = plan.warps_n = 1;
  plan.parts = 2;
  const int tiles_m = stack_ceil(m, 8), tiles_n = stack_ceil(n, 8);
  if (tiles_m * tiles_n == 1 || (tiles_m * tiles_n <= 4 && (m + n) * k <= 200)) {
    // A warp that takes a whole run spends fewer instructions on it than two that add their sums.
    const bool one_tile = tiles_m * tiles_n == 1;
    plan.parts = one_tile ? 1 : 2;
    plan.products =
        one_tile ? stack_min(stack_max(1, (element.single() ? 30 : 40) / k), 32) : stack_max(1, 20 / k);
    if (one_tile && element.single() && k <= 16) {
      const int each = stack_max(1, (complex ? 8 : 12) / k);
      plan.products = 4 * stack_min(each, 6);
    }
    return complete_stack_plan(plan, element, m, n, k);
  }
  plan.staged = true;
  const int max_tiles = element.single() ? (complex ? 9 : 16) : (complex ? 8 : 16),
            tiles_limit = complex            ? 16
                          : element.single() ? 20
                                             : 25;
  for (int tiles = tiles_m * tiles_n, warps = 1; (tiles > max_tiles && warps < 4) || tiles > tiles_limit;
       warps *= 2) {
    (stack_ceil(tiles_m, plan.warps_m) >= stack_ceil(tiles_n, plan.warps_n) ? plan.warps_m : plan.warps_n) *=
        2;
    tiles = stack_ceil(tiles_m, plan.warps_m) * stack_ceil(tiles_n, plan.warps_n);
  }
  const int warps = plan.warps_m * plan.warps_n;

  constexpr int kilobyte = 1024, max_in_flight = 90 * kilobyte;
  const int max_bytes = stack_min(10 + 3 * warps, 22) * kilobyte;
  plan.slice = k;
  for (int slices = 2; plan.slice > 4 && stack_buffer_bytes(element, m, n, plan.slice) > max_bytes; ++slices)
    plan.slice = stack_ceil(stack_ceil(k, slices), 4) * 4;

  const int buffers = stack_max(1, max_in_flight / (stack_buffer_bytes(element, m, n, plan.slice)));
  plan.parts = warps >= 8                                     ? 1
               : buffers >= 16 && warps <= 2                  ? 4
               : buffers >= 6 && plan.slice < k && warps <= 2 ? 3
                                                              : 2;
  plan.stages = 2;
  plan.blocks_per_multiprocessor = stack_max(1, buffers / plan.parts);
  plan = complete_stack_plan(plan, element, m, n, k);
  plan.stages = 1 + stack_max(1, stack_min(3, buffers / (plan.parts * plan.blocks_per_multiprocessor)));
  return complete_stack_plan(plan, element, m, n, k);
}

}  // namespace tessera::detail

#undef TESSERA_STACK_PLAN
