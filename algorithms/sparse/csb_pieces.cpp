// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include <tessera/algorithms/sparse/checked_entries.hpp>
#include <tessera/algorithms/sparse/csb_pieces.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// Rows whose entries are requested at a time.
constexpr Index rows_of_chunk = 512;

InvalidArgument changed() {
  return InvalidArgument("rows", "other entries in the second pass",
                         "the same entries whenever they are asked for");
}

template <class Entry>
bool before(const Entry& a, const Entry& b) noexcept {
  return a.column < b.column;
}
constexpr Index columns_of_lookup = 256;

}  // namespace

template <class V>
void write_csb_head(const CsbPieceShape& shape, std::byte* memory) {
  const CsbPieceSizes sizes = csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V));
  const CsbPieceHeader header{shape.cell_count,    shape.entry_count, sizes.cells_offset,
                              sizes.values_offset, sizes.rows_offset, sizes.columns_offset,
                              sizeof(V),           shape.on_diagonal};
  std::memcpy(memory, &header, sizeof header);
}

template <class V>
CsbPieceBuilder<V>::CsbPieceBuilder(const Runtime& runtime, const SymmetricRows& rows,
                                    const CsbPartition& partition, Index piece_bytes, WorkProgress& progress)
    : runtime_(runtime),
      rows_(rows),
      partition_(partition),
      piece_bytes_(piece_bytes),
      progress_(progress),
      band_(static_cast<std::size_t>(bands())) {
  progress.set_whole(2 * rows.order());
  Index band = 0;
  for (Index column = 0; column < rows.order(); column += columns_of_lookup) {
    while (band_begin(band + 1) <= column) ++band;
    band_of_columns_.push_back(static_cast<std::uint32_t>(band));
  }
}

template <class V>
int CsbPieceBuilder<V>::domain_of(Index row_segment, Index column_segment) const noexcept {
  return partition_.domain_of(partition_.group_of(row_segment), partition_.group_of(column_segment));
}

template <class V>
Index CsbPieceBuilder<V>::band_of(Index column) const noexcept {
  Index band = band_of_columns_[static_cast<std::size_t>(column / columns_of_lookup)];
  while (band_begin(band + 1) <= column) ++band;
  return band;
}

/// Of the columns below end_row those that this rank holds in rows of the tile: of pairs of segments, and the
/// tile's.
template <class V>
std::vector<std::pair<Index, Index>> CsbPieceBuilder<V>::column_ranges(Index segment, Index tile,
                                                                       Index end_row) const {
  const RowSegments& segments = *partition_.segments;
  std::vector<std::pair<Index, Index>> ranges;
  const auto add = [&](Index begin, Index end) {
    if (!ranges.empty() && begin <= ranges.back().second)
      ranges.back().second = std::max(ranges.back().second, end);
    else
      ranges.emplace_back(begin, end);
  };
  for (Index column = 0; column <= segment; ++column)
    if (holds(domain_of(segment, column)))
      add(segments.begin(column), std::min(segments.end(column), end_row));
  if (holds(partition_.home[static_cast<std::size_t>(segment)])) add(tile_begin(tile), end_row);
  return ranges;
}

/// The entries that this rank holds in a band, some rows of one tile at a time: visit(row, column, value, is
/// it in the diagonal tile) for each, end(first row, tile) after each chunk. The rows may have other tiles
/// than the partition, and are asked for some of one of theirs, too.
template <class V>
template <class Visit, class End>
void CsbPieceBuilder<V>::for_chunks(Index band, Space& space, const Visit& visit, const End& end) const {
  const Index segment = partition_.segments->segment_of(band_begin(band));
  const bool holds_tiles = holds(partition_.home[static_cast<std::size_t>(segment)]);
  Index tile = std::upper_bound(partition_.tiles.begin(), partition_.tiles.end(), band_begin(band)) -
               partition_.tiles.begin() - 1;
  const std::span<const Index> own_tiles = rows_.tiles();
  auto own_end = std::upper_bound(own_tiles.begin(), own_tiles.end(), band_begin(band));
  for (Index row = band_begin(band); row < band_begin(band + 1);) {
    if (row == tile_begin(tile + 1)) ++tile;
    if (own_end != own_tiles.end() && row == *own_end) ++own_end;
    Index end_row = std::min({row + rows_of_chunk, tile_begin(tile + 1), band_begin(band + 1)});
    if (own_end != own_tiles.end()) end_row = std::min(end_row, *own_end);
    for (const auto& [begin_column, end_column] : column_ranges(segment, tile, end_row))
      for_checked_entries<V>(rows_, row, end_row, begin_column, end_column, space.given,
                             [&](Index i, Index j, EntryValue<V> value) {
                               const bool in_tile = j >= tile_begin(tile);
                               // A rank may hold the rest of a segment's diagonal, and another one its tiles.
                               if (!in_tile || holds_tiles) visit(i, j, value, in_tile);
                             });
    end(row, tile);
    row = end_row;
  }
}

