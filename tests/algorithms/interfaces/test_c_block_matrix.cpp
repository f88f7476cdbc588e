// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include <tests/algorithms/interfaces/c_test.hpp>

namespace tessera::test {
namespace {

template <class T>
class CBlockMatrix : public CTest<T> {
 public:
  static constexpr Index rows = 14, cols = 11;
  inline static const std::vector<Index> row_sizes{3, 1, 4, 0, 6}, col_sizes{2, 5, 4};
  /// Nonzero in four blocks of 15.
  static Matrix<T> sample() {
    Matrix<T> a(rows, cols, 2);
    const auto whole = random_matrix<T>(rows, cols, 4);
    const auto fill = [&](Index i0, Index i1, Index j0, Index j1) {
      for (Index j = j0; j < j1; ++j)
        for (Index i = i0; i < i1; ++i) a(i, j) = whole(i, j);
    };
    fill(0, 3, 0, 2), fill(3, 4, 7, 11), fill(4, 8, 2, 7), fill(8, 14, 7, 11);
    return a;
  }
  static void make_layout(tessera_block_layout** layout) {
    ASSERT_C(tessera_block_layout_create(CTest<T>::runtime, 5, row_sizes.data(), 3, col_sizes.data(),
                                         TESSERA_NO_SYMMETRY, layout));
  }
  static void make(const Matrix<T>& a, tessera_block_matrix** matrix) {
    Layout layout;
    make_layout(&layout);
    ASSERT_C(tessera_block_matrix_from_dense(CTest<T>::runtime, CTest<T>::type, layout, a.data(), a.ld(), 0,
                                             matrix));
  }
  static void expect_equal(const tessera_block_matrix* matrix, const Matrix<T>& a) {
    Matrix<T> back(a.rows(), a.cols(), 1);
    ASSERT_C(tessera_block_matrix_to_dense(matrix, back.data(), back.ld()));
    for (Index j = 0; j < a.cols(); ++j)
      for (Index i = 0; i < a.rows(); ++i) EXPECT_EQ(back(i, j), a(i, j)) << i << ' ' << j;
  }
};
TYPED_TEST_SUITE(CBlockMatrix, Scalars);

TYPED_TEST(CBlockMatrix, DenseAndBack) {
  const auto a = this->sample();
  BlockMatrix matrix;
  this->make(a, &matrix);
  this->expect_equal(matrix, a);
  tessera_block_matrix_info info;
  ASSERT_C(tessera_block_matrix_get_info(matrix, &info));
  EXPECT_EQ(info.type, this->type);
  EXPECT_EQ(info.symmetry, TESSERA_NO_SYMMETRY);
  EXPECT_EQ(info.rows, 14);
  EXPECT_EQ(info.cols, 11);
  EXPECT_EQ(info.block_rows, 5);
  EXPECT_EQ(info.block_cols, 3);
  EXPECT_EQ(info.stored_blocks, 4);
  EXPECT_DOUBLE_EQ(info.occupation, (3 * 2 + 1 * 4 + 4 * 5 + 6 * 4) / (14.0 * 11));
  std::vector<Index> rows(5), cols(3);
  ASSERT_C(tessera_block_matrix_sizes(matrix, rows.data(), cols.data()));
  EXPECT_EQ(rows, this->row_sizes);
  EXPECT_EQ(cols, this->col_sizes);
}

TYPED_TEST(CBlockMatrix, BuilderAndBlocks) {
  using T = TypeParam;
  Layout layout;
  this->make_layout(&layout);
  Builder builder;
  ASSERT_C(tessera_block_builder_create(this->runtime, this->type, layout, &builder));
  const auto block = random_matrix<T>(4, 5, 9, 2);
  ASSERT_C(tessera_block_builder_put(builder, 2, 1, block.data(), block.ld()));
  ASSERT_C(tessera_block_builder_add(builder, 2, 1, block.data(), block.ld()));
  ASSERT_C(tessera_block_builder_reserve(builder, 0, 0));
  EXPECT_EQ(tessera_block_builder_put(builder, 5, 0, block.data(), 4), TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_builder_put(builder, 2, 1, block.data(), 3), TESSERA_INVALID_ARGUMENT);
  BlockMatrix matrix;
  ASSERT_C(tessera_block_builder_finalize(builder, &matrix));
  Matrix<T> expected(14, 11);
  for (Index j = 0; j < 5; ++j)
    for (Index i = 0; i < 4; ++i) expected(4 + i, 2 + j) = block(i, j) + block(i, j);
  this->expect_equal(matrix, expected);

  int owner = -1, stored = -1;
  EXPECT_C(tessera_block_layout_owner(layout, 2, 1, &owner));
  EXPECT_EQ(owner, 0);
  Matrix<T> copy(4, 5);
  ASSERT_C(tessera_block_matrix_get(matrix, 2, 1, copy.data(), copy.ld(), &stored));
  EXPECT_EQ(stored, 1);
  EXPECT_EQ(copy(3, 4), block(3, 4) + block(3, 4));
  ASSERT_C(tessera_block_matrix_get(matrix, 1, 1, copy.data(), copy.ld(), &stored));
  EXPECT_EQ(stored, 0);
  ASSERT_C(tessera_block_matrix_put(matrix, 2, 1, block.data(), block.ld()));
  ASSERT_C(tessera_block_matrix_get(matrix, 2, 1, copy.data(), copy.ld(), &stored));
  EXPECT_EQ(copy(1, 2), block(1, 2));
  EXPECT_EQ(tessera_block_matrix_put(matrix, 1, 1, block.data(), block.ld()), TESSERA_INVALID_ARGUMENT);
}

TYPED_TEST(CBlockMatrix, VisitsEachBlockAndStopsWhenAsked) {
  using T = TypeParam;
  BlockMatrix matrix;
  this->make(this->sample(), &matrix);
  std::map<std::pair<Index, Index>, T> corners;
  ASSERT_C(tessera_block_matrix_for_each(
      matrix,
      [](Index i, Index j, Index, Index, const void* values, Index, void* user) {
        (*static_cast<decltype(corners)*>(user))[{i, j}] = *static_cast<const T*>(values);
        return 0;
      },
      &corners));
  ASSERT_EQ(corners.size(), 4u);
  const auto a = this->sample();
  EXPECT_EQ((corners[{0, 0}]), a(0, 0));
  EXPECT_EQ((corners[{4, 2}]), a(8, 7));
  int calls = 0;
  EXPECT_EQ(tessera_block_matrix_for_each(
                matrix,
                [](Index, Index, Index, Index, const void*, Index, void* user) {
                  return ++*static_cast<int*>(user) == 2 ? 42 : 0;
                },
                &calls),
            TESSERA_CALLBACK_FAILED);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(tessera_last_callback_code(), 42);
}

TYPED_TEST(CBlockMatrix, CompressedRowsAndBack) {
  using T = TypeParam;
  const auto a = this->sample();
  BlockMatrix matrix, again;
  this->make(a, &matrix);
  Index rows = 0, entries = 0;
  ASSERT_C(tessera_block_matrix_to_csr(matrix, 0, 1, &rows, &entries, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(entries, 3 * 2 + 1 * 4 + 4 * 5 + 6 * 4);
  std::vector<Index> row(static_cast<std::size_t>(rows)), begin(static_cast<std::size_t>(rows + 1)),
      column(static_cast<std::size_t>(entries));
  std::vector<T> value(static_cast<std::size_t>(entries));
  ASSERT_C(tessera_block_matrix_to_csr(matrix, 0, 1, &rows, &entries, row.data(), begin.data(), column.data(),
                                       value.data()));
  for (std::size_t r = 0; r < row.size(); ++r)
    for (auto k = static_cast<std::size_t>(begin[r]); k < static_cast<std::size_t>(begin[r + 1]); ++k)
      EXPECT_EQ(value[k], a(row[r], column[k]));
  Layout layout;
  this->make_layout(&layout);
  ASSERT_C(tessera_block_matrix_from_csr(this->runtime, this->type, layout, rows, row.data(), begin.data(),
                                         column.data(), value.data(), &again));
  this->expect_equal(again, a);
  column[0] = 99;
  EXPECT_EQ(tessera_block_matrix_from_csr(this->runtime, this->type, layout, rows, row.data(), begin.data(),
                                          column.data(), value.data(), &again),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(static_cast<tessera_block_matrix*>(again), nullptr);
}

TYPED_TEST(CBlockMatrix, FilesAndBack) {
  const auto a = this->sample();
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera_c_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string hdf5 = folder / "a.h5", market = folder / "a.mtx.gz", sizes = folder / "sizes.txt";
  std::ofstream(sizes) << "3 1 4 0 6\ncolumns\n2 5 4\n";
  BlockMatrix matrix, again;
  this->make(a, &matrix);
  ASSERT_C(tessera_block_matrix_write_hdf5(matrix, hdf5.c_str()));
  ASSERT_C(tessera_block_matrix_read_hdf5(this->runtime, this->type, hdf5.c_str(), &again));
  this->expect_equal(again, a);
  ASSERT_C(tessera_block_matrix_write_matrix_market(matrix, market.c_str(), -1));
  ASSERT_C(tessera_block_matrix_read_matrix_market(this->runtime, this->type, market.c_str(), sizes.c_str(),
                                                   &again));
  this->expect_equal(again, a);
  Layout layout;
  this->make_layout(&layout);
  ASSERT_C(tessera_block_matrix_read_hdf5_in(this->runtime, this->type, hdf5.c_str(), layout, &again));
  this->expect_equal(again, a);
  ASSERT_C(
      tessera_block_matrix_read_matrix_market_in(this->runtime, this->type, market.c_str(), layout, &again));
  this->expect_equal(again, a);
  EXPECT_EQ(tessera_block_matrix_read_hdf5(this->runtime, this->type, (folder / "none.h5").c_str(), &again),
            TESSERA_INPUT_ERROR);
  EXPECT_NE(std::string(tessera_last_message()).find("none.h5"), std::string::npos);
  std::filesystem::remove_all(folder);
}

TYPED_TEST(CBlockMatrix, LayoutsWithOwners) {
  const int owners[5] = {0, 0, 0, 0, 0};
  Layout layout, homogenized;
  ASSERT_C(tessera_block_layout_create_distributed(this->runtime, 5, this->row_sizes.data(), owners, 0,
                                                   nullptr, owners, 1, 1, 0, TESSERA_HERMITIAN, &layout));
  ASSERT_C(tessera_block_layout_homogenized(layout, 3, &homogenized));
  const int wrong[5] = {0, 1, 0, 0, 0};
  EXPECT_EQ(tessera_block_layout_create_distributed(this->runtime, 5, this->row_sizes.data(), wrong, 0,
                                                    nullptr, owners, 1, 1, 0, TESSERA_HERMITIAN, &layout),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_layout_create(this->runtime, 5, this->row_sizes.data(), 3, this->col_sizes.data(),
                                        'H', &layout),
            TESSERA_INVALID_ARGUMENT)
      << "half-stored and not square";
  EXPECT_EQ(tessera_block_layout_create(this->runtime, -1, nullptr, 0, nullptr, 'N', &layout),
            TESSERA_INVALID_ARGUMENT);
  EXPECT_EQ(tessera_block_layout_create(this->runtime, 5, this->row_sizes.data(), 0, nullptr, 'X', &layout),
            TESSERA_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tessera::test
