// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/csb_save.hpp>
#include <tessera/algorithms/sparse/saved_tables.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

CsbRowStructure::CsbRowStructure(const SymmetricRows& rows, const RowSegments& segments, int rank) {
  const std::span<const Index> given = rows.tiles();
  tiles.assign(given.begin(), given.end());
  Index mine = 0;
  for (Index s = 0; s < segments.count(); ++s) {
    if (segments.owner(s) != rank) continue;
    for (Index row = segments.begin(s); row < segments.end(s); ++row)
      if (const auto of_row = rows.families(row)) families.push_back(*of_row);
    mine += segments.size(s);
  }
  if (!families.empty() && static_cast<Index>(families.size()) != mine)
    throw InvalidArgument("rows", fmt::format("families of {} rows of {}", families.size(), mine),
                          "families of all rows, or of none");
}

namespace {

/// A cell as a rank tells the first one of it.
struct ToldCell {
  Index first_row, first_column, rows, columns, entries, checksum;
};

template <class Element>
std::vector<std::vector<Element>> gathered(const Runtime& runtime, const std::vector<Element>& mine) {
  std::vector<std::vector<Element>> all;
  for (const std::vector<std::byte>& bytes : runtime.gather(std::as_bytes(std::span(mine)), 0)) {
    std::vector<Element>& of_rank = all.emplace_back(bytes.size() / sizeof(Element));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(of_rank.data()), bytes.data(), bytes.size());
  }
  return all;
}

template <class V>
class CsbWriter {
 public:
  CsbWriter(const CsbSaved& matrix, const std::string& path, const CsbSaveOptions& options)
      : matrix_(matrix), runtime_(matrix.runtime), options_(options), path_(path) {
    for (const CsbPiece& piece : matrix.pieces) in_order_.push_back(&piece);
    std::stable_sort(in_order_.begin(), in_order_.end(), [](const CsbPiece* a, const CsbPiece* b) {
      const auto key = [](const CsbPieceContents& c) {
        return std::tuple(c.row, !c.diagonal_tiles, c.column);
      };
      return key(a->contents) < key(b->contents);
    });
    for (const CsbPiece* piece : in_order_) entries_ += piece->contents.shape.entry_count;
  }

  double write() {
    collect_cells();
    collect_families();
    agree(runtime_, 0, [&] {
      if (runtime_.rank() == 0) begin_file();
    });
    write_entries();
    agree(runtime_, 0, [&] {
      if (file_) file_->close();
      if (options_.progress) options_.progress(1);
    });
    return static_cast<double>(entries_) * (sizeof(V) + 2 * sizeof(std::uint16_t));
  }

 private:
  int owner(const CsbPiece& piece) const { return matrix_.partition.rank_of(piece.contents.domain); }
  static CsbPieceView<V> view(const CsbPiece& piece, const HostAccess& access) {
    const CsbPieceShape& shape = piece.contents.shape;
    return csb_view<V>(access.array<const std::byte>().data(), shape.cell_count, shape.entry_count,
                       shape.on_diagonal);
  }

  /// The cells of all pieces, in their order in the file, on rank 0.
  void collect_cells() {
    std::vector<ToldCell> mine;
    agree(runtime_, 0, [&] {
      const RowSegments& segments = *matrix_.partition.segments;
      for (const CsbPiece* piece : in_order_) {
        if (owner(*piece) != runtime_.rank()) continue;
        const HostAccess access(piece->data, HostAccess::Mode::read);
        const CsbPieceView<V> v = view(*piece, access);
        const std::size_t before = mine.size();
        mine.resize(before + static_cast<std::size_t>(v.cell_count));
        parallel_for(host_threads(runtime_), v.cell_count, [&](Index c, int) {
          const CsbCell& cell = v.cells[c];
          mine[before + static_cast<std::size_t>(c)] = {
              segments.begin(piece->contents.row) + cell.first_row,
              segments.begin(piece->contents.column) + cell.first_column,
              Index(cell.last_row) + 1,
              Index(cell.last_column) + 1,
              Index(cell.entries),
              Index(cell_checksum(v.values + cell.first_entry, sizeof(V), v.rows + cell.first_entry,
                                  v.columns + cell.first_entry, cell.entries))};
        });
      }
    });
    const std::vector<std::vector<ToldCell>> told = gathered(runtime_, mine);
    if (runtime_.rank() != 0) return;
    std::vector<std::size_t> next(told.size());
    for (const CsbPiece* piece : in_order_) {
      const CsbPieceContents& c = piece->contents;
      tables_.piece_row.push_back(c.row);
      tables_.piece_column.push_back(c.column);
      tables_.piece_on_tiles.push_back(c.diagonal_tiles);
      tables_.piece_cells.push_back(c.shape.cell_count);
      const auto rank = static_cast<std::size_t>(owner(*piece));
      for (Index k = 0; k < c.shape.cell_count; ++k) {
        const ToldCell& cell = told[rank][next[rank]++];
        tables_.cell_first_row.push_back(cell.first_row);
        tables_.cell_first_column.push_back(cell.first_column);
        tables_.cell_rows.push_back(cell.rows);
        tables_.cell_columns.push_back(cell.columns);
        tables_.cell_entries.push_back(cell.entries);
        tables_.cell_checksum.push_back(cell.checksum);
      }
    }
  }

