// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/symbolic/find_products.hpp>
#include <tessera/runtime/task.hpp>

/// The tasks that find which blocks of a matrix a filter keeps: those with a Frobenius norm of at least eps,
/// or of NaN. They work like find_products and write_product_pattern.
namespace tessera::detail {

/// Panels that one task looks at.
inline constexpr int max_kept_panels = 64;

/// The numbers of a panel: those of TotalsLayout up to the identity; then the blocks that are left out though
/// they are not zero.
struct KeptLayout {
  static constexpr std::int32_t identity = TotalsLayout::identity, not_zero = 4, size = 5;
};

/// What both tasks take beside their operands: the part [first, first + count) of the panels that are looked
/// at.
struct KeptPanels {
  std::int32_t first, count;
  PanelsOfC all;
  double eps;
};

/// Counts the blocks that are kept, panel by panel and row by row.
/// | operand    | mode         | shape                                     | what                                 |
/// |------------|--------------|-------------------------------------------|--------------------------------------|
/// | pattern    | read         | packed pattern                            | the matrix'                          |
/// | panels     | read         | numbers                                   | the panels that are looked at        |
/// | norms      | read         | a number for each block of a panel        | squares; of panels[first ...] in turn |
/// | totals     | write or add | KeptLayout::size 64-bit numbers a panel   | of all panels that are looked at     |
/// | row_counts | write or add | all.most_rows x 2 numbers a panel         | blocks and elements of each row      |
struct FindKept {
  static constexpr const char* name = "find_kept";
  Read<Array<std::int32_t>> pattern, panels;
  WriteOrAdd<Array<std::int64_t>> totals;
  WriteOrAdd<Array<std::int32_t>> row_counts;
  ReadAll<Array<double>> norms;
  KeptPanels part;
  static double seconds(WorkerKind kind, double bytes) noexcept {
    return kind == WorkerKind::gpu ? 1e-5 + bytes / 1e12 : 5e-6 + bytes / 1e9;
  }
};

/// The packed pattern of the blocks that are kept; panels that are not looked at get none.
/// | operand    | mode         | shape                    | what                               |
/// |------------|--------------|--------------------------|------------------------------------|
/// | pattern, panels, norms | read | as above             | as above                           |
/// | totals     | read         | as above                 | complete                           |
/// | row_counts | read-write   | as above                 | complete; sums over rows then      |
/// | result     | write or add | the words that they need | the pattern                        |
struct WriteKept {
  static constexpr const char* name = "write_kept";
  Read<Array<std::int32_t>> pattern, panels;
  Read<Array<std::int64_t>> totals;
  ReadWrite<Array<std::int32_t>> row_counts;
  WriteOrAdd<Array<std::int32_t>> result;
  ReadAll<Array<double>> norms;
  KeptPanels part;
  static double seconds(WorkerKind kind, double bytes) noexcept {
    return kind == WorkerKind::gpu ? 1e-5 + bytes / 1e12 : 5e-6 + bytes / 1e9;
  }
};

}  // namespace tessera::detail