template <class V>
void CsbPieceBuilder<V>::count() {
  const int threads = host_threads(runtime_);
  std::vector<Space> spaces(static_cast<std::size_t>(threads));
  for (Space& space : spaces) space.of_band.assign(static_cast<std::size_t>(bands()), 0);
  // From the last band, which has most columns.
  parallel_for(threads, bands(), [&](Index i, int thread) {
    const Index band = bands() - 1 - i;
    count_band(band, spaces[static_cast<std::size_t>(thread)]);
    progress_.add(band_begin(band + 1) - band_begin(band), thread);
  });
  progress_.tell();
  lay_out();
}

template <class V>
void CsbPieceBuilder<V>::count_band(Index number, Space& space) {
  Band& band = band_[static_cast<std::size_t>(number)];
  Index in_tile = 0;
  for_chunks(
      number, space,
      [&](Index, Index column, EntryValue<V>, bool of_tile) {
        if (of_tile) {
          ++in_tile;
          return;
        }
        const Index other = band_of(column);
        if (space.of_band[static_cast<std::size_t>(other)]++ == 0) space.touched.push_back(other);
      },
      [&](Index, Index tile) {
        if (in_tile > 0) {
          if (band.diagonal.empty() || band.diagonal.back().cell != tile) band.diagonal.push_back({tile, 0});
          band.diagonal.back().count += in_tile;
        }
        in_tile = 0;
      });
  std::sort(space.touched.begin(), space.touched.end());
  for (const Index other : space.touched)
    band.pairs.push_back({other, std::exchange(space.of_band[static_cast<std::size_t>(other)], 0)});
  space.touched.clear();
}

template <class V>
void CsbPieceBuilder<V>::open_piece(Index row, Index column, int domain, bool diagonal_tiles) {
  contents_.push_back({row, column, domain, diagonal_tiles, {0, 0, row == column}});
  cells_.emplace_back();
}

/// Appends the entries of a cell to the last piece, as several cells where they are many.
template <class V>
void CsbPieceBuilder<V>::add_cells(CsbCell cell, Index count) {
  CsbPieceShape& shape = contents_.back().shape;
  for (Index done = 0; done < count; done += csb_cell_entries) {
    cell.first_entry = shape.entry_count + done;
    cell.entries = static_cast<std::uint32_t>(std::min(count - done, csb_cell_entries));
    cells_.back().push_back(cell);
  }
  shape.entry_count += count;
  shape.cell_count = static_cast<Index>(cells_.back().size());
}

template <class V>
void CsbPieceBuilder<V>::lay_out() {
  const Index count = partition_.segments->count();
  for (Index row = 0; row < count; ++row) {
    if (holds(partition_.home[static_cast<std::size_t>(row)])) lay_out_diagonal(row);
    for (Index column = 0; column <= row; ++column)
      if (holds(domain_of(row, column))) lay_out_pair(row, column);
  }
}

template <class V>
void CsbPieceBuilder<V>::lay_out_diagonal(Index segment) {
  const RowSegments& segments = *partition_.segments;
  const auto first =
      std::lower_bound(partition_.bands.begin(), partition_.bands.end(), segments.begin(segment)) -
      partition_.bands.begin();
  bool open = false;
  // A tile may be spread over several bands, and a band over several tiles: tiles come in ascending order.
  std::vector<BandCell*> of_tile;
  const auto finish = [&] {
    if (of_tile.empty()) return;
    if (!std::exchange(open, true))
      open_piece(segment, segment, partition_.home[static_cast<std::size_t>(segment)], true);
    const Index tile = of_tile.front()->cell, begin = tile_begin(tile) - segments.begin(segment);
    Index sum = 0;
    for (BandCell* part : of_tile) {
      part->piece = static_cast<Index>(contents_.size()) - 1;
      part->first = contents_.back().shape.entry_count + sum;
      sum += part->count;
    }
    const auto last = static_cast<std::uint16_t>(tile_begin(tile + 1) - tile_begin(tile) - 1);
    add_cells({0, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(begin), 0, last, last}, sum);
    of_tile.clear();
  };
  for (Index band = first; band < bands() && band_begin(band) < segments.end(segment); ++band)
    for (BandCell& part : band_[static_cast<std::size_t>(band)].diagonal) {
      if (!of_tile.empty() && of_tile.front()->cell != part.cell) finish();
      of_tile.push_back(&part);
    }
  finish();
}