  void collect_families() {
    const std::vector<std::vector<RowFamilies>> told = gathered(runtime_, matrix_.structure.families);
    if (runtime_.rank() != 0) return;
    const RowSegments& segments = *matrix_.partition.segments;
    std::vector<std::size_t> next(told.size());
    for (Index s = 0; s < segments.count(); ++s) {
      const auto rank = static_cast<std::size_t>(segments.owner(s));
      if (told[rank].empty()) continue;
      for (Index row = segments.begin(s); row < segments.end(s); ++row) {
        const RowFamilies& families = told[rank][next[rank]++];
        tables_.first_family.push_back(families.first);
        tables_.second_family.push_back(families.second);
      }
    }
  }

  /// With all but the entries.
  void begin_file() {
    const CsbPartition& cut = matrix_.partition;
    const RowSegments& segments = *cut.segments;
    tables_.numbers[SavedTables::order] = segments.rows();
    tables_.numbers[SavedTables::entries] = entries_;
    tables_.numbers[SavedTables::value_bytes] = sizeof(V);
    tables_.numbers[SavedTables::piece_bytes] = matrix_.piece_bytes;
    tables_.tiles = matrix_.structure.tiles;
    tables_.cut_tiles = cut.tiles;
    tables_.cut_bands = cut.bands;
    for (Index s = 0; s < segments.count(); ++s) tables_.cut_segments.push_back(segments.begin(s));
    tables_.cut_segments.push_back(segments.rows());
    tables_.survey = cut.survey->counts();
    tables_.description.assign(options_.description.begin(), options_.description.end());
    if (const auto count = static_cast<Index>(tables_.first_family.size());
        count != 0 && count != segments.rows())
      throw InvalidArgument("rows", fmt::format("families of {} rows of {}", count, segments.rows()),
                            "families of all rows, or of none");
    file_.emplace(Hdf5File::create(path_));
    file_->write_attribute("format", saved_format);
    file_->write_attribute("checksum", fmt::format("{:08x}", tables_.checksum()));
    SavedTables::for_all(tables_, [&]<class Element>(const char* name, const std::vector<Element>& values) {
      file_->create_array<Element>(name, static_cast<Index>(values.size()));
      file_->write_elements(name, 0, static_cast<Index>(values.size()), values.data());
    });
    file_->create_array<V>(saved_value, entries_);
    file_->create_array<std::uint16_t>(saved_row_in_cell, entries_);
    file_->create_array<std::uint16_t>(saved_column_in_cell, entries_);
  }

  void write_entries() {
    for (const CsbPiece* piece : in_order_) {
      std::optional<HostAccess> access;
      if (owner(*piece) == runtime_.rank()) access.emplace(piece->data, HostAccess::Mode::read);
      const Index count = piece->contents.shape.entry_count;
      CsbPieceView<V> v{};
      if (access) v = view(*piece, *access);
      write_part(saved_value, *piece, v.values);
      write_part(saved_row_in_cell, *piece, v.rows);
      write_part(saved_column_in_cell, *piece, v.columns);
      first_entry_ += count;
    }
  }

  /// The values, rows or columns of a piece. `elements`: at its owner.
  template <class Element>
  void write_part(const char* name, const CsbPiece& piece, const Element* elements) {
    constexpr Index elements_of_part = (Index(32) << 20) / Index(sizeof(Element));
    const Index count = piece.contents.shape.entry_count;
    const int from = owner(piece);
    for (Index begin = 0; begin < count; begin += elements_of_part) {
      const Index here = std::min(elements_of_part, count - begin);
      std::vector<std::vector<std::byte>> sent;
      if (from != 0) {
        std::span<const std::byte> bytes;
        if (from == runtime_.rank())
          bytes = std::as_bytes(std::span(elements + begin, static_cast<std::size_t>(here)));
        sent = runtime_.gather(bytes, 0);
      }
      agree(runtime_, 0, [&] {
        if (file_)
          file_->write_elements(
              name, first_entry_ + begin, here,
              from == 0 ? elements + begin
                        : reinterpret_cast<const Element*>(sent[static_cast<std::size_t>(from)].data()));
        written_ += static_cast<double>(here) * sizeof(Element);
        const double all = static_cast<double>(entries_) * (sizeof(V) + 2 * sizeof(std::uint16_t));
        if (options_.progress && written_ < all) options_.progress(written_ / all);
      });
    }
  }

  const CsbSaved& matrix_;
  const Runtime& runtime_;
  const CsbSaveOptions& options_;
  std::string path_;
  std::vector<const CsbPiece*> in_order_;
  Index entries_ = 0, first_entry_ = 0;
  double written_ = 0;  ///< bytes
  SavedTables tables_;
  std::optional<Hdf5File> file_;  ///< on rank 0
};

}  // namespace

template <class V>
double save_csb(const CsbSaved& matrix, const std::string& path, const CsbSaveOptions& options) {
  return CsbWriter<V>(matrix, path, options).write();
}

#define TESSERA_INSTANTIATE(V) \
  template double save_csb<V>(const CsbSaved&, const std::string&, const CsbSaveOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
