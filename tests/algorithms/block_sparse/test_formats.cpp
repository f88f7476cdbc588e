// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/format_checks.hpp>
#include <tests/support/runtime_test.hpp>

namespace tessera::test {
namespace {

template <class T>
using Formats = RuntimeTest<T>;
TYPED_TEST_SUITE(Formats, Scalars);

TYPED_TEST(Formats, DenseAndBack) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries)
    check_dense<T>(this->runtime(), random_layout(this->runtime(), square, square, symmetry, 1), 2);
  check_dense<T>(this->runtime(), random_layout(this->runtime(), square, wide, Symmetry::none, 1), 3);
  check_dense<T>(this->runtime(), random_layout(this->runtime(), {}, wide, Symmetry::none, 1), 3);
}

TYPED_TEST(Formats, CompressedRowsAndBack) {
  using T = TypeParam;
  for (const Symmetry symmetry : all_symmetries)
    check_compressed_rows<T>(this->runtime(), random_layout(this->runtime(), square, square, symmetry, 1), 2);
  check_compressed_rows<T>(this->runtime(), random_layout(this->runtime(), wide, square, Symmetry::none, 1),
                           3);
  check_compressed_rows<T>(this->runtime(), random_layout(this->runtime(), wide, {}, Symmetry::none, 1), 3);
}

TYPED_TEST(Formats, RefuseWhatDoesNotFit) {
  using T = TypeParam;
  const auto layout = make_block_layout(this->runtime(), {2, 1}, {2, 1}, Symmetry::symmetric);
  const std::vector<T> values(20);
  EXPECT_THROW(from_dense<T>(this->runtime(), {values.data(), 3, 4, 3}, layout), InvalidArgument);
  const CompressedRows<T> good{3, 3, {0, 2}, {0, 1, 3}, {0, 1, 2}, {T(1), T(2), T(3)}};
  EXPECT_EQ(from_compressed_rows(this->runtime(), good, layout).pattern().blocks(), 3);
  const auto refuse = [&](auto change) {
    CompressedRows<T> bad = good;
    change(bad);
    EXPECT_THROW(from_compressed_rows(this->runtime(), bad, layout), InvalidArgument);
  };
  refuse([](auto& r) { r.rows = 4; });
  refuse([](auto& r) { r.cols = 2; });
  refuse([](auto& r) { r.row[1] = 3; });
  refuse([](auto& r) { r.row[0] = -1; });
  refuse([](auto& r) { r.column[1] = 3; });
  refuse([](auto& r) { r.column[0] = 1; });  // above the diagonal
  refuse([](auto& r) { r.row_begin = {0, 1}; });
  refuse([](auto& r) { r.row_begin[0] = 1; });
  refuse([](auto& r) { r.row_begin[1] = 4; });
  refuse([](auto& r) { r.row_begin[2] = 2; });
  refuse([](auto& r) { r.value.pop_back(); });
}

}  // namespace
}  // namespace tessera::test
