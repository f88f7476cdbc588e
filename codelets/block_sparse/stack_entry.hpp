// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

/// The lists of a stack (stack.hpp), as kernels of any device read them.
namespace tessera {

/// The products for one block of C: entries [first, first + count).
struct StackRun {
  std::int32_t c, first, count;
};

/// One product: where its blocks of A and B begin.
struct StackEntry {
  std::int32_t a, b;
};

}  // namespace tessera
