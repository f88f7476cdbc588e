// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <complex>
#include <map>

#include <tests/codelets/sparse/csb_piece.hpp>
#include <tests/support/hermitian_rows.hpp>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/sparse/csb_piece_rows.hpp>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>

/// Pieces of complex Hermitian matrices: kernels of all instruction sets, and the triangles by rows for GPUs.
namespace tessera::test {
namespace {

using Number = std::complex<double>;

/// The value of an entry of the piece; real on the matrix's diagonal.
Number value_of(const TestPiece& piece, const PieceEntry& entry) {
  if (piece.shape.on_diagonal && entry.row == entry.column) return entry.value;
  return {entry.value, std::floor(8 * random_uniform(3, 4, entry.row, entry.column))};
}

template <class V>
std::vector<std::byte> complex_bytes(const TestPiece& piece) {
  std::vector<std::byte> memory = piece.bytes<V>();
  const CsbPieceSizes sizes = csb_piece_sizes(piece.shape.cell_count, piece.shape.entry_count, sizeof(V));
  for (std::size_t e = 0; e < piece.entries.size(); ++e) {
    const V value(value_of(piece, piece.entries[e]));
    std::memcpy(memory.data() + sizes.values_offset + e * sizeof(V), &value, sizeof value);
  }
  return memory;
}

template <class V>
CsbPieceView<V> view_of(const TestPiece& piece, const std::vector<std::byte>& memory) {
  return csb_view<V>(memory.data(), piece.shape.cell_count, piece.shape.entry_count, piece.shape.on_diagonal);
}

std::vector<TestPiece> pieces() {
  return {random_piece({0, 7, 8, 30}, {0, 1, 20, 33}, false, 0.4, 5, 50),
          random_piece({0, 3, 4, 25}, {0, 3, 4, 25}, true, 0.5, 6, 17),
          random_piece({0, 60}, {0, 50}, false, 1, 7), random_piece({0, 1}, {0, 1}, true, 1, 8)};
}

template <class P>
class ComplexPieces : public ::testing::Test {};
TYPED_TEST_SUITE(ComplexPieces, ComplexPairs);

template <class V, class T>
using Kernel = void (*)(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, std::int64_t, T*,
                        std::int64_t, T*, std::int64_t) noexcept;

TYPED_TEST(ComplexPieces, AllNumbersOfColumnsAtAllLevels) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  std::vector<Kernel<V, T>> all{kernels::multiply_csb<V, T>, kernels::level2::multiply_csb<V, T>};
  if constexpr (kernels::highest_cpu_level >= 3)
    if (kernels::cpu_level() >= 3) all.push_back(kernels::level3::multiply_csb<V, T>);
  if constexpr (kernels::highest_cpu_level >= 4)
    if (kernels::cpu_level() >= 4) all.push_back(kernels::level4::multiply_csb<V, T>);
  for (const TestPiece& piece : pieces()) {
    const std::vector<std::byte> memory = complex_bytes<V>(piece);
    const bool diagonal = piece.shape.on_diagonal;
    for (int columns = 1; columns <= 32; ++columns) {
      const Index width = columns % 2 == 0 ? columns : columns + 1;
      const auto block = [&](Index rows, std::uint64_t seed) {
        std::vector<T> x;
        for (const Number& element : complex_block(rows, width, seed)) x.push_back(T(element));
        // Columns that take no part.
        for (std::size_t i = 0; i < x.size(); ++i)
          if (static_cast<Index>(i) % width >= columns) x[i] = not_a_number<T>();
        return x;
      };
      const auto x_columns = block(piece.columns, 1), x_rows = diagonal ? x_columns : block(piece.rows, 2),
                 y_rows = block(piece.rows, 3), y_columns = block(piece.columns, 4);
      std::vector<Number> rows(y_rows.begin(), y_rows.end()), cols(y_columns.begin(), y_columns.end());
      std::vector<Number>& of_columns = diagonal ? rows : cols;
      for (const PieceEntry& entry : piece.entries)
        for (Index j = 0; j < columns; ++j) {
          const Number value = value_of(piece, entry);
          const auto at = [&](Index row) { return static_cast<std::size_t>(row * width + j); };
          rows[at(entry.row)] += value * Number(x_columns[at(entry.column)]);
          if (!diagonal || entry.row != entry.column)
            of_columns[at(entry.column)] += std::conj(value) * Number(x_rows[at(entry.row)]);
        }
      for (const Kernel<V, T> kernel : all) {
        auto found_rows = y_rows, found_columns = y_columns;
        kernel(view_of<V>(piece, memory), columns, x_columns.data(), width, x_rows.data(), width,
               found_rows.data(), width, diagonal ? found_rows.data() : found_columns.data(), width);
        const auto expect_same = [&](const std::vector<T>& found, const std::vector<Number>& expected) {
          for (std::size_t i = 0; i < found.size(); ++i) {
            if (static_cast<Index>(i) % width >= columns)
              ASSERT_TRUE(std::isnan(found[i].real()));
            else
              ASSERT_EQ(Number(found[i]), expected[i]) << columns << " columns, element " << i;
          }
        };
        expect_same(found_rows, rows);
        if (!diagonal) expect_same(found_columns, cols);
      }
    }
  }
}

/// The second side has the conjugate values.
TYPED_TEST(ComplexPieces, TrianglesByRows) {
  using V = typename TypeParam::V;
  for (const TestPiece& piece : pieces()) {
    const std::vector<std::byte> memory = complex_bytes<V>(piece);
    const CsbPieceView<V> parts[] = {view_of<V>(piece, memory)};
    const bool diagonal = piece.shape.on_diagonal;
    const PieceRows<V> rows(parts, piece.rows, piece.columns, CsbOrders{}, 2, CsbSides::both);
    std::map<std::pair<Index, Index>, Number> expected,
        found;  // by row of Y, those of Y_J behind, and row of X
    for (const PieceEntry& entry : piece.entries) {
      const Number value = value_of(piece, entry);
      expected[{entry.row, entry.column}] = value;
      if (!diagonal || entry.row != entry.column)
        expected[{(diagonal ? 0 : piece.rows) + entry.column, entry.row}] = std::conj(value);
    }
    for (Index row = 0; row < rows.count(); ++row)
      for (auto e = rows.range(row, 0).begin; e < rows.range(row, 0).end; ++e)
        found[{row, Index(rows.x[static_cast<std::size_t>(e)])}] =
            Number(rows.values[static_cast<std::size_t>(e)]);
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace tessera::test
