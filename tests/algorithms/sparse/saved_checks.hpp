// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>

#include <fmt/format.h>
#include <tests/algorithms/sparse/csb_checks.hpp>
#include <tests/support/temporary_file.hpp>

#include <tessera/algorithms/sparse/saved_tables.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>
#include <tessera/saved_rows.hpp>

namespace tessera::test {

/// ListRows with families.
class FamilyRows final : public SymmetricRows {
 public:
  explicit FamilyRows(ListRows rows) : rows_(std::move(rows)) {}
  static RowFamilies of(Index row) {
    return {static_cast<std::uint32_t>(row % 7), static_cast<std::uint32_t>(row / 3)};
  }
  Index order() const override { return rows_.order(); }
  std::span<const Index> tiles() const override { return rows_.tiles(); }
  std::optional<RowFamilies> families(Index row) const override { return of(row); }
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override {
    rows_.entries(first_row, end_row, first_column, end_column, out);
  }
  const ListRows& lists() const { return rows_; }

 private:
  ListRows rows_;
};

/// The product with numbers that are not exact: equal bits need equal orders of the sums.
template <class T>
std::vector<T> inexact_product(Runtime& runtime, const SymmetricOperator<T>& a) {
  std::vector<double> x(static_cast<std::size_t>(a.order() * 2));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = random_uniform(5, 1, static_cast<Index>(i), 0);
  return product<T>(runtime, a, x, 2);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// A matrix that was loaded has the numbers of the rows, in products with integers (exact) and otherwise.
template <class V, class T>
void expect_matrix_of(Runtime& runtime, const CsbMatrix<V, T>& a, const ListRows& rows) {
  EXPECT_EQ(a.order(), rows.order());
  EXPECT_EQ(a.stored_entries(), rows.stored());
  EXPECT_EQ(a.norm_bound(), rows.norm());
  for (const Index m : {1, 3}) {
    const std::vector<double> x = whole_block(rows.order(), m, 3), expected = rows.multiply(x, m);
    const std::vector<T> y = product<T>(runtime, a, x, m);
    EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin())) << m << " columns";
  }
}

/// All that a file has, to be changed.
template <class V>
struct SavedParts {
  detail::SavedTables tables;
  std::string format{detail::saved_format};
  std::vector<V> values;
  std::vector<std::uint16_t> rows, columns;

  explicit SavedParts(const std::string& path) {
    detail::Hdf5File file = detail::Hdf5File::open(path);
    const auto read = [&](const char* name, auto& list) {
      list.resize(static_cast<std::size_t>(file.length(name)));
      file.read_elements(name, 0, static_cast<Index>(list.size()), list.data());
    };
    detail::SavedTables::for_all(tables, read);
    read(detail::saved_value, values);
    read(detail::saved_row_in_cell, rows);
    read(detail::saved_column_in_cell, columns);
  }
  /// Checksums of cells that fit what is in them now.
  void sum_cells() {
    std::size_t at = 0;
    for (std::size_t c = 0; c < tables.cell_entries.size(); ++c) {
      const auto count = static_cast<std::size_t>(tables.cell_entries[c]);
      tables.cell_checksum[c] =
          detail::cell_checksum(values.data() + at, sizeof(V), rows.data() + at, columns.data() + at, count);
      at += count;
    }
  }
  void write(const std::string& path) const {
    detail::Hdf5File file = detail::Hdf5File::create(path);
    file.write_attribute("format", format);
    file.write_attribute("checksum", fmt::format("{:08x}", tables.checksum()));
    const auto put = [&]<class Element>(const char* name, const std::vector<Element>& list) {
      file.create_array<Element>(name, static_cast<Index>(list.size()));
      file.write_elements(name, 0, static_cast<Index>(list.size()), list.data());
    };
    detail::SavedTables::for_all(tables, put);
    put(detail::saved_value, values);
    put(detail::saved_row_in_cell, rows);
    put(detail::saved_column_in_cell, columns);
    file.close();
  }
};

}  // namespace tessera::test
