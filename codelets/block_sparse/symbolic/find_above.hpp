// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_blocks.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that make the pattern of the blocks of a dense matrix that are flagged (FlagBlocks, whole_panels.hpp).
namespace tessera::detail {

/// Counts the blocks that are flagged, panel by panel and row by row.
/// | operand    | mode  | shape                                     | what                                        |
/// |------------|-------|-------------------------------------------|---------------------------------------------|
/// | pattern    | read  | packed pattern                            | any of the same rows, columns and panels    |
/// | panels     | read  | numbers                                   | the panels that are looked at               |
/// | flags      | read  | a byte for each row and column of blocks  | not 0: the block is there; see FlagBlocks   |
/// | totals     | write | ChosenLayout::size 64-bit numbers a panel | sums for each panel                         |
/// | row_counts | write | of.most_rows x 2 numbers a panel          | blocks and elements of each row             |
struct FindAbove {
  static constexpr const char* name = "find_above";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<char>> flags;
  Write<Array<std::int64_t>> totals;
  Write<Array<std::int32_t>> row_counts;
  PanelsOfC of;
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

/// The packed pattern of these blocks; panels that are not looked at get none.
/// | operand                | mode       | shape                    | what                                 |
/// |------------------------|------------|--------------------------|--------------------------------------|
/// | pattern, panels, flags | read       | as above                 | as above                             |
/// | totals                 | read       | as above                 | from find_above                      |
/// | row_counts             | read-write | as above                 | from find_above; sums over rows then |
/// | result                 | write      | the words that they need | the pattern                          |
struct WriteAbove {
  static constexpr const char* name = "write_above";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<char>> flags;
  Read<Array<std::int64_t>> totals;
  ReadWrite<Array<std::int32_t>> row_counts;
  Write<Array<std::int32_t>> result;
  PanelsOfC of;
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

}  // namespace tessera::detail
