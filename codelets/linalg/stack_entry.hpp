// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The two lists of a stack (stack.hpp) as the host and device code both read them. No headers: also compiled
/// at run time, for the shapes that occur.
namespace tessera {

/// The products for one block of C: entries [first, first + count). `c` is where the block begins.
struct StackRun {
  int c, first, count;
};

/// One product: where its blocks of A and B begin.
struct StackEntry {
  int a, b;
};

static_assert(sizeof(StackRun) == 12 && sizeof(StackEntry) == 8);

}  // namespace tessera
