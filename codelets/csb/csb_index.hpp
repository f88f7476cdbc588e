// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/csb/csb_layout.hpp>
#include <tessera/codelets/host_device.hpp>

/// The order in which a GPU goes through a piece of a CSB matrix: built once on the host, known to CPU and
/// CUDA code.
///
/// The rows of Y_I and, for a piece off the diagonal, those of Y_J are cut into strips of csb_strip_rows; a
/// thread block owns a strip, and the sums of its rows stay with it. The entries that add to a strip come in
/// chunks, each from one block of the piece, sorted by row of Y: in the order of the piece for Y_I += A_IJ
/// X_J (side 0), in the order of columns for Y_J += A_IJ^T X_I (side 1; for that order the index holds
/// positions, or a second copy of the values, and the rows). A chunk's entries of one row of Y are a run; a
/// chunk has no row twice, so that its runs are independent, and they are sorted by length, so that
/// neighbours in a warp take equally long. In a piece on the diagonal a strip has chunks of both sides, and
/// entries with row = column are in side 0 alone.
namespace tessera {

inline constexpr std::int64_t csb_strip_rows = 512;
inline constexpr std::int64_t csb_chunk_entries = 2048;
/// Runs from this length on are the work of a warp.
inline constexpr std::int64_t csb_long_run = 64;

struct CsbStrip {
  std::uint32_t first_row;  ///< from the beginning of Y_I (side 0) or Y_J (side 1)
  std::uint16_t rows, side;
  std::uint32_t first_chunk, chunks;
};

struct CsbChunk {
  std::int64_t
      first;  ///< its first entry: of the piece (side 0), of the ordered arrays of the index (side 1)
  std::int64_t block;  ///< first entry of its block: what positions count from
  std::int64_t first_run;
  std::uint32_t gather;  ///< the row of X that coordinate 0 means
  std::uint16_t entries, runs, long_runs, side;
};
static_assert(sizeof(CsbChunk) == 40);

/// A run in 32 bits: its first entry in the chunk, its length and its row in the strip.
constexpr std::uint32_t csb_run(std::int64_t start, std::int64_t length, std::int64_t row) noexcept {
  return static_cast<std::uint32_t>(start | (length - 1) << 11 | row << 22);
}
TESSERA_HOST_DEVICE constexpr int csb_run_start(std::uint32_t run) noexcept {
  return static_cast<int>(run & 2047);
}
TESSERA_HOST_DEVICE constexpr int csb_run_length(std::uint32_t run) noexcept {
  return static_cast<int>(run >> 11 & 2047) + 1;
}
TESSERA_HOST_DEVICE constexpr int csb_run_row(std::uint32_t run) noexcept {
  return static_cast<int>(run >> 22);
}

/// The head of an index; its parts follow in the same memory, at multiples of 64 bytes from the head. Side
/// 1's arrays have a place for each entry of the piece: those of a block, in the order of its columns, from
/// its first entry on.
struct CsbIndexHeader {
  std::int64_t strip_count, chunk_count, run_count;
  std::int64_t strips_offset;  ///< CsbStrip, those with most entries first
  std::int64_t chunks_offset;  ///< CsbChunk, those of a strip together, in the order of their sum
  std::int64_t runs_offset;    ///< std::uint32_t
  std::int64_t rows_offset;    ///< side 1: std::uint16_t, local row of an entry in its block
  std::int64_t
      positions_offset;  ///< side 1: std::uint16_t, position of an entry in its block; 0: there are values
  std::int64_t values_offset;  ///< side 1: V; 0: there are positions
  std::int64_t total;          ///< bytes
};

constexpr std::int64_t csb_strips(std::int64_t rows) noexcept {
  return (rows + csb_strip_rows - 1) / csb_strip_rows;
}

/// What side 1 finds its values by.
enum class CsbOrder {
  positions,  ///< 4 bytes an entry: the values are fetched from all over the block
  values,     ///< 2 + sizeof(V) bytes an entry: the values are stored twice, and side 1 is as fast as side 0
};

/// Bytes of the index of a piece with so many rows and columns. Goes through the entries. (For a piece on the
/// diagonal rows = columns.)
template <class V>
std::int64_t csb_index_bytes(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns,
                             CsbOrder order);

/// Builds it in csb_index_bytes(...) bytes at a multiple of 8. Pieces are independent: several may be built
/// at once.
template <class V>
void build_csb_index(const CsbPieceView<V>& piece, std::int64_t rows, std::int64_t columns, CsbOrder order,
                     void* index);

}  // namespace tessera
