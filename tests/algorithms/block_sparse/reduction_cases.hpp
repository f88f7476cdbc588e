// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operation_problem.hpp"

/// Checks reductions against loops over dense matrices.
namespace tessera::operations_test {
using namespace detail;

/// Collects numbers that must be bitwise equal on all ranks; the destructor compares them.
class SameEverywhere {
 public:
  explicit SameEverywhere(Runtime& runtime) : runtime_(runtime) {}
  ~SameEverywhere() {
    std::vector<double> bounds = numbers_;
    for (const double x : numbers_) bounds.push_back(-x);
    runtime_.all_reduce_max(bounds.data(), Index(bounds.size()));
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      EXPECT_EQ(bounds[i], numbers_[i]);
      EXPECT_EQ(bounds[numbers_.size() + i], -numbers_[i]);
    }
  }
  SameEverywhere(const SameEverywhere&) = delete;
  SameEverywhere& operator=(const SameEverywhere&) = delete;

  /// Compares up to rounding errors, in double, of sums whose terms have total modulus `size`.
  void number(double got, double expected, double size) {
    EXPECT_NEAR(got, expected, 4e-15 * (size + 1));
    numbers_.push_back(got);
  }
  /// The same with a final rounding to T.
  template <class T>
  void scalar(T got, std::complex<double> expected, double size) {
    const double rounding = std::max<double>(4e-15, precision<T>) * (size + 1);
    EXPECT_NEAR(double(real_part(got)), expected.real(), rounding);
    EXPECT_NEAR(double(imag_part(got)), expected.imag(), rounding);
    numbers_.push_back(real_part(got));
    numbers_.push_back(imag_part(got));
  }

 private:
  Runtime& runtime_;
  std::vector<double> numbers_;
};

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
  SameEverywhere all(runtime);
  all.scalar(trace(a), trace_sum, moduli);
  all.number(frobenius_norm(a), std::sqrt(squares), std::sqrt(squares));
  all.number(max_abs_norm(a), largest, largest);
  all.number(gershgorin_norm(a), rows_largest, rows_largest);
  all.number(checksum(a), squares, squares);
  all.number(checksum(a, true), by_position, 3 * moduli);
  const std::vector<double> norms = column_norms(a);
  ASSERT_EQ(norms.size(), columns.size());
  for (std::size_t j = 0; j < norms.size(); ++j) {
    const double norm = std::sqrt(columns[j]);
    all.number(norms[j], norm, norm);
  }
  double stored = 0;
  for (Index i = 0; i < a.block_rows(); ++i)
    for (Index j = 0; j < a.block_cols(); ++j)
      if (chosen(41, layout.symmetry, i, j, occupied))
        stored += double(layout.rows->size(i) * layout.cols->size(j));
  const double elements = double(x.rows() * x.cols());
  all.number(occupation(a), elements == 0 ? 0 : stored / elements, 1);
}

template <class T>
void check_block_norms(Runtime& runtime, const BlockLayout& layout) {
  auto [a, x] = make_problem<T>(runtime, layout, 42);
  const auto norms = block_norms_squared(a);
  const auto pattern = a.pattern().gathered();
  SameEverywhere all(runtime);
  ASSERT_EQ(Index(norms.size()), a.pattern().panels());
  for (Index p = 0; p < a.pattern().panels(); ++p) {
    const auto coordinates = pattern->coordinates(p);
    ASSERT_EQ(norms[std::size_t(p)].size(), coordinates.size());
    for (std::size_t b = 0; b < coordinates.size(); ++b) {
      double sum = 0;
      const auto [bi, bj] = coordinates[b];
      for (Index i = layout.rows->first(bi); i < layout.rows->first(bi + 1); ++i)
        for (Index j = layout.cols->first(bj); j < layout.cols->first(bj + 1); ++j)
          sum += std::norm(wide(x(i, j)));
      all.number(norms[std::size_t(p)][b], sum, sum);
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
  SameEverywhere all(runtime);
  all.scalar(dot(a, b), sum, moduli);
  all.scalar(dot(a, a), itself, itself.real());
}

/// A checksum must distinguish elements, signs, conjugates and positions, but not zero blocks or
/// distributions.
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
  BlockSparseMatrix<T> c;
  run_sequence(runtime, [&, &m = a](Sequence& sequence) { c = transpose(sequence, m, is_complex<T>); });
  if (layout.symmetry == Symmetry::none) {
    EXPECT_GT(std::abs(checksum(c, true) - placed), 1e-3);
  }
}

template <class T>
void check_reductions(Runtime& runtime, unsigned seed,
                      const std::vector<Symmetry>& symmetries = all_symmetries) {
  const std::vector<Index> sizes = mixed_sizes();
  for_each_symmetry<T>(
      runtime, seed, symmetries, [&](Symmetry symmetry, const BlockLayout& first, const BlockLayout& second) {
        check_norms<T>(runtime, first);
        check_norms<T>(runtime, second, 0);
        check_block_norms<T>(runtime, first);
        check_checksum<T>(runtime, first, second);
        for (const Symmetry other : symmetries) {
          SCOPED_TRACE(::testing::Message() << "with symmetry " << static_cast<char>(other));
          // The same layout if both matrices are half-stored or neither is; always another layout
          // too.
          BlockLayout partner = first;
          partner.symmetry = other;
          if ((symmetry == Symmetry::none) == (other == Symmetry::none))
            check_dot<T>(runtime, first, partner);
          check_dot<T>(runtime, first, random_layout(runtime, sizes, sizes, other, seed + 3));
        }
      });
}

template <class T>
void check_rectangular_reductions(Runtime& runtime, const std::vector<Index>& rows,
                                  const std::vector<Index>& cols, unsigned seed) {
  for_rectangle<T>(runtime, rows, cols, seed, [&](const BlockLayout& first, const BlockLayout& second) {
    check_norms<T>(runtime, first);
    check_block_norms<T>(runtime, first);
    check_dot<T>(runtime, first, second);
  });
}

}  // namespace tessera::operations_test
