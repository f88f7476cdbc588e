// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operation_problem.hpp"

/// Checks of reductions against loops over dense matrices.
namespace tessera::test {

/// All ranks have bitwise this number.
inline void expect_everywhere(Runtime& runtime, double x) {
  double bounds[2] = {x, -x};
  runtime.all_reduce_max(bounds, 2);
  EXPECT_EQ(bounds[0], x);
  EXPECT_EQ(bounds[1], -x);
}

/// `got` up to the roundings of sums of terms that are `size` together in modulus, in double.
inline void expect_number(Runtime& runtime, double got, double expected, double size) {
  EXPECT_NEAR(got, expected, 4e-15 * (size + 1));
  expect_everywhere(runtime, got);
}

template <class T>
void expect_scalar(Runtime& runtime, T got, std::complex<double> expected, double size) {
  const double rounding = std::max<double>(4e-15, precision<T>) * (size + 1);
  EXPECT_NEAR(double(real_part(got)), expected.real(), rounding);
  EXPECT_NEAR(double(imag_part(got)), expected.imag(), rounding);
  expect_everywhere(runtime, real_part(got));
  expect_everywhere(runtime, imag_part(got));
}

template <class T>
std::complex<double> wide(T x) {
  return {double(real_part(x)), double(imag_part(x))};
}

template <class T>
void check_norms(Runtime& runtime, const BlockLayout& layout, double occupied = 0.5) {
  auto [a, x] = make_problem<T>(runtime, layout, 41, occupied);
  std::complex<double> trace_sum(0);
  double squares = 0, largest = 0, rows_largest = 0, by_position = 0, moduli = 0;
  std::vector<double> columns(std::size_t(x.cols()), 0.0);
  for (Index i = 0; i < x.rows(); ++i) {
    double row = 0;
    for (Index j = 0; j < x.cols(); ++j) {
      const auto e = wide(x(i, j));
      if (i == j) trace_sum += e;
      squares += std::norm(e);
      largest = std::max(largest, std::abs(e));
      row += std::abs(e);
      columns[std::size_t(j)] += std::norm(e);
      const double place = double(i + 1) * (std::sqrt(5.0) - 1) / 2 + double(j + 1) * (std::sqrt(2.0) - 1);
      by_position += (e.real() + e.imag() / 2) * (0.5 + place - std::floor(place));
    }
    rows_largest = std::max(rows_largest, row);
    moduli += row;
  }
  expect_scalar(runtime, trace(a), trace_sum, moduli);
  expect_number(runtime, frobenius_norm(a), std::sqrt(squares), std::sqrt(squares));
  expect_number(runtime, max_abs_norm(a), largest, largest);
  expect_number(runtime, gershgorin_norm(a), rows_largest, rows_largest);
  expect_number(runtime, checksum(a), squares, squares);
  expect_number(runtime, checksum(a, true), by_position, 3 * moduli);
  const std::vector<double> norms = column_norms(a);
  ASSERT_EQ(norms.size(), columns.size());
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double norm = std::sqrt(columns[j]);
    expect_number(runtime, norms[j], norm, norm);
  }
  double stored = 0;
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      if (chosen(41, layout.symmetry, i, j, occupied))
        stored += double(layout.rows->size(i) * layout.cols->size(j));
  const double all = double(x.rows() * x.cols());
  expect_number(runtime, occupation(a), all == 0 ? 0 : stored / all, 1);
}

template <class T>
void check_block_norms(Runtime& runtime, const BlockLayout& layout) {
  auto [a, x] = make_problem<T>(runtime, layout, 42);
  const auto norms = block_norms_squared(a);
  ASSERT_EQ(Index(norms.size()), a.pattern().panels());
  for (Index p = 0; p < a.pattern().panels(); ++p) {
    const auto coordinates = a.pattern().coordinates(p);
    ASSERT_EQ(norms[std::size_t(p)].size(), coordinates.size());
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      double sum = 0;
      const auto [bi, bj] = coordinates[b];
      for (Index i = layout.rows->first(bi); i < layout.rows->first(bi + 1); ++i)
        for (Index j = layout.cols->first(bj); j < layout.cols->first(bj + 1); ++j)
          sum += std::norm(wide(x(i, j)));
      expect_number(runtime, norms[std::size_t(p)][b], sum, sum);
    }
  }
}

