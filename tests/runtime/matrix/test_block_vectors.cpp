// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_vectors.hpp>

namespace tessera::test {
namespace {

template <class T>
class BlockVectorsTest : public RuntimeTest<T> {};
TYPED_TEST_SUITE(BlockVectorsTest, Reals);

TYPED_TEST(BlockVectorsTest, Segments) {
  const RowSegments segments({0, 3, 4, 10}, {2, 0, 1});
  EXPECT_EQ(segments.rows(), 10);
  EXPECT_EQ(segments.count(), 3);
  const std::vector<Index> of_row{0, 0, 0, 1, 2, 2, 2, 2, 2, 2};
  for (Index row = 0; row < 10; ++row)
    EXPECT_EQ(segments.segment_of(row), of_row[static_cast<std::size_t>(row)]);
  EXPECT_EQ(segments.begin(2), 4);
  EXPECT_EQ(segments.end(1), 4);
  EXPECT_EQ(segments.size(2), 6);
  EXPECT_EQ(segments.owner(0), 2);
  expect_refused("begins", [] { RowSegments({0, 3, 3}, {0, 0}); });
  expect_refused("begins", [] { RowSegments({1, 3}, {0}); });
  expect_refused("begins", [] { RowSegments({0, 3}, {0, 0}); });
  expect_refused("begins", [] { RowSegments({}, {}); });
  expect_refused("owners", [] { RowSegments({0, 3}, {-1}); });
  for (Index s = 0; s < 3; ++s) EXPECT_EQ(segments.gpu(s), -1);
  const RowSegments on_gpus({0, 3, 4, 10}, {1, 1, 0}, {2, 0, 1});
  EXPECT_EQ(on_gpus.gpu(0), 2);
  EXPECT_EQ(on_gpus.gpu(2), 1);
  expect_refused("gpus", [] { RowSegments({0, 3, 4}, {0, 0}, {1}); });
}

TYPED_TEST(BlockVectorsTest, EvenSegments) {
  for (const Index rows : {1, 2, 7, 100})
    for (const Index count : {1, 2, 3, 100, 1000}) {
      const auto segments = RowSegments::even(this->runtime(), rows, count);
      EXPECT_EQ(segments->rows(), rows);
      EXPECT_EQ(segments->count(), std::min(rows, count));
      for (Index s = 0; s < segments->count(); ++s) {
        EXPECT_GE(segments->size(s), rows / segments->count());
        EXPECT_LE(segments->size(s), rows / segments->count() + 1);
        EXPECT_EQ(segments->owner(s), 0);
        EXPECT_EQ(segments->gpu(s), -1);
      }
    }
  EXPECT_EQ(RowSegments::even(this->runtime(), 0, 3)->rows(), 0);
  expect_refused("rows", [&] { RowSegments::even(this->runtime(), -1, 3); });
  expect_refused("count", [&] { RowSegments::even(this->runtime(), 4, 0); });
}

TYPED_TEST(BlockVectorsTest, SetAndGet) {
  using T = TypeParam;
  const Index n = 23, width = 5, ld = 7;
  const Matrix<T> values = random_matrix<T>(ld, n, 1);
  for (const Index count : {1, 4, 23})
    for (const Index columns : {1, 3, 5}) {
      const BlockVectors<T> x(this->runtime(), RowSegments::even(this->runtime(), n, count), width);
      EXPECT_EQ(x.rows(), n);
      EXPECT_EQ(x.count(), count);
      EXPECT_EQ(x.width(), width);
      x.set(values.data(), ld, columns);
      Matrix<T> all = random_matrix<T>(ld, n, 2), first = all;
      x.get(all.data(), ld, width);
      x.get(first.data(), ld, columns);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < ld; ++j) {
          const T untouched = random_scalar<T>(2, j, i);
          EXPECT_EQ(all(j, i), j < columns ? values(j, i) : j < width ? T(0) : untouched);
          EXPECT_EQ(first(j, i), j < columns ? values(j, i) : untouched);
        }
      // Row i of segment s is column i of its matrix.
      const Index s = x.count() / 2;
      const Matrix<T> part = download<T>(x.segment(s));
      EXPECT_EQ(part.rows(), width);
      EXPECT_EQ(part.cols(), x.segments().size(s));
      for (Index i = 0; i < part.cols(); ++i) EXPECT_EQ(part(0, i), values(0, x.segments().begin(s) + i));
    }
}

TYPED_TEST(BlockVectorsTest, BadArguments) {
  using T = TypeParam;
  const auto segments = RowSegments::even(this->runtime(), 10, 2);
  expect_refused("width", [&] { BlockVectors<T>(this->runtime(), segments, 0); });
  const BlockVectors<T> x(this->runtime(), segments, 3);
  std::vector<T> values(100);
  expect_refused("columns", [&] { x.set(values.data(), 4, 4); });
  expect_refused("columns", [&] { x.get(values.data(), 4, -1); });
  expect_refused("ld", [&] { x.set(values.data(), 1, 2); });
  const BlockVectors<T> none;
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.count(), 0);
}

}  // namespace
}  // namespace tessera::test
