// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/sparse/checked_entries.hpp>
#include <tessera/algorithms/sparse/csb_partition.hpp>
#include <tessera/algorithms/sparse/work_progress.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>

namespace tessera::detail {

/// What a piece holds: entries of a pair of segments, row >= column; or the diagonal tiles of a segment.
struct CsbPieceContents {
  Index row = 0, column = 0;  ///< segments
  int domain = 0;             ///< where GPUs multiply rows only its rank counts (CsbProducts)
  bool diagonal_tiles = false;
  CsbPieceShape shape;
};

/// Writes the head of a piece, from its shape.
template <class V>
void write_csb_head(const CsbPieceShape& shape, std::byte* memory);

/// Makes the pieces of one rank, in parallel, from two passes over its rows: the first counts the entries of
/// every cell and so gives the sizes of all; the second places them. Nothing but the pieces grows with the
/// entries.
template <class V>
class CsbPieceBuilder {
 public:
  CsbPieceBuilder(const Runtime& runtime, const SymmetricRows& rows, const CsbPartition& partition,
                  Index piece_bytes, WorkProgress& progress);

  /// The first pass. @throws InvalidArgument for bad entries
  void count();
  /// What count found, in the order of the pieces.
  const std::vector<CsbPieceContents>& pieces() const noexcept { return contents_; }
  /// The second pass: memory[p] takes csb_piece_sizes(...).total bytes of piece p.
  /// @throws InvalidArgument for entries given twice, and rows that give others than before
  void place(const std::vector<std::byte*>& memory);

 private:
  /// The entries of a band of rows in one cell: of a band of columns, or of a diagonal tile.
  struct BandCell {
    Index cell;   ///< number of the band of columns or of the tile
    Index count;  ///< to be placed
    Index piece = 0;
    Index first = 0;  ///< entry of the piece; the next one that is placed
  };
  struct Band {
    std::vector<BandCell> pairs, diagonal;  ///< ascending
  };
  /// A thread's own.
  struct Space {
    std::vector<EntryOf<V>> given, entries, sorted;
    std::vector<std::uint32_t> slot;    ///< of each entry
    std::vector<std::uint32_t> by_row;  ///< numbers of entries
    std::vector<Index> of_band;         ///< counts, or slots, of the bands of columns
    std::vector<Index> next, touched;   ///< of each slot; bands of columns
  };

  Index bands() const noexcept { return static_cast<Index>(partition_.bands.size()) - 1; }
  Index band_begin(Index band) const noexcept { return partition_.bands[static_cast<std::size_t>(band)]; }
  Index tile_begin(Index tile) const noexcept { return partition_.tiles[static_cast<std::size_t>(tile)]; }
  bool holds(int domain) const noexcept { return partition_.rank_of(domain) == runtime_.rank(); }
  int domain_of(Index row_segment, Index column_segment) const noexcept;
  Index band_of(Index column) const noexcept;
  std::vector<std::pair<Index, Index>> column_ranges(Index segment, Index tile, Index end_row) const;
  template <class Visit, class End>
  void for_chunks(Index band, Space& space, const Visit& visit, const End& end) const;
  void count_band(Index band, Space& space);
  void place_band(Index band, Space& space, const std::vector<CsbPieceView<V>>& views);
  void sort_by_slot_and_row(Index first_row, Index tile, Index band, Space& space) const;
  void place_chunk(Index first_row, Index tile, Index band, Space& space,
                   const std::vector<CsbPieceView<V>>& views);
  void lay_out();
  void lay_out_diagonal(Index segment);
  void lay_out_pair(Index row, Index column);
  void add_cells(CsbCell cell, Index count);
  void open_piece(Index row, Index column, int domain, bool diagonal_tiles);

  const Runtime& runtime_;
  const SymmetricRows& rows_;
  const CsbPartition& partition_;
  Index piece_bytes_;
  WorkProgress& progress_;  ///< of the rows of both passes
  std::vector<Band> band_;
  std::vector<std::uint32_t> band_of_columns_;  ///< where every 256th column is
  std::vector<CsbPieceContents> contents_;
  std::vector<std::vector<CsbCell>> cells_;  ///< of each piece
};

}  // namespace tessera::detail
