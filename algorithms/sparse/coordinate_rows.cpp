// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/checked_entries.hpp>
#include <tessera/algorithms/sparse/hermitian_rows.hpp>
#include <tessera/error.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

namespace {

void require_order(Index order) {
  if (order < 0) throw InvalidArgument("order", std::to_string(order), "0 or more");
}

void require_lengths(std::size_t places, std::size_t values) {
  if (places != values)
    throw InvalidArgument("values", fmt::format("{} values for {} places", values, places),
                          "as many as places");
}

void require_tiles(const std::vector<Index>& tiles, Index order) {
  if (tiles.empty()) return;
  const bool ascending =
      std::adjacent_find(tiles.begin(), tiles.end(), std::greater_equal<>()) == tiles.end();
  if (!ascending || tiles.front() != 0 || tiles.back() != order || tiles.size() < 2)
    throw InvalidArgument("tiles", fmt::format("{} numbers", tiles.size()),
                          "strictly ascending from 0 to the matrix's order");
}

void refuse_argument(Index row, Index column, const char* expected) {
  throw InvalidArgument("entries", fmt::format("({}, {})", row, column), expected);
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

/// Gathers entries, sorts them and keeps the lower triangle.
class CoordinateRows::Collector {
 public:
  /// Throws the error for a wrong entry: its place, and what was expected.
  using Refuse = std::function<void(Index row, Index column, const char* expected)>;
  Collector(Index order, Uplo triangle, Refuse refuse)
      : order_(order), triangle_(triangle), refuse_(std::move(refuse)) {}

  void add(Index row, Index column, std::complex<double> value) {
    if (row < 0 || row >= order_ || column < 0 || column >= order_)
      refuse_(row, column, "entries inside the matrix");
    if (triangle_ == Uplo::lower && column > row) refuse_(row, column, "entries of the lower triangle alone");
    if (triangle_ == Uplo::upper && column < row) refuse_(row, column, "entries of the upper triangle alone");
    if (!finite_value(value)) refuse_(row, column, "finite entries");
    if (row == column && value.imag() != 0) refuse_(row, column, "a real diagonal");
    largest_ = std::max(largest_, std::abs(value));
    entries_.push_back({std::max(row, column), std::min(row, column), column > row ? std::conj(value) : value,
                        column > row});
  }

  CoordinateRows finish(bool hermitian) {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.row, a.column, a.mirrored) < std::tie(b.row, b.column, b.mirrored);
    });
    CoordinateRows made;
    made.hermitian_ = hermitian;
    made.begins_.assign(static_cast<std::size_t>(order_ + 1), 0);
    for (std::size_t k = 0; k < entries_.size();) {
      const Entry& entry = entries_[k];
      std::size_t end = k + 1;
      while (end < entries_.size() && entries_[end].row == entry.row && entries_[end].column == entry.column)
        ++end;
      const bool pair = end - k == 2 && !entry.mirrored && entries_[k + 1].mirrored;
      if (end - k > 1 && !pair) refuse_(entry.row, entry.column, "every entry once");
      if (triangle_ == Uplo::general && entry.row != entry.column) {
        const std::complex<double> mirror = pair ? entries_[k + 1].value : 0.0;
        if (std::abs(entry.value - mirror) > 1e-13 * largest_)
          refuse_(entry.row, entry.column,
                  hermitian ? "a Hermitian matrix: the entry is not the conjugate of its mirror image"
                            : "a symmetric matrix: the entry differs from its mirror image");
      }
      if (triangle_ != Uplo::general && pair) refuse_(entry.row, entry.column, "every entry once");
      made.columns_.push_back(entry.column);
      made.values_.push_back(entry.value.real());
      if (hermitian) made.imaginary_.push_back(entry.value.imag());
      ++made.begins_[static_cast<std::size_t>(entry.row) + 1];
      k = end;
    }
    for (std::size_t i = 1; i < made.begins_.size(); ++i) made.begins_[i] += made.begins_[i - 1];
    return made;
  }

 private:
  Index order_;
  Uplo triangle_;
  Refuse refuse_;
  double largest_ = 0;
  std::vector<Entry> entries_;
};

template <class Value>
CoordinateRows CoordinateRows::of_coordinates(Index order, std::span<const Index> rows,
                                              std::span<const Index> columns, std::span<const Value> values,
                                              Uplo triangle, std::vector<Index> tiles) {
  require_order(order);
  require_lengths(rows.size(), columns.size());
  require_lengths(rows.size(), values.size());
  require_tiles(tiles, order);
  Collector collector(order, triangle, refuse_argument);
  for (std::size_t k = 0; k < rows.size(); ++k) collector.add(rows[k], columns[k], values[k]);
  CoordinateRows made = collector.finish(is_complex<Value>);
  made.tiles_ = std::move(tiles);
  return made;
}

