// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <thread>

#include <tessera/algorithms/sparse/hermitian_rows.hpp>
#include <tessera/algorithms/sparse/saved_kept.hpp>

namespace tessera::detail {

/// Reads what a band of rows has in these columns, which are those of whole bands. A cell of a tile may have rows of
/// other bands, too.
template <class V>
std::shared_ptr<const SavedMatrix::Band> SavedMatrix::read_band(Index number, Index first_column,
                                                                Index end_column) const {
  const auto n = static_cast<std::size_t>(number);
  auto band = std::make_shared<Band>();
  band->number = number;
  band->first_column = first_column;
  band->end_column = end_column;
  std::vector<std::size_t> numbers;
  std::size_t entries = 0;
  for (std::size_t k = band_begins_[n]; k < band_begins_[n + 1]; ++k) {
    const SavedCell& cell = cells_[band_cells_[k]];
    if (cell.first_column >= end_column || cell.end_column() <= first_column) continue;
    numbers.push_back(band_cells_[k]);
    band->cells.push_back({cell.first_row, cell.first_column, entries, entries + cell.entries});
    entries += cell.entries;
  }
  auto& of_band = [&]() -> auto& {
    if constexpr (is_complex<V>)
      return band->complex_values;
    else
      return band->values;
  }
  ();
  of_band.resize(entries);
  band->rows.resize(entries);
  band->columns.resize(entries);
  std::vector<V> values;
  for (std::size_t k = 0; k < numbers.size();) {
    // Neighbours in the file at once; they stand together here, too.
    std::size_t end = k + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1 &&
           piece_of_cell_[numbers[end]] == piece_of_cell_[numbers[k]])
      ++end;
    const std::size_t begin = band->cells[k].begin, count = band->cells[end - 1].end - begin;
    values.resize(count);
    read_cells<V>(pieces_[piece_of_cell_[numbers[k]]], numbers[k], numbers[end - 1] + 1, values.data(),
                  band->rows.data() + begin, band->columns.data() + begin);
    std::copy(values.begin(), values.end(), of_band.begin() + static_cast<std::ptrdiff_t>(begin));
    k = end;
  }
  return band;
}

/// One of those that were asked for last, or a new one.
std::shared_ptr<const SavedMatrix::Band> SavedMatrix::band(Index number, Index first_column,
                                                           Index end_column) const {
  const std::vector<Index>& bands = tables_.cut_bands;
  first_column = *(std::upper_bound(bands.begin(), bands.end(), first_column) - 1);
  end_column = *std::lower_bound(bands.begin(), bands.end(), end_column);
  auto& kept = kept_->bands;
  {
    const std::lock_guard lock(kept_mutex_);
    const auto found = std::find_if(kept.begin(), kept.end(), [&](const auto& band) {
      return band->number == number && band->first_column <= first_column && band->end_column >= end_column;
    });
    if (found != kept.end()) {
      kept.splice(kept.begin(), kept, found);
      return kept.front();
    }
  }
  const auto band = with_type([&]<class V>(V) { return read_band<V>(number, first_column, end_column); });
  // Each thread goes through a band of a builder's, which meets two of the file's or so.
  const std::size_t most = 2 * std::max(std::thread::hardware_concurrency(), 1U);
  const std::lock_guard lock(kept_mutex_);
  kept.push_front(band);
  if (kept.size() > most) kept.pop_back();
  return band;
}

template <class Entry>
void SavedMatrix::entries(Index first_row, Index end_row, Index first_column, Index end_column,
                          std::vector<Entry>& out) const {
  constexpr bool real = std::is_same_v<Entry, SparseEntry>;
  if (real && hermitian_) throw hermitian_entries();
  end_column = std::min(end_column, end_row);  // those behind are above the diagonal
  if (first_row >= end_row || first_column >= end_column) return;
  const std::vector<Index>& bands = tables_.cut_bands;
  auto number = std::upper_bound(bands.begin(), bands.end(), first_row) - bands.begin() - 1;
  for (; bands[static_cast<std::size_t>(number)] < end_row; ++number) {
    const Index begin = std::max(first_row, bands[static_cast<std::size_t>(number)]),
                end = std::min(end_row, bands[static_cast<std::size_t>(number) + 1]);
    const Index last_column = std::min(end_column, bands[static_cast<std::size_t>(number) + 1]);
    if (first_column >= last_column) continue;
    const std::shared_ptr<const Band> of = band(number, first_column, last_column);
    for (const Band::Cell& cell : of->cells) {
      const auto row_at = [&](std::size_t e) { return cell.first_row + of->rows[e]; };
      const auto first = static_cast<std::size_t>(
          std::lower_bound(of->rows.begin() + static_cast<std::ptrdiff_t>(cell.begin),
                           of->rows.begin() + static_cast<std::ptrdiff_t>(cell.end), begin - cell.first_row,
                           [](std::uint16_t row, Index wanted) { return row < wanted; }) -
          of->rows.begin());
      for (std::size_t e = first; e < cell.end && row_at(e) < end; ++e) {
        const Index column = cell.first_column + of->columns[e];
        if (column >= first_column && column < end_column) {
          Entry entry{static_cast<std::uint32_t>(row_at(e) - first_row),
                      static_cast<std::uint32_t>(column - first_column),
                      {}};
          if constexpr (real)
            entry.value = of->values[e];
          else
            entry.value = hermitian_ ? of->complex_values[e] : of->values[e];
          out.push_back(entry);
        }
      }
    }
  }
}

}  // namespace tessera::detail

namespace tessera {

SavedRows SavedRows::open(const std::string& path) {
  return SavedRows(std::make_shared<const detail::SavedMatrix>(path));
}

Index SavedRows::order() const {
  return file_->order();
}
std::span<const Index> SavedRows::tiles() const {
  return file_->tables().tiles;
}
std::optional<RowFamilies> SavedRows::families(Index row) const {
  const detail::SavedTables& tables = file_->tables();
  if (tables.first_family.empty()) return std::nullopt;
  return RowFamilies{tables.first_family[static_cast<std::size_t>(row)],
                     tables.second_family[static_cast<std::size_t>(row)]};
}
void SavedRows::entries(Index first_row, Index end_row, Index first_column, Index end_column,
                        std::vector<SparseEntry>& out) const {
  file_->entries(first_row, end_row, first_column, end_column, out);
}
Index SavedRows::stored_entries() const noexcept {
  return file_->stored_entries();
}
void SavedRows::complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                                std::vector<ComplexSparseEntry>& out) const {
  file_->entries(first_row, end_row, first_column, end_column, out);
}
bool SavedRows::hermitian() const {
  return file_->hermitian();
}
int SavedRows::value_bytes() const noexcept {
  return file_->value_bytes();
}
const std::string& SavedRows::description() const noexcept {
  return file_->description();
}

}  // namespace tessera
