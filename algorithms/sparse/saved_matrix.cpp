// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <tuple>

#include <fmt/format.h>
#include <unistd.h>

#include <tessera/algorithms/sparse/csb_pieces.hpp>
#include <tessera/algorithms/sparse/saved_kept.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/io/input_file.hpp>

namespace tessera::detail {

namespace {

/// First rows, and last the order: strictly ascending, of at most `most` rows each.
bool cuts(const std::vector<Index>& begins, Index order, Index most) {
  if (begins.size() < 2 || begins.front() != 0 || begins.back() != order) return false;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    if (begins[i + 1] <= begins[i] || begins[i + 1] - begins[i] > most) return false;
  return true;
}

bool contains(const std::vector<Index>& ascending, Index value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

/// Whether a part of this cut is [first, first + size).
bool is_part(const std::vector<Index>& begins, Index first, Index size) {
  const auto found = std::lower_bound(begins.begin(), begins.end(), first);
  return found != begins.end() && *found == first && found + 1 != begins.end() && found[1] - first == size;
}

}  // namespace

SavedMatrix::SavedMatrix(const std::string& path) : path_(path), kept_(std::make_unique<Kept>()) {
  descriptor_ = InputFile(path).release();
  try {
    read_tables();
    check_cut();
    check_families();
    list_pieces();
    list_cells();
    list_cells_of_bands();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SavedMatrix::~SavedMatrix() {
  ::close(descriptor_);
}

void SavedMatrix::fail(std::string_view reason) const {
  throw InputError(path_, 0, reason);
}

void SavedMatrix::read_tables() {
  Hdf5File file = Hdf5File::open(path_);
  if (file.read_attribute("format") != saved_format)
    fail(fmt::format("its attribute 'format' is not '{}'", saved_format));
  SavedTables::for_all(tables_, [&](const char* name, auto& values) {
    values.resize(static_cast<std::size_t>(file.length(name)));
    file.read_elements(name, 0, static_cast<Index>(values.size()), values.data());
  });
  checksum_ = tables_.checksum();
  if (file.read_attribute("checksum") != fmt::format("{:08x}", checksum_))
    fail("is damaged: the checksum of its tables is another one");
  if (tables_.numbers.size() != SavedTables::number_count) fail("has other numbers than four");
  if (order() < 1) fail(fmt::format("is of order {}", order()));
  hermitian_ = file.shape(saved_value).complex;
  if (const int single = hermitian_ ? 8 : 4; value_bytes() != single && value_bytes() != 2 * single)
    fail(fmt::format("has {}values of {} bytes", hermitian_ ? "complex " : "", value_bytes()));
  if (piece_bytes() < 1) fail(fmt::format("has pieces of {} bytes", piece_bytes()));
  const Hdf5Place values = with_type([&]<class V>(V) { return file.place<V>(saved_value); }),
                  rows = file.place<std::uint16_t>(saved_row_in_cell),
                  columns = file.place<std::uint16_t>(saved_column_in_cell);
  if (values.count != stored_entries() || rows.count != stored_entries() || columns.count != stored_entries())
    fail(fmt::format("has {} values, {} rows and {} columns for {} entries", values.count, rows.count,
                     columns.count, stored_entries()));
  values_begin_ = values.begin;
  rows_begin_ = rows.begin;
  columns_begin_ = columns.begin;
  description_.assign(tables_.description.begin(), tables_.description.end());
}

void SavedMatrix::check_cut() const {
  const SavedTables& t = tables_;
  if (!t.tiles.empty() && !cuts(t.tiles, order(), order()))
    fail("has tiles that do not ascend from 0 to the order");
  if (!cuts(t.cut_tiles, order(), csb_cell_rows) || !cuts(t.cut_bands, order(), csb_cell_rows) ||
      !cuts(t.cut_segments, order(), order()))
    fail("has tiles, bands or segments that do not ascend from 0 to the order, in steps of at most 65536");
  for (const Index begin : t.cut_segments)
    if (!contains(t.cut_tiles, begin) || !contains(t.cut_bands, begin))
      fail(fmt::format("has a segment from row {}, where no tile or no band begins", begin));
}

void SavedMatrix::check_families() const {
  const std::size_t first = tables_.first_family.size(), second = tables_.second_family.size();
  if (first != second || (first > 0 && static_cast<Index>(first) != order()))
    fail(fmt::format("has {} first and {} second families for {} rows", first, second, order()));
}

void SavedMatrix::list_pieces() {
  try {
    survey_ = std::make_shared<const RowSurvey>(order(), std::move(tables_.survey));
  } catch (const InvalidArgument&) {
    fail("has a survey that no matrix of its order has");
  }
  const SavedTables& t = tables_;
  const std::size_t count = t.piece_row.size();
  if (t.piece_column.size() != count || t.piece_on_tiles.size() != count || t.piece_cells.size() != count)
    fail("has lists of pieces of different lengths");
  const auto segments = static_cast<Index>(t.cut_segments.size()) - 1;
  const auto all_cells = static_cast<Index>(t.cell_first_row.size());
  Index cells = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const Index row = t.piece_row[p], column = t.piece_column[p], here = t.piece_cells[p];
    const bool on_tiles = t.piece_on_tiles[p] != 0;
    const bool inside =
        row >= 0 && row < segments && column >= 0 && column <= row && (!on_tiles || column == row);
    if (!inside || here < 1 || here > all_cells - cells)
      fail(fmt::format("piece {}, of segments {} and {} with {} cells, is not possible", p, row, column,
                       here));
    pieces_.push_back(
        {row, column, on_tiles, static_cast<std::size_t>(cells), static_cast<std::size_t>(cells + here), 0});
    cells += here;
    if (p == 0) continue;
    const auto key = [](const SavedPiece& piece) {
      return std::tuple(piece.row, !piece.diagonal_tiles, piece.column);
    };
    if (key(pieces_[p - 1]) > key(pieces_[p]) || (on_tiles && key(pieces_[p - 1]) == key(pieces_[p])))
      fail(fmt::format("piece {}, of segments {} and {}, is not in its place", p, row, column));
  }
  if (cells != all_cells) fail(fmt::format("has {} cells, its pieces have {}", all_cells, cells));
}

void SavedMatrix::list_cells() {
  SavedTables& t = tables_;
  const std::size_t count = t.cell_first_row.size();
  for (const auto* list :
       {&t.cell_first_column, &t.cell_rows, &t.cell_columns, &t.cell_entries, &t.cell_checksum})
    if (list->size() != count) fail("has lists of cells of different lengths");
  cells_.reserve(count);
  Index entry = 0;
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    SavedPiece& piece = pieces_[p];
    // Of one pair of segments in several pieces, cells go on from the one to the next.
    const bool goes_on = p > 0 && !piece.diagonal_tiles && pieces_[p - 1].row == piece.row &&
                         pieces_[p - 1].column == piece.column && !pieces_[p - 1].diagonal_tiles;
    for (std::size_t c = piece.first_cell; c < piece.end_cell; ++c) {
      const Index rows = t.cell_rows[c], columns = t.cell_columns[c], entries = t.cell_entries[c],
                  checksum = t.cell_checksum[c];
      if (rows < 1 || rows > csb_cell_rows || columns < 1 || columns > csb_cell_rows || entries < 1 ||
          entries > csb_cell_entries || checksum < 0 || checksum > UINT32_MAX ||
          entries > stored_entries() - entry)
        fail(fmt::format("cell {}, with {} rows, {} columns and {} entries, is not possible", c, rows,
                         columns, entries));
      SavedCell cell{.first_row = t.cell_first_row[c],
                     .first_column = t.cell_first_column[c],
                     .first_entry = entry,
                     .entries = static_cast<std::uint32_t>(entries),
                     .checksum = static_cast<std::uint32_t>(checksum),
                     .last_row = static_cast<std::uint16_t>(rows - 1),
                     .last_column = static_cast<std::uint16_t>(columns - 1)};
      const SavedCell* const before = c > piece.first_cell || goes_on ? &cells_.back() : nullptr;
      check_cell_place(piece, cell, before);
      cell.continues =
          before && before->first_row == cell.first_row && before->first_column == cell.first_column;
      if (cell.continues && c == piece.first_cell) fail(fmt::format("cell {} is cut between two pieces", c));
      entry += entries;
      piece.entries += entries;
      cells_.push_back(cell);
      piece_of_cell_.push_back(static_cast<std::uint32_t>(p));
    }
  }
  if (entry != stored_entries())
    fail(fmt::format("has {} entries, its cells have {}", stored_entries(), entry));
  // They are in cells_ and pieces_ now.
  for (auto* list : {&t.cell_first_row, &t.cell_first_column, &t.cell_rows, &t.cell_columns, &t.cell_entries,
                     &t.cell_checksum, &t.piece_row, &t.piece_column, &t.piece_on_tiles, &t.piece_cells})
    std::vector<Index>().swap(*list);
}

/// A tile, or a pair of bands of the piece's segments, behind the one before.
void SavedMatrix::check_cell_place(const SavedPiece& piece, const SavedCell& cell,
                                   const SavedCell* before) const {
  const auto refuse = [&] {
    fail(fmt::format("the cell of rows {} to {} and columns {} to {} is not in its place", cell.first_row,
                     cell.first_row + cell.last_row, cell.first_column,
                     cell.first_column + cell.last_column));
  };
  const std::vector<Index>& segments = tables_.cut_segments;
  const std::vector<Index>& parts = piece.diagonal_tiles ? tables_.cut_tiles : tables_.cut_bands;
  const auto inside = [&](Index first, std::uint16_t last, Index segment) {
    const auto s = static_cast<std::size_t>(segment);
    return first >= segments[s] && first < segments[s + 1] && is_part(parts, first, Index(last) + 1);
  };
  if (!inside(cell.first_row, cell.last_row, piece.row) ||
      !inside(cell.first_column, cell.last_column, piece.column) || cell.first_column > cell.first_row ||
      (piece.diagonal_tiles && cell.first_column != cell.first_row))
    refuse();
  if (before &&
      std::tuple(before->first_column, before->first_row) > std::tuple(cell.first_column, cell.first_row))
    refuse();
}

void SavedMatrix::list_cells_of_bands() {
  const std::vector<Index>& bands = tables_.cut_bands;
  const auto for_bands = [&](const SavedCell& cell, const auto& visit) {
    auto band = std::upper_bound(bands.begin(), bands.end(), cell.first_row) - bands.begin() - 1;
    for (; bands[static_cast<std::size_t>(band)] < cell.end_row(); ++band)
      visit(static_cast<std::size_t>(band));
  };
  band_begins_.assign(bands.size(), 0);
  for (const SavedCell& cell : cells_) for_bands(cell, [&](std::size_t band) { ++band_begins_[band + 1]; });
  for (std::size_t b = 1; b < band_begins_.size(); ++b) band_begins_[b] += band_begins_[b - 1];
  band_cells_.resize(band_begins_.back());
  std::vector<std::size_t> next(band_begins_.begin(), band_begins_.end() - 1);
  for (std::size_t c = 0; c < cells_.size(); ++c)
    for_bands(cells_[c], [&](std::size_t band) { band_cells_[next[band]++] = c; });
}

void SavedMatrix::read_bytes(void* to, Index count, Index at) const {
  auto* byte = static_cast<char*>(to);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, byte, static_cast<std::size_t>(count), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(fmt::format("cannot be read: {}", std::strerror(errno)));
    if (got == 0) fail("has been cut short since it was opened");
    byte += got;
    at += got;
    count -= got;
  }
}

template <class V>
void SavedMatrix::check_cell(const SavedPiece& piece, std::size_t number, const V* values,
                             const std::uint16_t* rows, const std::uint16_t* columns) const {
  const SavedCell& cell = cells_[number];
  const auto damaged = [&](std::string_view how) {
    fail(fmt::format("cell {} is damaged: {}", number, how));
  };
  if (cell_checksum(values, sizeof(V), rows, columns, cell.entries) != cell.checksum)
    damaged("its checksum is another one");
  // Of a piece on the diagonal: where the row's tile begins, whose entries are another piece's.
  const bool on_diagonal = piece.row == piece.column;
  const std::vector<Index>& tiles = tables_.cut_tiles;
  auto tile_end = std::upper_bound(tiles.begin(), tiles.end(), cell.first_row);
  for (std::uint32_t e = 0; e < cell.entries; ++e) {
    if (rows[e] > cell.last_row || columns[e] > cell.last_column) damaged("an entry is outside of it");
    if (e > 0 && std::tuple(rows[e - 1], columns[e - 1]) >= std::tuple(rows[e], columns[e]))
      damaged("entries are not in the order of rows and columns");
    const Index row = cell.first_row + rows[e], column = cell.first_column + columns[e];
    if (!finite_value(values[e])) damaged(fmt::format("the entry ({}, {}) is not finite", row, column));
    if (row == column && imag_part(values[e]) != 0)
      damaged(fmt::format("the entry ({}, {}) of the diagonal is not real", row, column));
    if (!on_diagonal) continue;
    if (column > row) damaged(fmt::format("the entry ({}, {}) is above the diagonal", row, column));
    if (piece.diagonal_tiles) continue;
    while (*tile_end <= row) ++tile_end;
    if (column >= tile_end[-1])
      damaged(fmt::format("the entry ({}, {}) belongs to a diagonal tile", row, column));
  }
}

void SavedMatrix::require_continued(std::size_t cell, std::uint16_t last_row, std::uint16_t last_column,
                                    std::uint16_t first_row, std::uint16_t first_column) const {
  if (std::tuple(last_row, last_column) >= std::tuple(first_row, first_column))
    fail(fmt::format("cell {} is damaged: its entries do not follow those of the cell before", cell));
}

template <class V>
void SavedMatrix::read_cells(const SavedPiece& piece, std::size_t first, std::size_t end, V* values,
                             std::uint16_t* rows, std::uint16_t* columns) const {
  if (first == end) return;
  const Index begin = cells_[first].first_entry,
              count = cells_[end - 1].first_entry + cells_[end - 1].entries - begin;
  read_bytes(values, count * Index(sizeof(V)), values_begin_ + begin * Index(sizeof(V)));
  read_bytes(rows, count * 2, rows_begin_ + begin * 2);
  read_bytes(columns, count * 2, columns_begin_ + begin * 2);
  for (std::size_t c = first; c < end; ++c) {
    const auto at = static_cast<std::size_t>(cells_[c].first_entry - begin);
    check_cell(piece, c, values + at, rows + at, columns + at);
    if (c > first && cells_[c].continues)
      require_continued(c, rows[at - 1], columns[at - 1], rows[at], columns[at]);
  }
}

#define TESSERA_INSTANTIATE(V)                                                                           \
  template void SavedMatrix::read_cells(const SavedPiece&, std::size_t, std::size_t, V*, std::uint16_t*, \
                                        std::uint16_t*) const;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail
