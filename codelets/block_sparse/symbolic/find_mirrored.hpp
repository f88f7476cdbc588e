// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_blocks.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that find the mirror images of the blocks of a matrix: with the blocks themselves both halves of a half-stored one, or
/// alone the transposed of one without symmetry.
namespace tessera::detail {

/// Counts these blocks, panel by panel and row by row.
/// | operand    | mode  | shape                                     | what                                           |
/// |------------|-------|-------------------------------------------|------------------------------------------------|
/// | pattern    | read  | packed pattern                            | the matrix'; its rows and columns have the same panels |
/// | panels     | read  | numbers                                   | the panels that are looked at                  |
/// | totals     | write | ChosenLayout::size 64-bit numbers a panel | sums for each panel                            |
/// | row_counts | write | of.most_rows x 2 numbers a panel          | blocks and elements of each row                |
/// Nothing belongs to ChosenLayout::counted.
struct FindMirrored {
  static constexpr const char* name = "find_mirrored";
  Read<Array<std::int32_t>> pattern, panels;
  Write<Array<std::int64_t>> totals;
  Write<Array<std::int32_t>> row_counts;
  PanelsOfC of;
  bool stored;  ///< the blocks themselves, too
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

/// The packed pattern of these blocks; panels that are not looked at get none.
/// | operand         | mode       | shape                    | what                                    |
/// |-----------------|------------|--------------------------|-----------------------------------------|
/// | pattern, panels | read       | as above                 | as above                                |
/// | totals          | read       | as above                 | from find_mirrored                      |
/// | row_counts      | read-write | as above                 | from find_mirrored; sums over rows then |
/// | result          | write      | the words that they need | the pattern                             |
struct WriteMirrored {
  static constexpr const char* name = "write_mirrored";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<std::int64_t>> totals;
  ReadWrite<Array<std::int32_t>> row_counts;
  Write<Array<std::int32_t>> result;
  PanelsOfC of;
  bool stored;  ///< the blocks themselves, too
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

}  // namespace tessera::detail