template <class T>
void check_dot(Runtime& runtime, const BlockLayout& layout, const BlockLayout& other) {
  auto [a, x] = make_problem<T>(runtime, layout, 43);
  auto [b, y] = make_problem<T>(runtime, other, 44);
  std::complex<double> sum(0), itself(0);
  double moduli = 0;
  for (Index j = 0; j < x.cols(); ++j)
    for (Index i = 0; i < x.rows(); ++i) {
      sum += std::conj(wide(x(i, j))) * wide(y(i, j));
      itself += std::norm(wide(x(i, j)));
      moduli += std::abs(wide(x(i, j))) * std::abs(wide(y(i, j)));
    }
  expect_scalar(runtime, dot(a, b), sum, moduli);
  expect_scalar(runtime, dot(a, a), itself, itself.real());
}

/// A checksum tells elements, signs, conjugates and places apart, but not zero blocks and distributions.
template <class T>
void check_checksum(Runtime& runtime, const BlockLayout& layout, const BlockLayout& other) {
  auto [a, x] = make_problem<T>(runtime, layout, 45, 0.6);
  auto [b, y] = make_problem<T>(runtime, other, 45, 0.6);
  const double plain = checksum(a), placed = checksum(a, true);
  const double rounding = 1e-13 * (std::abs(plain) + 1);
  EXPECT_NEAR(checksum(b), plain, rounding);
  EXPECT_NEAR(checksum(b, true), placed, rounding);
  const std::vector<BlockCoordinate> zero{{5, 2}, {7, 7}, {2, 2}};
  reserve_blocks(b, std::span<const BlockCoordinate>(zero));
  EXPECT_NEAR(checksum(b), plain, rounding);
  EXPECT_NEAR(checksum(b, true), placed, rounding);
  run_sequence(runtime, [&, &m = b](Sequence& sequence) { scale(sequence, T(-1), m); });
  EXPECT_NEAR(checksum(b), plain, rounding);
  EXPECT_GT(std::abs(checksum(b, true) - placed), 1e-3);
  const double moved = checksum(a, true);
  BlockSparseMatrix<T> c;
  run_sequence(runtime, [&, &m = a](Sequence& sequence) { c = transpose(sequence, m, is_complex<T>); });
  if (layout.symmetry == Symmetry::none) {
    EXPECT_GT(std::abs(checksum(c, true) - moved), 1e-3);
  }
}

template <class T>
void check_reductions(Runtime& runtime, unsigned seed) {
  const std::vector<Index> sizes = mixed_sizes();
  for (const Symmetry symmetry : all_symmetries) {
    SCOPED_TRACE(::testing::Message() << type_letter<T> << " symmetry " << static_cast<char>(symmetry)
                                      << " seed " << seed << " rank " << runtime.rank());
    const BlockLayout first = random_layout(runtime, sizes, sizes, symmetry, seed);
    const BlockLayout second = random_layout(runtime, sizes, sizes, symmetry, seed + 1);
    check_norms<T>(runtime, first);
    check_norms<T>(runtime, second, 0);
    check_block_norms<T>(runtime, first);
    check_checksum<T>(runtime, first, second);
    for (const Symmetry other : all_symmetries) {
      SCOPED_TRACE(::testing::Message() << "with symmetry " << static_cast<char>(other));
      BlockLayout same_places = first;
      same_places.symmetry = other;
      check_dot<T>(runtime, first, same_places);
      check_dot<T>(runtime, first, random_layout(runtime, sizes, sizes, other, seed + 3));
    }
  }
}

template <class T>
void check_rectangular_reductions(Runtime& runtime, const std::vector<Index>& rows,
                                  const std::vector<Index>& cols, unsigned seed) {
  SCOPED_TRACE(::testing::Message() << type_letter<T> << " seed " << seed << " rank " << runtime.rank());
  const BlockLayout first = random_layout(runtime, rows, cols, Symmetry::none, seed);
  const BlockLayout second = random_layout(runtime, rows, cols, Symmetry::none, seed + 1);
  check_norms<T>(runtime, first);
  check_block_norms<T>(runtime, first);
  check_dot<T>(runtime, first, second);
}

}  // namespace tessera::test
