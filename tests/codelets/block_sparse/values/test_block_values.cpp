// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/codelets/block_sparse/random_values.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
using BlockValues = RuntimeTest<T>;
TYPED_TEST_SUITE(BlockValues, Scalars);

template <class T>
void expect_close(const std::vector<T>& a, const std::vector<T>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_LE(std::abs(a[i] - b[i]), 8 * precision<T>) << i;
}

TYPED_TEST(BlockValues, Fill) {
  using T = TypeParam;
  const Data data = Data::bytes(this->runtime(), 5 * sizeof(T));
  ASSERT_TRUE(this->run([&](Sequence& s) { s.insert(FillValues<T>{.values = data, .value = T(3)}); }).ok());
  EXPECT_EQ(download_values<T>(data), std::vector<T>(5, T(3)));
}

TYPED_TEST(BlockValues, MovesOfParts) {
  using T = TypeParam;
  const auto from = random_values<T>(60, 1), to = random_values<T>(50, 2);
  // Parts of 2 x 3 (in the received order) and 1 x 1; leading dimensions are 7 (source) and 4
  // (destination).
  const std::vector<BlockMove> moves{{3, 5, 2, 3, 7, 4}, {59, 0, 1, 1, 7, 4}, {0, 0, 0, 3, 7, 4}};
  const T factor = random_scalar<T>(3, 4, 5);
  for (const Op op : {Op::none, Op::transpose, Op::adjoint})
    for (const bool conjugated : {false, true})
      for (const bool add : {false, true}) {
        auto expected = to;
        for (const BlockMove& m : moves)
          for (Index j = 0; j < m.cols; ++j)
            for (Index i = 0; i < m.rows; ++i) {
              const Index at = m.source + (op == Op::none ? i + j * m.source_ld : j + i * m.source_ld);
              const T x = from[static_cast<std::size_t>(at)];
              T& y = expected[static_cast<std::size_t>(m.destination + i + j * m.destination_ld)];
              const T moved = factor * (conjugated != (op == Op::adjoint) ? conjugate(x) : x);
              y = add ? y + moved : moved;
            }
        const Data table = upload(this->runtime(), moves), source = upload(this->runtime(), from),
                   destination = upload(this->runtime(), to);
        ASSERT_TRUE(this->run([&](Sequence& s) {
                          s.insert(MoveBlocks<T>{.moves = table,
                                                 .source = source,
                                                 .destination = destination,
                                                 .factor = factor,
                                                 .op = op,
                                                 .conjugated = conjugated,
                                                 .add = add});
                        })
                        .ok());
        expect_close(download_values<T>(destination), expected);
        EXPECT_EQ(download_values<T>(source), from);
      }
}

TYPED_TEST(BlockValues, PanelsOfImages) {
  using T = TypeParam;
  const std::vector<std::vector<T>> from{random_values<T>(60, 1), random_values<T>(40, 2)};
  const auto before = random_values<T>(50, 3);
  const T factor = random_scalar<T>(3, 4, 5);
  std::vector<ImageMove> moves;
  for (int way = 0; way < 8; ++way)  // parts of 2 x 3, side by side
    moves.push_back({{3 + way, 6 * way, 2, 3, 7, 2}, way % 2, {way % 2 > 0, way / 2 % 2 > 0, way / 4 > 0}});
  for (const bool writes : {false, true}) {
    auto expected = writes ? std::vector<T>(50, T(0)) : before;
    for (const auto& [m, source, way] : moves)
      for (Index j = 0; j < m.cols; ++j)
        for (Index i = 0; i < m.rows; ++i) {
          const Index at = m.source + (way.transposed ? j + i * m.source_ld : i + j * m.source_ld);
          const T x = from[static_cast<std::size_t>(source)][static_cast<std::size_t>(at)];
          expected[static_cast<std::size_t>(m.destination + i + j * m.destination_ld)] =
              (way.negated ? -factor : factor) * (way.conjugated ? conjugate(x) : x);
        }
    const Data table = upload(this->runtime(), moves), first = upload(this->runtime(), from[0]),
               second = upload(this->runtime(), from[1]);
    const Data destination =
        writes ? Data::bytes(this->runtime(), before.size() * sizeof(T)) : upload(this->runtime(), before);
    const std::vector<const Data*> sources{&first, &second};
    ASSERT_TRUE(
        this->run([&](Sequence& s) {
              s.insert(MakeImagePanel<T>{.moves = table,
                                         .destination = writes ? overwrite(destination) : add_to(destination),
                                         .sources = sources,
                                         .factor = factor});
            })
            .ok());
    expect_close(download_values<T>(destination), expected);
  }
}

TYPED_TEST(BlockValues, CopyOfAll) {
  using T = TypeParam;
  const auto from = random_values<T>(17, 1), to = random_values<T>(17, 2);
  const T factor = random_scalar<T>(3, 4, 5);
  for (const bool conjugated : {false, true})
    for (const bool add : {false, true}) {
      auto expected = to;
      for (std::size_t i = 0; i < from.size(); ++i) {
        const T moved = factor * (conjugated ? conjugate(from[i]) : from[i]);
        expected[i] = add ? expected[i] + moved : moved;
      }
      const Data source = upload(this->runtime(), from);
      // Values that are overwritten need not have been written before.
      const Data destination =
          add ? upload(this->runtime(), to) : Data::bytes(this->runtime(), to.size() * sizeof(T));
      ASSERT_TRUE(this->run([&](Sequence& s) {
                        s.insert(
                            CopyValues<T>{.source = source,
                                          .destination = add ? add_to(destination) : overwrite(destination),
                                          .factor = factor,
                                          .conjugated = conjugated});
                      })
                      .ok());
      expect_close(download_values<T>(destination), expected);
    }
}

TYPED_TEST(BlockValues, NormsOfBlocks) {
  using T = TypeParam;
  const auto values = random_values<T>(20, 1);
  // Blocks of 12, 0 and 8 elements.
  const BlockLayout layout{BlockDimension::make({3, 0, 2}), BlockDimension::make({4}), {}, Symmetry::none};
  const std::vector<BlockCoordinate> blocks{{0, 0}, {1, 0}, {2, 0}};
  const auto pattern = BlockPattern::make_replicated(this->runtime(), layout, blocks);
  const Data data = upload(this->runtime(), values), norms = Data::bytes(this->runtime(), 3 * sizeof(double));
  ASSERT_TRUE(this->run([&](Sequence& s) {
                    s.insert(BlockNorms<T>{.pattern = pattern->packed(),
                                           .norms = norms,
                                           .values = std::vector<const Data*>{&data},
                                           .panels = {.count = 1, .number = {0}}});
                  })
                  .ok());
  const auto squares = download_values<double>(norms);
  const auto sum = [&](std::size_t first, std::size_t end) {
    double result = 0;
    for (std::size_t i = first; i < end; ++i) result += std::norm(std::complex<double>(values[i]));
    return result;
  };
  EXPECT_NEAR(squares[0], sum(0, 12), 1e-13);
  EXPECT_EQ(squares[1], 0);
  EXPECT_NEAR(squares[2], sum(12, 20), 1e-13);
}

}  // namespace
}  // namespace tessera::test
