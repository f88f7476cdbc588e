// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/sparse/csb_piece.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>
#include <tests/support/type_pairs.hpp>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class P>
class MultiplyCsb : public RuntimeTest<P, true> {};
TYPED_TEST_SUITE(MultiplyCsb, TypePairs);

template <class V, class T>
using Kernel = void (*)(const CsbPieceView<V>&, int, const T*, std::int64_t, const T*, std::int64_t, T*,
                        std::int64_t, T*, std::int64_t) noexcept;

/// The instruction set levels of this processor, and the dispatching function.
template <class V, class T>
std::vector<Kernel<V, T>> kernels_here() {
  std::vector<Kernel<V, T>> result{kernels::multiply_csb<V, T>, kernels::level2::multiply_csb<V, T>};
  if constexpr (kernels::highest_cpu_level >= 3)
    if (kernels::cpu_level() >= 3) result.push_back(kernels::level3::multiply_csb<V, T>);
  if constexpr (kernels::highest_cpu_level >= 4)
    if (kernels::cpu_level() >= 4) result.push_back(kernels::level4::multiply_csb<V, T>);
  return result;
}

/// Columns that take no part contain NaN, which must neither spread nor be overwritten.
template <class V, class T>
void check_kernels(const TestPiece& piece, int columns, Index width) {
  const bool diagonal = piece.shape.on_diagonal;
  const auto hide = [&](std::vector<T> x) {
    for (std::size_t i = 0; i < x.size(); ++i)
      if (static_cast<Index>(i) % width >= columns) x[i] = not_a_number<T>();
    return x;
  };
  const auto x_columns = hide(whole_numbers<T>(piece.columns * width, 1)),
             x_rows = diagonal ? x_columns : hide(whole_numbers<T>(piece.rows * width, 2)),
             y_rows = hide(whole_numbers<T>(piece.rows * width, 3)),
             y_columns = hide(whole_numbers<T>(piece.columns * width, 4));
  auto expected_rows = y_rows, expected_columns = y_columns;
  multiply_plainly(piece, columns, width, x_columns, x_rows, expected_rows,
                   diagonal ? expected_rows : expected_columns);
  const auto memory = piece.bytes<V>();
  const auto view = csb_view<V>(memory.data(), piece.shape.cell_count, piece.shape.entry_count, diagonal);
  int number = 0;
  for (const Kernel<V, T> kernel : kernels_here<V, T>()) {
    auto rows = y_rows, cols = y_columns;
    kernel(view, columns, x_columns.data(), width, x_rows.data(), width, rows.data(), width,
           diagonal ? rows.data() : cols.data(), width);
    const auto equal = [](const std::vector<T>& a, const std::vector<T>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                        [](T p, T q) { return p == q || (std::isnan(p) && std::isnan(q)); });
    };
    ASSERT_TRUE(equal(rows, expected_rows))
        << "rows, " << columns << " of " << width << ", kernel " << number;
    ASSERT_TRUE(equal(cols, expected_columns))
        << "columns, " << columns << " of " << width << ", kernel " << number;
    ++number;
  }
}

TYPED_TEST(MultiplyCsb, AllNumbersOfColumns) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  const TestPiece pair = random_piece({0, 7, 8, 30}, {0, 1, 20, 33}, false, 0.4, 5, 50),
                  diagonal = random_piece({0, 3, 4, 25}, {0, 3, 4, 25}, true, 0.5, 6, 17);
  for (int columns = 1; columns <= 32; ++columns)
    for (const Index width : {columns, columns + 1, 32}) {
      if (width < columns) continue;
      check_kernels<V, T>(pair, columns, width);
      check_kernels<V, T>(diagonal, columns, width);
    }
}

TYPED_TEST(MultiplyCsb, Shapes) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  for (const double density : {0.0, 0.02, 1.0})
    for (const Index rows : {1, 2, 40})
      for (const Index columns : {1, 3, 50}) {
        check_kernels<V, T>(random_piece({0, rows}, {0, columns}, false, density, 7, 64), 5, 6);
        check_kernels<V, T>(random_piece({0, rows}, {0, rows}, true, density, 8, 64), 4, 4);
      }
  // Full cells of 16384 entries, split within a row.
  check_kernels<V, T>(random_piece({0, 150}, {0, 230}, false, 1, 9), 8, 8);
  check_kernels<V, T>(random_piece({0, 300}, {0, 300}, true, 1, 10), 3, 4);
}

/// The full range of 16-bit coordinates, in a cell far from the beginning.
TYPED_TEST(MultiplyCsb, LargestCoordinates) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  TestPiece piece;
  piece.rows = piece.columns = 100 + csb_cell_rows;
  for (const Index row : {0, 1, 32767, 32768, 65534, 65535})
    for (const Index column : {0, 32768, 65535})
      piece.entries.push_back({100 + row, 100 + column, static_cast<double>(1 + row % 7 + column % 3)});
  piece.cells.push_back({0, 100, 100, static_cast<std::uint32_t>(piece.entries.size()), 65535, 65535});
  piece.shape = {1, static_cast<Index>(piece.entries.size()), false};
  check_kernels<V, T>(piece, 2, 3);
}

