// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/values/whole_panels.hpp>

/// The tasks between panels and a dense matrix, against loops over all elements.
namespace tessera::test {
using namespace detail;
namespace {

constexpr Symmetry symmetries[] = {Symmetry::none, Symmetry::symmetric, Symmetry::hermitian,
                                   Symmetry::antisymmetric};

template <class T>
class WholePanels : public RuntimeTest<T> {
 protected:
  /// Blocks of several sizes, empty ones among them, in several panels; or few large ones.
  BlockPatternPointer pattern(Symmetry symmetry, bool large) {
    const std::vector<Index> sizes =
        large ? std::vector<Index>{90, 3, 70} : std::vector<Index>{3, 1, 0, 6, 5, 2, 6, 4};
    BlockLayout layout;
    layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, large ? 0 : 9);
    layout.symmetry = symmetry;
    std::mt19937 random(7);
    std::vector<BlockCoordinate> blocks;
    for (Index i = 0; i < layout.rows->blocks(); ++i)
      for (Index j = 0; j < layout.cols->blocks(); ++j)
        if (layout.stores(i, j) && (i == j || random() % 3 > 0)) blocks.push_back({i, j});
    return BlockPattern::make(this->runtime(), layout, blocks);
  }
  /// visit(panel, element of its data, row, column, on the diagonal of blocks)
  template <class Visit>
  static void each_element(const BlockPattern& pattern, const Visit& visit) {
    for (Index p = 0; p < pattern.panels(); ++p) {
      const auto coordinates = pattern.coordinates(p);
      for (std::size_t b = 0; b < coordinates.size(); ++b) {
        const auto [row, col] = coordinates[b];
        Index element = pattern.index(p).offset[b];
        for (Index j = 0; j < pattern.cols().size(col); ++j)
          for (Index i = 0; i < pattern.rows().size(row); ++i)
            visit(p, element++, pattern.rows().first(row) + i, pattern.cols().first(col) + j, row == col);
      }
    }
  }
  static std::size_t elements(const BlockPattern& pattern, Index p) {
    return static_cast<std::size_t>(std::max<Index>(pattern.panel_elements(p), 1));
  }
};
TYPED_TEST_SUITE(WholePanels, Scalars);

TYPED_TEST(WholePanels, IntoTheMatrix) {
  using T = TypeParam;
  for (const bool large : {false, true})
    for (const Symmetry symmetry : symmetries) {
      const auto pattern = this->pattern(symmetry, large);
      const Index n = pattern->rows().elements();
      std::vector<std::vector<T>> values(static_cast<std::size_t>(pattern->panels()));
      for (Index p = 0; p < pattern->panels(); ++p)
        for (std::size_t e = 0; e < this->elements(*pattern, p); ++e)
          values[std::size_t(p)].push_back(random_scalar<T>(std::uint64_t(p), Index(e), 1));
      Matrix<T> expected = random_matrix<T>(n, n, 4);
      const Data matrix = upload(this->runtime(), expected);
      this->each_element(*pattern, [&](Index p, Index element, Index i, Index j, bool diagonal) {
        const T x = values[std::size_t(p)][std::size_t(element)];
        expected(i, j) = x;
        if (symmetry != Symmetry::none && !diagonal) expected(j, i) = mirrored(symmetry, x);
      });
      ASSERT_TRUE(this->run([&](Sequence& s) {
        for (Index p = 0; p < pattern->panels(); ++p) {
          const Data panel = upload(this->runtime(), values[std::size_t(p)]);
          s.insert(PanelToDense<T>{.pattern = pattern->packed(),
                                   .values = panel,
                                   .matrix = matrix,
                                   .row_panel = word_of(pattern->row_panel(p)),
                                   .col_panel = word_of(pattern->col_panel(p)),
                                   .blocks = pattern->panel_blocks(p),
                                   .symmetry = symmetry});
        }
      }));
      EXPECT_EQ(difference(download<T>(matrix), expected), 0);
    }
}

TYPED_TEST(WholePanels, FromTheMatrix) {
  using T = TypeParam;
  for (const bool large : {false, true})
    for (const Symmetry symmetry : symmetries)
      for (const Uplo counted : {Uplo::general, Uplo::lower, Uplo::upper}) {
        if (counted != Uplo::general && symmetry == Symmetry::antisymmetric) continue;
        const auto pattern = this->pattern(symmetry, large);
        const Index n = pattern->rows().elements();
        const Matrix<T> dense =
            counted == Uplo::general ? random_matrix<T>(n, n, 5) : random_hermitian<T>(n, 5);
        const Data matrix = upload(this->runtime(), poison_other_triangle(dense, counted));
        std::vector<Data> panels;
        for (Index p = 0; p < pattern->panels(); ++p)
          panels.push_back(Data::bytes(this->runtime(), this->elements(*pattern, p) * sizeof(T)));
        ASSERT_TRUE(this->run([&](Sequence& s) {
          for (Index p = 0; p < pattern->panels(); ++p)
            s.insert(PanelFromDense<T>{.pattern = pattern->packed(),
                                       .matrix = matrix,
                                       .values = panels[std::size_t(p)],
                                       .row_panel = word_of(pattern->row_panel(p)),
                                       .col_panel = word_of(pattern->col_panel(p)),
                                       .blocks = pattern->panel_blocks(p),
                                       .counted = counted,
                                       .symmetry = symmetry});
        }));
        this->each_element(*pattern, [&](Index p, Index element, Index i, Index j, bool diagonal) {
          const HostAccess access(panels[std::size_t(p)], HostAccess::Mode::read);
          T expected = dense(i, j);
          if (diagonal && symmetry != Symmetry::none) {
            if (i < j) expected = mirrored(symmetry, dense(j, i));
            if (i == j && symmetry == Symmetry::hermitian) expected = T(real_part(expected));
            if (i == j && symmetry == Symmetry::antisymmetric) expected = T(0);
          }
          EXPECT_EQ(access.template array<const T>()[std::size_t(element)], expected) << i << ' ' << j;
        });
      }
}

TYPED_TEST(WholePanels, FlagsOfBlocks) {
  using T = TypeParam;
  for (const bool large : {false, true})
    for (const bool half_stored : {false, true})
      for (const Uplo counted : {Uplo::general, Uplo::lower})
        for (const double threshold : {-1.0, 0.0, 0.9}) {
          const auto pattern = this->pattern(half_stored ? Symmetry::hermitian : Symmetry::none, large);
          const BlockDimension& blocks = pattern->rows();
          const Index n = blocks.elements(), count = blocks.blocks();
          Matrix<T> dense = counted == Uplo::general ? random_matrix<T>(n, n, 6) : random_hermitian<T>(n, 6);
          if (!large)
            for (Index j = 0; j < n; ++j)
              for (Index i = 0; i < n; ++i)
                if ((i + j) % 5 > 0) dense(i, j) = T(0);
          dense(n - 1, 0) = dense(0, n - 1) = not_a_number<T>();
          const Data matrix = upload(this->runtime(), dense);
          const Data flags = Data::bytes(this->runtime(), static_cast<std::size_t>(count * count));
          ASSERT_TRUE(this->run([&](Sequence& s) {
            s.insert(FlagBlocks<T>{.pattern = pattern->packed(),
                                   .matrix = matrix,
                                   .flags = flags,
                                   .threshold = threshold,
                                   .row_blocks = count,
                                   .col_blocks = count,
                                   .counted = counted,
                                   .half_stored = half_stored});
          }));
          const HostAccess access(flags, HostAccess::Mode::read);
          for (Index row = 0; row < count; ++row)
            for (Index col = 0; col < count; ++col) {
              bool above = threshold < 0;
              for (Index j = blocks.first(col); j < blocks.first(col + 1); ++j)
                for (Index i = blocks.first(row); i < blocks.first(row + 1); ++i)
                  above = above || !(double(std::abs(dense(i, j))) <= threshold);
              EXPECT_EQ(access.array<const char>()[std::size_t(col + row * count)],
                        above && (!half_stored || row >= col) ? 1 : 0)
                  << row << ' ' << col;
            }
        }
}

}  // namespace
}  // namespace tessera::test
