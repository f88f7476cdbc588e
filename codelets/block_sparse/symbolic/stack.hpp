// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/codelets/linalg/stack_entry.hpp>
#include <tessera/types.hpp>

/// A stack: the products of blocks that one panel of A and one panel of B contribute to one panel of C,
/// listed by shape and by block of C. Its data is an array of StackEntry, one for each product, followed by
/// an array of StackRun, one for each block of C and shape. The shapes are host metadata (an array of
/// StackClass), since a kernel launch depends on them.
///
/// Offsets are elements of the panels' data; panels have fewer than 2^31 elements. Within a class no two runs
/// have the same block of C, so that runs may be computed in any order; the products of a run are in
/// ascending order of the inner index.
namespace tessera::detail {

/// The products C (m x n) += A (m x k) B (k x n) of one shape; runs and entries are consecutive.
struct StackClass {
  std::int32_t m, n, k;
  std::int32_t first_run, runs;
  std::int32_t first_entry, products;
  std::int32_t rows = 0;  ///< of blocks in the panel of C that may have runs; 0: not known
};

inline std::size_t stack_bytes(Index runs, Index products) noexcept {
  return static_cast<std::size_t>(products) * sizeof(StackEntry) +
         static_cast<std::size_t>(runs) * sizeof(StackRun);
}

/// Products and runs of all classes.
inline Index stack_products(std::span<const StackClass> classes) noexcept {
  return classes.empty() ? 0 : Index(classes.back().first_entry) + classes.back().products;
}
inline Index stack_runs(std::span<const StackClass> classes) noexcept {
  return classes.empty() ? 0 : Index(classes.back().first_run) + classes.back().runs;
}

}  // namespace tessera::detail