/// A task adds to y, or overwrites a y that was never written.
TYPED_TEST(MultiplyCsb, Tasks) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  Runtime& runtime = this->runtime();
  const Index width = 7;
  const int columns = 5;
  for (const bool on_diagonal : {false, true}) {
    const TestPiece piece = on_diagonal ? random_piece({0, 9, 20}, {0, 9, 20}, true, 0.4, 11)
                                        : random_piece({0, 9, 20}, {0, 31}, false, 0.4, 12);
    const auto x_columns = whole_numbers<T>(piece.columns * width, 1),
               x_rows = on_diagonal ? x_columns : whole_numbers<T>(piece.rows * width, 2);
    std::vector<T> y_rows(static_cast<std::size_t>(piece.rows * width)),
        y_columns(static_cast<std::size_t>(piece.columns * width));
    for (int time = 0; time < 2; ++time)
      multiply_plainly(piece, columns, width, x_columns, x_rows, y_rows, on_diagonal ? y_rows : y_columns);
    const auto as_matrix = [&](const std::vector<T>& vectors) {
      Matrix<T> a(width, static_cast<Index>(vectors.size()) / width);
      std::copy(vectors.begin(), vectors.end(), a.data());
      return a;
    };
    const Data stored = upload(runtime, piece.bytes<V>()), xc = upload(runtime, as_matrix(x_columns)),
               xr = upload(runtime, as_matrix(x_rows)),
               yr = Data::matrix(runtime, width, piece.rows, sizeof(T)),
               yc = Data::matrix(runtime, width, piece.columns, sizeof(T));
    SequenceStatistics statistics;
    {
      Sequence sequence(runtime);
      for (int time = 0; time < 2; ++time)
        insert_multiply_csb(sequence, detail::MultiplyCsb<V, T>{.piece = stored,
                                                                .x_columns = xc,
                                                                .y_rows = yr,
                                                                .x_rows = on_diagonal ? xc : xr,
                                                                .y_columns = on_diagonal ? yr : yc,
                                                                .shape = piece.shape,
                                                                .columns = columns});
      ASSERT_TRUE(sequence.wait().ok());
      statistics = sequence.statistics();
    }
    EXPECT_EQ(difference(download<T>(yr), as_matrix(y_rows)), 0);
    if (!on_diagonal) {
      EXPECT_EQ(difference(download<T>(yc), as_matrix(y_columns)), 0);
    }
    ASSERT_EQ(statistics.codelets.size(), 1u);
    EXPECT_EQ(statistics.codelets[0].flops, 2 * 4.0 * columns * static_cast<double>(piece.shape.entry_count));
  }
}

/// A CPU reads the piece and not the index, so it would omit entries that only the index has, and
/// multiply entries that the index omits.
TYPED_TEST(MultiplyCsb, RefusesWhatOnlyAnIndexCanSay) {
  using V = typename TypeParam::V;
  using T = typename TypeParam::T;
  Runtime& runtime = this->runtime();
  const TestPiece piece = random_piece({0, 9}, {0, 9}, false, 0.4, 11);
  const Data stored = upload(runtime, piece.bytes<V>()),
             x = Data::matrix(runtime, 2, piece.columns, sizeof(T)),
             y = Data::matrix(runtime, 2, piece.rows, sizeof(T));
  Sequence sequence(runtime);
  CsbPieceShape more = piece.shape, one_side = piece.shape;
  more.more_entries = 1;
  one_side.sides = CsbSides::rows;
  for (const CsbPieceShape& shape : {more, one_side})
    expect_refused("shape", [&] {
      insert_multiply_csb(sequence, detail::MultiplyCsb<V, T>{.piece = stored,
                                                              .x_columns = x,
                                                              .y_rows = y,
                                                              .x_rows = x,
                                                              .y_columns = y,
                                                              .shape = shape,
                                                              .columns = 2});
    });
}

TYPED_TEST(MultiplyCsb, Magnitudes) {
  using V = typename TypeParam::V;
  Runtime& runtime = this->runtime();
  for (const bool on_diagonal : {false, true}) {
    const TestPiece piece = on_diagonal ? random_piece({0, 9, 20}, {0, 9, 20}, true, 0.4, 13)
                                        : random_piece({0, 20}, {0, 31}, false, 0.4, 14);
    Matrix<double> rows(1, piece.rows), columns(1, piece.columns);
    for (const PieceEntry& entry : piece.entries) {
      rows(0, entry.row) += std::abs(entry.value);
      if (!on_diagonal || entry.row != entry.column)
        (on_diagonal ? rows : columns)(0, entry.column) += std::abs(entry.value);
    }
    const Data stored = upload(runtime, piece.bytes<V>()),
               of_rows = Data::matrix(runtime, 1, piece.rows, sizeof(double)),
               of_columns = Data::matrix(runtime, 1, piece.columns, sizeof(double));
    const auto add = [&](Sequence& s, const CsbPieceShape& shape) {
      s.insert(CsbMagnitudes<V>{.piece = stored,
                                .rows = shape.adds_to_rows() ? &of_rows : nullptr,
                                .columns = shape.adds_to_columns() ? &of_columns : nullptr,
                                .shape = shape});
    };
    ASSERT_TRUE(this->run([&](Sequence& s) { add(s, piece.shape); }).ok());
    EXPECT_EQ(difference(download<double>(of_rows), rows), 0);
    if (on_diagonal) continue;
    EXPECT_EQ(difference(download<double>(of_columns), columns), 0);
    // Both sides, then each side alone, must give twice the sum.
    ASSERT_TRUE(this->run([&](Sequence& s) {
                      add(s, piece.shape);
                      for (const CsbSides sides : {CsbSides::rows, CsbSides::columns}) {
                        CsbPieceShape shape = piece.shape;
                        shape.sides = sides;
                        add(s, shape);
                      }
                    })
                    .ok());
    for (Matrix<double>* sums : {&rows, &columns})
      for (Index i = 0; i < sums->cols(); ++i) (*sums)(0, i) *= 2;
    EXPECT_LT(difference(download<double>(of_rows), rows), 1e-14);
    EXPECT_LT(difference(download<double>(of_columns), columns), 1e-14);
  }
}

}  // namespace
}  // namespace tessera::test
