// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/types.hpp>

namespace tessera {
class SymmetricRows;
}

/// Half of a symmetric matrix in compressed sparse blocks, and the products of P. Maris, C. Yang, D. Oryspayev,
/// B. Cook, J. Comput. Sci. 59 (2022) 101554, Sec. 3 and 4, as they stand there: baselines for ours.
namespace tessera::program {

/// A block that has entries.
struct HalfBlock {
  std::int64_t first_row, first_column;  ///< of the matrix
  std::int64_t first_entry, entries;
};

/// The lower triangle. Entries of a block are sorted by rows; blocks by rows of blocks, then by columns.
template <class V>
struct HalfBlocks {
  std::vector<HalfBlock> blocks;
  std::vector<std::int64_t> row_begins;     ///< first block of each row of blocks and, last, their number
  std::vector<std::int64_t> column_begins;  ///< the same of by_column
  std::vector<std::int64_t> by_column;      ///< the blocks' numbers, column of blocks after column of blocks
  std::vector<V> values;
  std::vector<std::uint16_t> rows, columns;  ///< of entries, in their block

  std::int64_t block_rows() const noexcept { return static_cast<std::int64_t>(row_begins.size()) - 1; }
  /// Of values, coordinates and blocks, once.
  double bytes() const noexcept {
    return static_cast<double>(values.size() * (sizeof(V) + 4) + blocks.size() * sizeof(HalfBlock));
  }
};

/// `begins`: first row of each row of blocks and, last, the order; at most 65536 rows each.
template <class V>
HalfBlocks<V> half_blocks(const SymmetricRows& rows, const std::vector<Index>& begins, int threads);

/// Stored entries of each block that has some.
std::vector<Index> block_sizes(const SymmetricRows& rows, const std::vector<Index>& begins, int threads);

/// Which of the paper's products. naive: one thread (on a GPU: a thread block, whose threads have a vector each)
/// multiplies a row of blocks, and then a column of blocks by the transposes (Fig. 3 and 5). atomic: one multiplies a
/// block, and adds to Y by atomic updates (Fig. 6). cached: the same, with the entries of a block read in parts of 256
/// to shared memory (Fig. 7); on GPUs alone.
enum class HalfBlocksMethod { naive, atomic, cached };

/// Y := A X with `columns` vectors, row-major, on `threads` threads.
template <class V, class T>
void multiply_half_blocks(const HalfBlocks<V>& a, HalfBlocksMethod method, int columns,
                          const std::vector<T>& x, std::vector<T>& y, int threads);

}  // namespace tessera::program
