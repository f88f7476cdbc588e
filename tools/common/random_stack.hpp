// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/codelets/block_sparse/symbolic/stack.hpp>

/// The stack that DBCSR's kernel benchmark has.
namespace tessera::program {
using namespace detail;

/// Products of one shape: blocks of A (m x k) and B (k x n) drawn at random of `random_stack_blocks` each, 5 to
/// 27 consecutive products, 16 on average, for each block of C.
struct RandomStack {
  StackClass shape{};
  std::vector<StackEntry> entries;
  std::vector<StackRun> runs;
};

inline constexpr Index random_stack_blocks = 10000;
/// Products of DBCSR's own, and of one that is large enough for a GPU to be busy.
inline constexpr Index small_stack_products = 16005, large_stack_products = 300000;

RandomStack random_stack(Index m, Index n, Index k, Index products, std::uint64_t seed);

}  // namespace tessera::program
