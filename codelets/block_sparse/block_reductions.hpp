// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/block_sparse/panel_block.hpp>
#include <tessera/runtime/sequence.hpp>

/// Codelets that reduce one panel to a few numbers, in double, in the order of storage. With a `symmetry` the
/// mirror images of the blocks off the diagonal count, too. They run at the speed of memory, whose cost
/// predicts their time; flops are not counted. On GPUs, which have reduce_panel and dot_panels, sums are
/// formed in another order, the same for the same panel, and there is a scratch buffer of reduction_bytes.
namespace tessera {

/// What becomes of the elements a_ij of a panel: two numbers.
enum class PanelSum {
  diagonal,     ///< sum of a_ii: real and imaginary part
  squares,      ///< sum of |a_ij|^2; 0
  largest,      ///< the largest |a_ij|, NaN if one is NaN; 0
  by_position,  ///< sum of (Re a_ij + Im a_ij / 2) position_weight(i, j); 0
};

/// Between 1/2 and 3/2, different for all practical (i, j): 1/2 + the fractional part of
/// (i + 1) (sqrt(5) - 1) / 2 + (j + 1) (sqrt(2) - 1).
inline double position_weight(Index i, Index j) noexcept {
  const double x = double(i + 1) * 0.61803398874989484820 + double(j + 1) * 0.41421356237309504880;
  return 0.5 + (x - double(static_cast<Index>(x)));
}

/// Codelet reduce_panel: the two numbers of a PanelSum.
/// Buffers: blocks (read; array of PanelBlock), values (read; array of T), result (write; two doubles).
template <class T>
void insert_reduce_panel(Sequence& sequence, int priority, PanelSum sum, Symmetry symmetry,
                         const Data& blocks, const Data& values, const Data& result);

/// Elements that two panels have in common: where they begin in either, how many, whether they are of a
/// diagonal block.
struct DotRun {
  Index first, second, count;
  std::int64_t on_diagonal;
};

/// Codelet dot_panels: the sum of conj(x_i) y_i over the runs, and over the mirror images of runs that are
/// not on the diagonal if both matrices have a symmetry.
/// Buffers: runs (read; array of DotRun), x (read; array of T), y (read; array of T; absent if it is x),
/// result (write; two doubles: real and imaginary part).
template <class T>
void insert_dot_panels(Sequence& sequence, int priority, Symmetry symmetry_x, Symmetry symmetry_y,
                       const Data& runs, const Data& x, const Data& y, const Data& result);

/// Where the rows and columns of a block lie among those of its panel, in elements.
struct BlockLines {
  std::int32_t row, col;
};

/// What is summed along the lines of a panel.
enum class LineSum { rows_of_moduli, columns_of_squares };

/// Codelet sum_lines: rows_of_moduli: of each row, the sum of |a_ij|; columns_of_squares: of each column, the
/// sum of |a_ij|^2. With a symmetry, mirror images of blocks off the diagonal give sums for the columns
/// (rows) of the panel, too. Buffers: blocks (read; array of PanelBlock), lines (read; array of BlockLines),
/// values (read; array of T), sums (write; double; as many as the panel has rows (columns), then, with a
/// symmetry, as it has columns (rows)). Footprint: also the sum and whether there is a symmetry.
template <class T>
void insert_sum_lines(Sequence& sequence, int priority, LineSum sum, Symmetry symmetry, Index rows,
                      Index cols, const Data& blocks, const Data& lines, const Data& values,
                      const Data& sums);

}  // namespace tessera