/// Columns of cells one after the other: a CPU reads and writes the vectors' rows of a band of columns at
/// random, those of a band of rows in order. The former stay in its second cache for all of their cells.
template <class V>
void CsbPieceBuilder<V>::lay_out_pair(Index row, Index column) {
  const RowSegments& segments = *partition_.segments;
  const auto band_at = [&](Index position) {
    return std::lower_bound(partition_.bands.begin(), partition_.bands.end(), position) -
           partition_.bands.begin();
  };
  const Index first_row = band_at(segments.begin(row)), end_row = band_at(segments.end(row));
  const Index first_column = band_at(segments.begin(column)), end_column = band_at(segments.end(column));
  std::vector<typename std::vector<BandCell>::iterator> next;  // of each band of rows
  for (Index band = first_row; band < end_row; ++band) {
    std::vector<BandCell>& pairs = band_[static_cast<std::size_t>(band)].pairs;
    next.push_back(std::lower_bound(pairs.begin(), pairs.end(), first_column,
                                    [](const BandCell& cell, Index at) { return cell.cell < at; }));
  }
  bool open = false;
  for (Index other = first_column; other < end_column; ++other)
    for (Index band = first_row; band < end_row; ++band) {
      auto& part = next[static_cast<std::size_t>(band - first_row)];
      if (part == band_[static_cast<std::size_t>(band)].pairs.end() || part->cell != other) continue;
      const Index cells = (part->count + csb_cell_entries - 1) / csb_cell_entries;
      const auto larger = [&](const CsbPieceShape& shape) {
        return csb_piece_sizes(shape.cell_count + cells, shape.entry_count + part->count, sizeof(V)).total;
      };
      if (!open || larger(contents_.back().shape) > piece_bytes_)
        open_piece(row, column, domain_of(row, column), false);
      open = true;
      part->piece = static_cast<Index>(contents_.size()) - 1;
      part->first = contents_.back().shape.entry_count;
      const auto last = [&](Index of) {
        return static_cast<std::uint16_t>(band_begin(of + 1) - band_begin(of) - 1);
      };
      add_cells({0, static_cast<std::uint32_t>(band_begin(band) - segments.begin(row)),
                 static_cast<std::uint32_t>(band_begin(other) - segments.begin(column)), 0, last(band),
                 last(other)},
                part->count);
      ++part;
    }
}

template <class V>
void CsbPieceBuilder<V>::place(const std::vector<std::byte*>& memory) {
  std::vector<CsbPieceView<V>> views;
  for (std::size_t p = 0; p < contents_.size(); ++p) {
    const CsbPieceShape& shape = contents_[p].shape;
    write_csb_head<V>(shape, memory[p]);
    const CsbPieceSizes sizes = csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V));
    std::memcpy(memory[p] + sizes.cells_offset, cells_[p].data(), cells_[p].size() * sizeof(CsbCell));
    views.push_back(csb_view<V>(memory[p], shape.cell_count, shape.entry_count, shape.on_diagonal));
    std::vector<CsbCell>().swap(cells_[p]);
  }
  const int threads = host_threads(runtime_);
  std::vector<Space> spaces(static_cast<std::size_t>(threads));
  for (Space& space : spaces) space.of_band.assign(static_cast<std::size_t>(bands()), -1);
  parallel_for(threads, bands(), [&](Index i, int thread) {
    const Index band = bands() - 1 - i;
    place_band(band, spaces[static_cast<std::size_t>(thread)], views);
    progress_.add(band_begin(band + 1) - band_begin(band), thread);
  });
}

template <class V>
void CsbPieceBuilder<V>::place_band(Index number, Space& space, const std::vector<CsbPieceView<V>>& views) {
  Band& band = band_[static_cast<std::size_t>(number)];
  const Index diagonal_slot = static_cast<Index>(band.pairs.size());
  for (Index slot = 0; slot < diagonal_slot; ++slot)
    space.of_band[static_cast<std::size_t>(band.pairs[static_cast<std::size_t>(slot)].cell)] = slot;
  for_chunks(
      number, space,
      [&](Index row, Index column, EntryValue<V> value, bool of_tile) {
        Index slot = diagonal_slot, begin = 0;
        if (of_tile) {
          begin = *(std::upper_bound(partition_.tiles.begin(), partition_.tiles.end(), row) - 1);
        } else {
          const Index other = band_of(column);
          slot = space.of_band[static_cast<std::size_t>(other)];
          begin = band_begin(other);
        }
        if (slot < 0) throw changed();
        const Index row_begin = of_tile ? begin : band_begin(number);
        space.entries.push_back(
            {static_cast<std::uint32_t>(row - row_begin), static_cast<std::uint32_t>(column - begin), value});
        space.slot.push_back(static_cast<std::uint32_t>(slot));
      },
      [&](Index first_row, Index tile) { place_chunk(first_row, tile, number, space, views); });
  for (const auto* parts : {&band.pairs, &band.diagonal})
    for (const BandCell& part : *parts)
      if (part.count != 0) throw changed();
  for (const BandCell& part : band.pairs) space.of_band[static_cast<std::size_t>(part.cell)] = -1;
}

