// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The entries of the two lists of a stack (stack.hpp), for host and device code. This file includes no
/// headers, because it is also compiled at run time.
namespace tessera::detail {

/// The products for one block of C, which begins at `c`: entries [first, first + count).
struct StackRun {
  int c, first, count;
};

/// One product: its blocks of A and B begin at `a` and `b`.
struct StackEntry {
  int a, b;
};

static_assert(sizeof(StackRun) == 12 && sizeof(StackEntry) == 8);

}  // namespace tessera::detail