template <class Value>
CoordinateRows CoordinateRows::of_compressed_rows(Index order, std::span<const Index> row_begins,
                                                  std::span<const Index> columns,
                                                  std::span<const Value> values, Uplo triangle,
                                                  std::vector<Index> tiles) {
  require_order(order);
  require_lengths(columns.size(), values.size());
  require_tiles(tiles, order);
  if (static_cast<Index>(row_begins.size()) != order + 1 || row_begins.front() != 0 ||
      row_begins.back() != static_cast<Index>(columns.size()) ||
      !std::is_sorted(row_begins.begin(), row_begins.end()))
    throw InvalidArgument("row_begins", fmt::format("{} numbers", row_begins.size()),
                          "order + 1 numbers that ascend from 0 to the number of entries");
  Collector collector(order, triangle, refuse_argument);
  for (Index i = 0; i < order; ++i)
    for (Index k = row_begins[i]; k < row_begins[i + 1]; ++k) collector.add(i, columns[k], values[k]);
  CoordinateRows made = collector.finish(is_complex<Value>);
  made.tiles_ = std::move(tiles);
  return made;
}

CoordinateRows CoordinateRows::from_coordinates(Index order, std::span<const Index> rows,
                                                std::span<const Index> columns,
                                                std::span<const double> values, Uplo triangle,
                                                std::vector<Index> tiles) {
  return of_coordinates(order, rows, columns, values, triangle, std::move(tiles));
}
CoordinateRows CoordinateRows::from_coordinates(Index order, std::span<const Index> rows,
                                                std::span<const Index> columns,
                                                std::span<const std::complex<double>> values, Uplo triangle,
                                                std::vector<Index> tiles) {
  return of_coordinates(order, rows, columns, values, triangle, std::move(tiles));
}

CoordinateRows CoordinateRows::from_compressed_rows(Index order, std::span<const Index> row_begins,
                                                    std::span<const Index> columns,
                                                    std::span<const double> values, Uplo triangle,
                                                    std::vector<Index> tiles) {
  return of_compressed_rows(order, row_begins, columns, values, triangle, std::move(tiles));
}
CoordinateRows CoordinateRows::from_compressed_rows(Index order, std::span<const Index> row_begins,
                                                    std::span<const Index> columns,
                                                    std::span<const std::complex<double>> values,
                                                    Uplo triangle, std::vector<Index> tiles) {
  return of_compressed_rows(order, row_begins, columns, values, triangle, std::move(tiles));
}

CoordinateRows CoordinateRows::from_matrix_market(const std::string& path) {
  MatrixMarketReader reader(path);
  require_hermitian_header<std::complex<double>>(reader);
  const MatrixMarketHeader& header = reader.header();
  const bool hermitian = header.field == MatrixMarketField::complex;
  require_host_memory(fmt::format("{}: a matrix of {} rows", path, header.rows),
                      sizeof(Index) * static_cast<double>(header.rows));
  const bool general = header.symmetry == MatrixMarketSymmetry::general;
  Collector collector(header.rows, Uplo::general, [&](Index row, Index column, const char* expected) {
    throw InputError(path, 0,
                     fmt::format("expected {}, at row {}, column {}", expected, row + 1, column + 1));
  });
  reader.for_each([&](Index row, Index column, std::complex<double> element) {
    if (header.format == MatrixMarketFormat::array && element == 0.0) return;
    collector.add(row, column, element);
    if (!general && row != column)
      collector.add(column, row,
                    header.symmetry == MatrixMarketSymmetry::hermitian ? std::conj(element) : element);
  });
  return collector.finish(hermitian);
}

template <class Visit>
void CoordinateRows::for_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                                 const Visit& visit) const {
  for (Index i = first_row; i < end_row; ++i) {
    const auto begin = columns_.begin() + begins_[i], end = columns_.begin() + begins_[i + 1];
    for (auto j = std::lower_bound(begin, end, first_column); j != end && *j < end_column; ++j)
      visit(static_cast<std::uint32_t>(i - first_row), static_cast<std::uint32_t>(*j - first_column),
            static_cast<std::size_t>(j - columns_.begin()));
  }
}

void CoordinateRows::entries(Index first_row, Index end_row, Index first_column, Index end_column,
                             std::vector<SparseEntry>& out) const {
  if (hermitian_) throw hermitian_entries();
  for_entries(first_row, end_row, first_column, end_column,
              [&](std::uint32_t row, std::uint32_t column, std::size_t at) {
                out.push_back({row, column, values_[at]});
              });
}

void CoordinateRows::complex_entries(Index first_row, Index end_row, Index first_column, Index end_column,
                                     std::vector<ComplexSparseEntry>& out) const {
  for_entries(first_row, end_row, first_column, end_column,
              [&](std::uint32_t row, std::uint32_t column, std::size_t at) {
                out.push_back({row, column, {values_[at], hermitian_ ? imaginary_[at] : 0}});
              });
}

}  // namespace tessera
