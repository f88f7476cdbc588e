// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/values/panel_lines.hpp>
#include <tessera/codelets/common/memory_cost.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Tasks that reduce one panel to numbers, in double, in the order of storage. With a `symmetry` the
/// mirror images of the blocks off the diagonal count, too. They run at the speed of memory, whose cost
/// predicts their time; flops are not counted. On GPUs sums are formed in another order, the same for the same
/// panel.
namespace tessera::detail {

/// Thread blocks on a GPU; each has a partial result.
inline constexpr int reduction_parts = 528;
inline constexpr std::size_t reduction_bytes = sizeof(double) * reduction_parts;

/// Which number the elements a_ij of a panel are reduced to.
enum class PanelSum {
  largest,      ///< the largest |a_ij|, NaN if one is NaN
  by_position,  ///< sum of (Re a_ij + Im a_ij / 2) position_weight(i, j)
};

/// Between 1/2 and 3/2, different for all practical (i, j): 1/2 + the fractional part of
/// (i + 1) (sqrt(5) - 1) / 2 + (j + 1) (sqrt(2) - 1).
inline double position_weight(Index i, Index j) noexcept {
  const double x = double(i + 1) * 0.61803398874989484820 + double(j + 1) * 0.41421356237309504880;
  return 0.5 + (x - double(static_cast<Index>(x)));
}

/// The number of a PanelSum.
/// | operand | mode    | shape                                     | what            |
/// |---------|---------|-------------------------------------------|-----------------|
/// | blocks  | read    | array of PanelBlock                       | the panel's     |
/// | values  | read    | array                                     | the panel's     |
/// | result  | write   | a double                                  | the number      |
/// | work    | scratch | array of double, reduction_bytes at least | partial results, on GPUs |
template <class T>
struct ReducePanel {
  static constexpr const char* name = "reduce_panel";
  Read<Array<PanelBlock>> blocks;
  Read<Array<T>> values;
  Write<Array<double>> result;
  GpuScratch<Array<double>> work{};
  PanelSum sum;
  Symmetry symmetry;
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

/// What is summed along the lines of a panel.
enum class LineSum { rows_of_moduli, columns_of_squares };

/// rows_of_moduli: of each row, the sum of |a_ij|; columns_of_squares: of each column, the sum of |a_ij|^2.
/// With a symmetry, mirror images of blocks off the diagonal give sums for the columns (rows) of the panel,
/// too.
/// | operand | mode  | shape               | what                                                       |
/// |---------|-------|---------------------|------------------------------------------------------------|
/// | blocks  | read  | array of PanelBlock | the panel's                                                |
/// | lines   | read  | array of BlockLines | one for each block                                         |
/// | order   | read  | as in PanelOrder    | the panel's; only where there are GPUs                     |
/// | values  | read  | array               | the panel's                                                |
/// | sums    | write | array of double     | of its rows (columns); with a symmetry columns (rows), too |
template <class T>
struct SumLines {
  static constexpr const char* name = "sum_lines";
  Read<Array<PanelBlock>> blocks;
  Read<Array<BlockLines>> lines;
  Read<Array<std::int32_t>> order{};
  Read<Array<T>> values;
  Write<Array<double>> sums;
  LineSum sum;
  Symmetry symmetry;
  Index rows, cols;              ///< of the panel, in elements
  Index block_rows, block_cols;  ///< the same in blocks
  static double seconds(WorkerKind kind, double bytes) noexcept { return memory_seconds(kind, bytes); }
};

}  // namespace tessera::detail
