// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <random>

#include <gtest/gtest.h>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_pattern.hpp>
#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>

/// Panels of mirror images, and panels in another precision, element by element.
namespace tessera::test {
using namespace detail;
namespace {

template <class T>
class MirrorPanels : public RuntimeTest<T> {};
TYPED_TEST_SUITE(MirrorPanels, Scalars);

/// Element (i, j) of block (row, col), a number of its own.
template <class T>
T element_of(Index row, Index col, Index i, Index j) {
  return random_scalar<T>(static_cast<std::uint64_t>(row * 100 + col), i, j + 1);
}

template <class T>
T along(const ImageWay& way, T x) {
  if (way.conjugated) x = conjugate(x);
  return way.negated ? -x : x;
}

TYPED_TEST(MirrorPanels, OfEverySymmetryAndTransposed) {
  using T = TypeParam;
  const std::vector<Index> sizes{3, 1, 0, 6, 5, 2, 6, 40};
  for (const Symmetry symmetry :
       {Symmetry::none, Symmetry::symmetric, Symmetry::hermitian, Symmetry::antisymmetric}) {
    const bool half = symmetry != Symmetry::none;
    BlockLayout layout;
    layout.rows = layout.cols = BlockDimension::make(sizes, 1, {}, 9);
    const BlockLayout full = layout;
    layout.symmetry = symmetry;
    std::mt19937 random(5);
    std::vector<BlockCoordinate> blocks, images;
    for (Index i = 0; i < Index(sizes.size()); ++i)
      for (Index j = 0; j < Index(sizes.size()); ++j) {
        if (!layout.stores(i, j) || random() % 3 == 0) continue;
        blocks.push_back({i, j});
        images.push_back({j, i});
        if (half) images.push_back({i, j});
      }
    const auto from = BlockPattern::make(this->runtime(), layout, blocks),
               to = BlockPattern::make(this->runtime(), full, images);
    const ImageWay stored{},
        mirror{true, symmetry == Symmetry::hermitian, symmetry == Symmetry::antisymmetric};
    const T factor = random_scalar<T>(1, 2, 3);
    std::vector<Data> panels, results;
    for (Index p = 0; p < from->panels(); ++p) {
      std::vector<T> values;
      for (const auto& [row, col] : from->coordinates(p))
        for (Index j = 0; j < from->cols().size(col); ++j)
          for (Index i = 0; i < from->rows().size(row); ++i) values.push_back(element_of<T>(row, col, i, j));
      panels.push_back(values.empty() ? Data() : upload(this->runtime(), values));
      results.push_back(Data::bytes(
          this->runtime(), static_cast<std::size_t>(std::max<Index>(to->panel_elements(p), 1)) * sizeof(T)));
    }
    const auto values_of = [&](Index p) {
      return panels[std::size_t(p)].valid() ? &panels[std::size_t(p)] : nullptr;
    };
    ASSERT_TRUE(this->run([&](Sequence& s) {
      for (Index p = 0; p < to->panels(); ++p)
        if (to->panel_elements(p) > 0)
          s.insert(MirrorPanel<T>{.half = from->packed(),
                                  .whole = to->packed(),
                                  .stored = half ? values_of(p) : nullptr,
                                  .mirror = values_of(from->panel(to->col_panel(p), to->row_panel(p))),
                                  .destination = results[std::size_t(p)],
                                  .row_panel = word_of(to->row_panel(p)),
                                  .col_panel = word_of(to->col_panel(p)),
                                  .factor = factor,
                                  .way = stored,
                                  .mirror_way = mirror});
    }));
    for (Index p = 0; p < to->panels(); ++p) {
      if (to->panel_elements(p) == 0) continue;
      const HostAccess access(results[std::size_t(p)], HostAccess::Mode::read);
      const auto found = access.template array<const T>();
      std::size_t next = 0;
      for (const auto& [row, col] : to->coordinates(p))
        for (Index j = 0; j < to->cols().size(col); ++j)
          for (Index i = 0; i < to->rows().size(row); ++i, ++next) {
            const bool is_stored = half && from->find(std::max(row, col), std::min(row, col)) && row >= col;
            const T expected =
                is_stored ? element_of<T>(row, col, i, j) : along(mirror, element_of<T>(col, row, j, i));
            EXPECT_LE(std::abs(found[next] - factor * expected),
                      4 * precision<T> * std::abs(factor * expected))
                << row << ' ' << col;
          }
    }
  }
}

template <class From, class To>
void check_conversion(Runtime& runtime) {
  std::vector<From> values;
  for (Index i = 0; i < 777; ++i) values.push_back(random_scalar<From>(9, i, 1));
  const Data source = upload(runtime, values), destination = Data::bytes(runtime, values.size() * sizeof(To));
  Sequence sequence(runtime);
  sequence.insert(ConvertValues<From, To>{.source = source, .destination = destination});
  ASSERT_TRUE(sequence.wait().ok());
  const HostAccess access(destination, HostAccess::Mode::read);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(access.array<const To>()[i], static_cast<To>(values[i]));
}

TYPED_TEST(MirrorPanels, InTheOtherPrecision) {
  using T = TypeParam;
  using R = std::conditional_t<sizeof(RealOf<T>) == 8, float, double>;
  check_conversion<T, std::conditional_t<is_complex<T>, std::complex<R>, R>>(this->runtime());
}

}  // namespace
}  // namespace tessera::test
