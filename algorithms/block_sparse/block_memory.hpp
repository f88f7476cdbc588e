// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/block_pattern.hpp>

/// What block-sparse matrices take of the host's memory.
namespace tessera::detail {

/// How much a pattern is of everything. As floating-point numbers: sizes to come may be beyond all integers.
struct PatternSize {
  double block_rows = 0, block_cols = 0;
  double row_panels = 0, col_panels = 0;
  double blocks = 0;  ///< stored
  double ranks = 1;   ///< to which the panels are dealt
};

/// Bytes, on one rank, of the layout, of the pattern, of which a rank knows the blocks of its panels, and of the
/// pieces.
double pattern_memory(const PatternSize& size) noexcept;

/// Bytes of the values that this rank keeps.
double values_memory(const BlockPattern& pattern, std::size_t element_bytes);

/// Bytes that the products of a pattern C take on this rank beside the operands: C's values, and copies of
/// other ranks' panels of the operands, of three of the `steps` that they go in at most.
double product_memory(const BlockPattern& a, const BlockPattern& b, const BlockPattern& c, bool new_c,
                      Index steps, std::size_t element_bytes);

}  // namespace tessera::detail
