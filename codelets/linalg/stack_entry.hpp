// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The entries of the two lists of a stack (stack.hpp), for host and device code. This file includes no
/// headers, because it is also compiled at run time.
#ifdef __CUDACC__
#define TESSERA_STACK_ENTRY __host__ __device__ constexpr
#else
#define TESSERA_STACK_ENTRY constexpr
#endif

namespace tessera::detail {

/// The products for one block of C, which begins at `c` and is number `block` of its panel: entries [first,
/// first + count).
struct StackRun {
  int c, first, count;
  int block = 0;
};

/// Pairs of panels that one stack can refer to, and bits of a place in a panel.
inline constexpr int max_stack_panels = 64, stack_offset_bits = 29;
/// Elements that a panel must stay below, for its blocks to be in a stack.
inline constexpr long long max_stack_elements = 1LL << stack_offset_bits;

/// One product: its blocks of A and B begin at `a` and `b` in pair number `panel` of the stack's panels.
struct StackEntry {
  unsigned long long a : stack_offset_bits, b : stack_offset_bits, panel : 6;
  StackEntry() = default;
  TESSERA_STACK_ENTRY StackEntry(int at_a, int at_b, int pair = 0)
      : a(static_cast<unsigned>(at_a)), b(static_cast<unsigned>(at_b)), panel(static_cast<unsigned>(pair)) {}
};

/// The values of the pairs of panels that a stack refers to.
template <class T>
struct StackFactors {
  const T *a[max_stack_panels], *b[max_stack_panels];
};

static_assert(sizeof(StackRun) == 16 && sizeof(StackEntry) == 8);

}  // namespace tessera::detail

#undef TESSERA_STACK_ENTRY
