// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/support/expect_refused.hpp>
#include <tests/support/runtime_test.hpp>

#include "submatrix_checks.hpp"

namespace tessera::test {
namespace {

template <class T>
using Submatrices = RuntimeTest<T>;
TYPED_TEST_SUITE(Submatrices, Scalars);

TYPED_TEST(Submatrices, OfEverySymmetryAndBack) {
  for (const Symmetry symmetry : all_symmetries)
    for (std::uint64_t seed = 1; seed < 5; ++seed)
      check_submatrices<TypeParam>(this->runtime(), square, symmetry, seed);
}

TYPED_TEST(Submatrices, NothingAndEmptyBlocks) {
  for (const std::vector<Index>& sizes :
       {std::vector<Index>{}, std::vector<Index>{0, 0}, std::vector<Index>{4}, std::vector<Index>{0, 3, 0}})
    for (const Symmetry symmetry : all_symmetries)
      check_submatrices<TypeParam>(this->runtime(), sizes, symmetry, 3);
}

/// A task of the caller between the two: the piece is a matrix as any other.
TYPED_TEST(Submatrices, OneAtATime) {
  using T = TypeParam;
  const BlockLayout layout = random_layout(this->runtime(), square, square, Symmetry::hermitian, 2);
  const auto a = drawn_matrix<T>(this->runtime(), layout, 1, 2);
  const PrincipalSubmatrix all{.blocks = submatrix_blocks(a.pattern(), std::vector<Index>{0}),
                               .columns = {0, 3, 5}};
  ASSERT_EQ(static_cast<Index>(all.blocks.size()), a.block_rows());
  Sequence sequence(this->runtime());
  const auto b = zero_matrix<T>(sequence, a.pattern_pointer());
  const Data piece = principal_submatrix(sequence, a, all);
  {
    const HostAccess access(piece, HostAccess::Mode::read_write);
    const MatrixView<T> values = access.matrix<T>();
    for (Index j = 0; j < values.cols; ++j)
      for (Index i = 0; i < values.rows; ++i) values(i, j) *= RealOf<T>(2);
  }
  scatter_submatrix(sequence, all, piece, b);
  ASSERT_TRUE(sequence.wait().ok());
  const Matrix<T> before = contents_of(a, false).elements, after = contents_of(b, false).elements;
  for (Index j = 0; j < before.cols(); ++j) {
    const Index col = layout.cols->block_of(j);
    const bool chosen = col == 0 || col == 3 || col == 5;
    for (Index i = 0; i < before.rows(); ++i)
      EXPECT_EQ(after(i, j), chosen ? before(i, j) * RealOf<T>(2) : T(0));
  }
}

using SubmatrixErrors = RuntimeTest<double>;

TEST_F(SubmatrixErrors, AreNamed) {
  Sequence sequence(runtime());
  const auto a = zero_matrix<double>(
      sequence, BlockPattern::make(runtime(), make_block_layout(runtime(), {2, 3, 1}, {2, 3, 1}), {}));
  const auto wide_one = zero_matrix<double>(
      sequence, BlockPattern::make(runtime(), make_block_layout(runtime(), {2, 3}, {3, 2}), {}));
  const auto refuse = [&](const char* name, const PrincipalSubmatrix& s) {
    expect_refused(name, [&] { principal_submatrix(sequence, a, s); });
    const Data piece = Data::matrix(runtime(), 6, 6, sizeof(double));
    expect_refused(name, [&] { scatter_submatrix(sequence, s, piece, a); });
  };
  refuse("blocks", {.blocks = {0, 3}});
  refuse("blocks", {.blocks = {-1, 0}});
  refuse("blocks", {.blocks = {1, 0}});
  refuse("blocks", {.blocks = {1, 1}});
  refuse("columns", {.blocks = {0, 1}, .columns = {2}});
  refuse("columns", {.blocks = {0, 1}, .columns = {1, 0}});
  refuse("owner", {.blocks = {0}, .owner = runtime().size()});
  refuse("owner", {.blocks = {0}, .owner = -2});
  expect_refused("matrix", [&] { principal_submatrix(sequence, wide_one, {.blocks = {0}}); });
  expect_refused("matrix", [&] { submatrix_blocks(wide_one.pattern(), std::vector<Index>{0}); });
  expect_refused("columns", [&] { submatrix_blocks(a.pattern(), std::vector<Index>{0, 3}); });
  expect_refused("a", [&] { principal_submatrix(sequence, BlockSparseMatrix<double>(), {}); });
  expect_refused("dense", [&] { scatter_submatrix(sequence, {}, Data(), a); });
  const std::vector<PrincipalSubmatrix> two(2);
  expect_refused("dense", [&] { scatter_submatrices<double>(sequence, two, {}, a); });
}

}  // namespace
}  // namespace tessera::test
