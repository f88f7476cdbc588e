// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/saved_matrix.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

bool of_one_pair(const SavedPiece& a, const SavedPiece& b) {
  return a.row == b.row && a.column == b.column && a.diagonal_tiles == b.diagonal_tiles;
}

std::vector<Index> begins_of(const RowSegments& segments) {
  std::vector<Index> begins;
  for (Index s = 0; s < segments.count(); ++s) begins.push_back(segments.begin(s));
  begins.push_back(segments.rows());
  return begins;
}

}  // namespace

/// A builder puts a pair of segments into as few pieces as their size allows: so it would make the same ones where
/// the whole pair is small enough, or where it has values and pieces of the same sizes.
template <class V>
bool SavedPieces<V>::fit(const SavedMatrix& file, const CsbPartition& partition, Index piece_bytes) {
  const SavedTables& t = file.tables();
  if (t.cut_tiles != partition.tiles || t.cut_bands != partition.bands ||
      t.cut_segments != begins_of(*partition.segments))
    return false;
  if (file.hermitian() == is_complex<V> && file.value_bytes() == static_cast<int>(sizeof(V)) &&
      file.piece_bytes() == piece_bytes)
    return true;
  const std::vector<SavedPiece>& pieces = file.pieces();
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].diagonal_tiles) continue;  // always one
    const auto cells = static_cast<std::int64_t>(pieces[p].end_cell - pieces[p].first_cell);
    const bool several = p + 1 < pieces.size() && of_one_pair(pieces[p], pieces[p + 1]);
    if (several || csb_piece_sizes(cells, pieces[p].entries, sizeof(V)).total > piece_bytes) return false;
  }
  return true;
}

template <class V>
SavedPieces<V>::SavedPieces(const Runtime& runtime, const SavedMatrix& file, const CsbPartition& partition,
                            WorkProgress& progress)
    : runtime_(runtime), file_(file), partition_(partition), progress_(progress) {
  Index entries = 0;
  for (const SavedPiece& piece : file.pieces()) {
    const int domain = piece.diagonal_tiles ? partition.home[static_cast<std::size_t>(piece.row)]
                                            : partition.domain_of(partition.group_of(piece.row),
                                                                  partition.group_of(piece.column));
    if (partition.rank_of(domain) != runtime.rank()) continue;
    contents_.push_back({piece.row,
                         piece.column,
                         domain,
                         piece.diagonal_tiles,
                         {static_cast<std::int64_t>(piece.end_cell - piece.first_cell), piece.entries,
                          piece.row == piece.column}});
    mine_.push_back(&piece);
    entries += piece.entries;
  }
  progress.set_whole(std::max<Index>(entries, 1));
}

template <class V>
void SavedPieces<V>::write_head(std::size_t number, std::byte* memory) const {
  const SavedPiece& piece = *mine_[number];
  const CsbPieceShape& shape = contents_[number].shape;
  write_csb_head<V>(shape, memory);
  const Index row = partition_.segments->begin(piece.row), column = partition_.segments->begin(piece.column);
  std::vector<CsbCell> cells;
  for (std::size_t c = piece.first_cell; c < piece.end_cell; ++c) {
    const SavedCell& cell = file_.cells()[c];
    cells.push_back({cell.first_entry - file_.cells()[piece.first_cell].first_entry,
                     static_cast<std::uint32_t>(cell.first_row - row),
                     static_cast<std::uint32_t>(cell.first_column - column), cell.entries, cell.last_row,
                     cell.last_column});
  }
  std::memcpy(memory + csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V)).cells_offset,
              cells.data(), cells.size() * sizeof(CsbCell));
}

/// Some cells of a piece. Stored: the type of the values in the file.
template <class V>
template <class Stored>
void SavedPieces<V>::read_part(const Part& part, std::byte* memory) const {
  const CsbPieceShape& shape = contents_[part.piece].shape;
  const auto view = csb_view<V>(memory, shape.cell_count, shape.entry_count, shape.on_diagonal);
  const SavedPiece& piece = *mine_[part.piece];
  const std::vector<SavedCell>& cells = file_.cells();
  const Index begin = cells[part.first_cell].first_entry - cells[piece.first_cell].first_entry;
  auto* const values = const_cast<V*>(view.values) + begin;
  auto* const rows = const_cast<std::uint16_t*>(view.rows) + begin;
  auto* const columns = const_cast<std::uint16_t*>(view.columns) + begin;
  if constexpr (std::is_same_v<V, Stored>) {
    file_.read_cells(piece, part.first_cell, part.end_cell, values, rows, columns);
  } else {
    const SavedCell& last = cells[part.end_cell - 1];
    std::vector<Stored> stored(
        static_cast<std::size_t>(last.first_entry + last.entries - cells[part.first_cell].first_entry));
    file_.read_cells(piece, part.first_cell, part.end_cell, stored.data(), rows, columns);
    for (std::size_t e = 0; e < stored.size(); ++e) {
      values[e] = static_cast<V>(stored[e]);
      if (!finite_value(values[e]))
        file_.fail(fmt::format("has the value {}, too large for float", value_text(stored[e])));
    }
  }
}

/// Where a cell that goes on was read in two parts.
template <class V>
void SavedPieces<V>::check_joints(const std::vector<std::byte*>& memory) const {
  for (std::size_t p = 0; p < mine_.size(); ++p) {
    const CsbPieceShape& shape = contents_[p].shape;
    const auto view = csb_view<V>(memory[p], shape.cell_count, shape.entry_count, shape.on_diagonal);
    for (std::size_t c = mine_[p]->first_cell; c < mine_[p]->end_cell; ++c) {
      if (!file_.cells()[c].continues) continue;
      const std::int64_t at = view.cells[c - mine_[p]->first_cell].first_entry;
      file_.require_continued(c, view.rows[at - 1], view.columns[at - 1], view.rows[at], view.columns[at]);
    }
  }
}

template <class V>
void SavedPieces<V>::place(const std::vector<std::byte*>& memory) {
  constexpr Index entries_of_part = Index(1) << 20;
  const std::vector<SavedCell>& cells = file_.cells();
  std::vector<Part> parts;
  for (std::size_t p = 0; p < mine_.size(); ++p) {
    write_head(p, memory[p]);
    for (std::size_t c = mine_[p]->first_cell; c < mine_[p]->end_cell;) {
      const std::size_t first = c;
      for (Index entries = 0; c < mine_[p]->end_cell && entries < entries_of_part; ++c)
        entries += cells[c].entries;
      parts.push_back({p, first, c});
    }
  }
  parallel_for(host_threads(runtime_), static_cast<Index>(parts.size()), [&](Index i, int thread) {
    const Part& part = parts[static_cast<std::size_t>(i)];
    file_.with_type([&]<class Stored>(Stored) {
      if constexpr (is_complex<V> || !is_complex<Stored>)
        read_part<Stored>(part, memory[part.piece]);
      else
        file_.fail("has complex values");
    });
    const SavedCell& last = cells[part.end_cell - 1];
    progress_.add(last.first_entry + last.entries - cells[part.first_cell].first_entry, thread);
  });
  check_joints(memory);
}

#define TESSERA_INSTANTIATE(V) template class SavedPieces<V>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
