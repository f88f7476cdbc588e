// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/algorithms/sparse/csb_pieces.hpp>
#include <tessera/algorithms/sparse/saved_tables.hpp>
#include <tessera/saved_rows.hpp>

namespace tessera::detail {

/// A cell in a file. Rows and columns are those of the matrix.
struct SavedCell {
  Index first_row, first_column, first_entry;
  std::uint32_t entries, checksum;
  std::uint16_t last_row, last_column;  ///< of those that it may have, from its first ones
  bool continues = false;               ///< the cell before has the same rows and columns, and lesser entries

  Index end_row() const noexcept { return first_row + last_row + 1; }
  Index end_column() const noexcept { return first_column + last_column + 1; }
};

/// A piece in a file: CsbPieceContents, in any dealing.
struct SavedPiece {
  Index row, column;  ///< segments
  bool diagonal_tiles;
  std::size_t first_cell, end_cell;
  Index entries;
};

/// A sparse matrix in a file that is open: its tables in memory, entries when they are asked for. All tables are
/// checked; of a cell's entries all is checked when it is read.
class SavedMatrix {
 public:
  explicit SavedMatrix(const std::string& path);
  ~SavedMatrix();
  SavedMatrix(const SavedMatrix&) = delete;
  SavedMatrix& operator=(const SavedMatrix&) = delete;

  Index order() const noexcept { return number(SavedTables::order); }
  Index stored_entries() const noexcept { return number(SavedTables::entries); }
  /// The values are complex.
  bool hermitian() const noexcept { return hermitian_; }
  int value_bytes() const noexcept { return static_cast<int>(number(SavedTables::value_bytes)); }
  Index piece_bytes() const noexcept { return number(SavedTables::piece_bytes); }
  const SavedTables& tables() const noexcept { return tables_; }
  const std::string& description() const noexcept { return description_; }
  const std::shared_ptr<const RowSurvey>& survey() const noexcept { return survey_; }
  std::uint32_t checksum() const noexcept { return checksum_; }
  const std::vector<SavedPiece>& pieces() const noexcept { return pieces_; }
  const std::vector<SavedCell>& cells() const noexcept { return cells_; }

  /// Reads and checks consecutive cells [first, end), of one piece, into memory for all of their entries.
  /// V: the type of values in the file. Thread-safe.
  template <class V>
  void read_cells(const SavedPiece& piece, std::size_t first, std::size_t end, V* values, std::uint16_t* rows,
                  std::uint16_t* columns) const;
  /// The first of `cells` continues the cell that ends with the entry (row, column): whether it does.
  void require_continued(std::size_t cell, std::uint16_t last_row, std::uint16_t last_column,
                         std::uint16_t first_row, std::uint16_t first_column) const;
  /// SymmetricRows::entries and complex_entries. Entry: SparseEntry, not of complex values, or ComplexSparseEntry.
  template <class Entry>
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<Entry>& out) const;
  [[noreturn]] void fail(std::string_view reason) const;
  /// visit(V()) with the type of values in the file.
  template <class Visit>
  auto with_type(const Visit& visit) const;

 private:
  struct Band;
  struct Kept;
  Index number(SavedTables::Number which) const noexcept { return tables_.numbers[which]; }
  void read_tables();
  void check_cut() const;
  void check_families() const;
  void list_pieces();
  void list_cells();
  void check_cell_place(const SavedPiece& piece, const SavedCell& cell, const SavedCell* before) const;
  void list_cells_of_bands();
  void read_bytes(void* to, Index count, Index at) const;
  template <class V>
  void check_cell(const SavedPiece& piece, std::size_t cell, const V* values, const std::uint16_t* rows,
                  const std::uint16_t* columns) const;
  std::shared_ptr<const Band> band(Index number, Index first_column, Index end_column) const;
  template <class V>
  std::shared_ptr<const Band> read_band(Index number, Index first_column, Index end_column) const;

  std::string path_, description_;
  bool hermitian_ = false;
  int descriptor_ = -1;
  SavedTables tables_;
  std::uint32_t checksum_ = 0;
  std::shared_ptr<const RowSurvey> survey_;
  Index values_begin_ = 0, rows_begin_ = 0, columns_begin_ = 0;  ///< bytes of the file
  std::vector<SavedPiece> pieces_;
  std::vector<SavedCell> cells_;
  std::vector<std::uint32_t> piece_of_cell_;
  std::vector<std::size_t> band_begins_;  ///< in band_cells_; as many as bands, and one
  std::vector<std::size_t> band_cells_;   ///< numbers of the cells with rows of each band
  mutable std::mutex kept_mutex_;
  std::unique_ptr<Kept> kept_;  ///< the bands that were asked for last
};

/// Reads the pieces that a rank holds where they belong: in the place of a CsbPieceBuilder.
template <class V>
class SavedPieces {
 public:
  /// Whether the file has the pieces that a builder would make for this cut and this size of pieces.
  static bool fit(const SavedMatrix& file, const CsbPartition& partition, Index piece_bytes);
  SavedPieces(const Runtime& runtime, const SavedMatrix& file, const CsbPartition& partition,
              WorkProgress& progress);

  /// Nothing is left to be counted.
  void count() const noexcept {}

  const std::vector<CsbPieceContents>& pieces() const noexcept { return contents_; }
  /// @throws InputError for damaged entries, and values that V does not hold
  void place(const std::vector<std::byte*>& memory);

 private:
  struct Part {
    std::size_t piece;  ///< of this rank
    std::size_t first_cell, end_cell;
  };
  void write_head(std::size_t piece, std::byte* memory) const;
  template <class Stored>
  void read_part(const Part& part, std::byte* memory) const;
  void check_joints(const std::vector<std::byte*>& memory) const;

  const Runtime& runtime_;
  const SavedMatrix& file_;
  const CsbPartition& partition_;
  WorkProgress& progress_;
  std::vector<CsbPieceContents> contents_;
  std::vector<const SavedPiece*> mine_;
};

template <class Visit>
auto SavedMatrix::with_type(const Visit& visit) const {
  const bool single = value_bytes() == (hermitian_ ? 8 : 4);
  if (hermitian_) return single ? visit(std::complex<float>()) : visit(std::complex<double>());
  return single ? visit(float()) : visit(double());
}

}  // namespace tessera::detail
