// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/chosen_blocks.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that find which blocks of a matrix a filter keeps: those with a Frobenius norm of at least eps,
/// or of NaN.
namespace tessera::detail {

/// Counts the blocks that are kept, panel by panel and row by row.
/// | operand    | mode  | shape                                     | what                            |
/// |------------|-------|-------------------------------------------|---------------------------------|
/// | pattern    | read  | packed pattern                            | the matrix'                     |
/// | panels     | read  | numbers                                   | the panels that are looked at   |
/// | norms      | read  | a number for each block of the pattern    | squares                         |
/// | totals     | write | ChosenLayout::size 64-bit numbers a panel | sums for each panel             |
/// | row_counts | write | of.most_rows x 2 numbers a panel          | blocks and elements of each row |
/// ChosenLayout::counted are the blocks that are left out though they are not zero.
struct FindKept {
  static constexpr const char* name = "find_kept";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<double>> norms;
  Write<Array<std::int64_t>> totals;
  Write<Array<std::int32_t>> row_counts;
  PanelsOfC of;
  double eps;
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

/// The packed pattern of the blocks that are kept; panels that are not looked at get none.
/// | operand                | mode       | shape                    | what                                |
/// |------------------------|------------|--------------------------|-------------------------------------|
/// | pattern, panels, norms | read       | as above                 | as above                            |
/// | totals                 | read       | as above                 | from find_kept                      |
/// | row_counts             | read-write | as above                 | from find_kept; sums over rows then |
/// | result                 | write      | the words that they need | the pattern                         |
struct WriteKept {
  static constexpr const char* name = "write_kept";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<double>> norms;
  Read<Array<std::int64_t>> totals;
  ReadWrite<Array<std::int32_t>> row_counts;
  Write<Array<std::int32_t>> result;
  PanelsOfC of;
  double eps;
  static double seconds(WorkerKind kind, double bytes) noexcept { return choice_seconds(kind, bytes); }
};

}  // namespace tessera::detail