/// Entries of a chunk by slot, and there by row; next[slot] is the end of a slot's then.
template <class V>
void CsbPieceBuilder<V>::sort_by_slot_and_row(Index first_row, Index tile, Index number, Space& space) const {
  const std::size_t slots = band_[static_cast<std::size_t>(number)].pairs.size() + 1,
                    count = space.entries.size();
  // Both sorts keep the order of equal ones.
  const Index of_band = band_begin(number) - first_row, of_tile = tile_begin(tile) - first_row;
  const auto row_of = [&](std::size_t e) {
    return static_cast<std::size_t>(Index(space.entries[e].row) +
                                    (space.slot[e] + 1 < slots ? of_band : of_tile));
  };
  space.next.assign(static_cast<std::size_t>(rows_of_chunk) + 1, 0);
  for (std::size_t e = 0; e < count; ++e) ++space.next[row_of(e) + 1];
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_of_chunk); ++row)
    space.next[row + 1] += space.next[row];
  space.by_row.resize(count);
  for (std::size_t e = 0; e < count; ++e)
    space.by_row[static_cast<std::size_t>(space.next[row_of(e)]++)] = static_cast<std::uint32_t>(e);
  space.next.assign(slots + 1, 0);
  for (const std::uint32_t slot : space.slot) ++space.next[slot + 1];
  for (std::size_t slot = 0; slot < slots; ++slot) space.next[slot + 1] += space.next[slot];
  space.sorted.resize(count);
  for (const std::uint32_t e : space.by_row)
    space.sorted[static_cast<std::size_t>(space.next[space.slot[e]]++)] = space.entries[e];
}

/// Sorts a chunk's entries by cell, row and column, and copies them to their pieces.
template <class V>
void CsbPieceBuilder<V>::place_chunk(Index first_row, Index tile, Index number, Space& space,
                                     const std::vector<CsbPieceView<V>>& views) {
  Band& band = band_[static_cast<std::size_t>(number)];
  const std::size_t slots = band.pairs.size() + 1;
  sort_by_slot_and_row(first_row, tile, number, space);
  for (std::size_t slot = 0; slot < slots; ++slot) {
    const auto begin = space.sorted.begin() + (slot == 0 ? 0 : space.next[slot - 1]),
               end = space.sorted.begin() + space.next[slot];
    if (begin == end) continue;
    for (auto row = begin; row != end;) {
      const auto row_end =
          std::find_if(row, end, [&](const EntryOf<V>& entry) { return entry.row != row->row; });
      if (!std::is_sorted(row, row_end, before<EntryOf<V>>)) std::sort(row, row_end, before<EntryOf<V>>);
      const auto twice = std::adjacent_find(
          row, row_end, [](const EntryOf<V>& a, const EntryOf<V>& b) { return a.column == b.column; });
      if (twice != row_end)
        throw InvalidArgument("rows", fmt::format("an entry twice in the rows from {}", first_row),
                              "each entry once");
      row = row_end;
    }
    const auto part = slot + 1 < slots
                          ? band.pairs.begin() + static_cast<std::ptrdiff_t>(slot)
                          : std::find_if(band.diagonal.begin(), band.diagonal.end(),
                                         [&](const BandCell& cell) { return cell.cell == tile; });
    if (part == band.diagonal.end() || (part->count -= end - begin) < 0) throw changed();
    const CsbPieceView<V>& view = views[static_cast<std::size_t>(part->piece)];
    auto* const values = const_cast<V*>(view.values) + part->first;
    auto* const rows = const_cast<std::uint16_t*>(view.rows) + part->first;
    auto* const columns = const_cast<std::uint16_t*>(view.columns) + part->first;
    std::size_t e = 0;
    for (auto entry = begin; entry != end; ++entry, ++e) {
      values[e] = static_cast<V>(entry->value);
      rows[e] = static_cast<std::uint16_t>(entry->row);
      columns[e] = static_cast<std::uint16_t>(entry->column);
    }
    part->first += end - begin;
  }
  space.entries.clear();
  space.slot.clear();
}

#define TESSERA_INSTANTIATE(V)                                       \
  template void write_csb_head<V>(const CsbPieceShape&, std::byte*); \
  template class CsbPieceBuilder<V>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
