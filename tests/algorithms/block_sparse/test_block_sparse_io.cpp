// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/file_checks.hpp>
#include <tests/support/runtime_test.hpp>

#include <tessera/block_operations.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

namespace tessera::test {
using namespace detail;
namespace {

template <class T>
using BlockSparseFiles = RuntimeTest<T>;
TYPED_TEST_SUITE(BlockSparseFiles, Scalars);

TYPED_TEST(BlockSparseFiles, MatrixMarketAndBack) {
  using T = TypeParam;
  std::uint64_t seed = 0;
  for (const Symmetry symmetry : all_symmetries) {
    ++seed;
    check_matrix_market<T>(this->runtime(), random_layout(this->runtime(), square, square, symmetry, seed),
                           seed, seed % 2 ? ".mtx" : ".mtx.gz");
  }
  check_matrix_market<T>(this->runtime(), random_layout(this->runtime(), square, wide, Symmetry::none, 5), 5,
                         ".mtx");
  check_matrix_market<T>(this->runtime(), make_block_layout(this->runtime(), {0}, {2, 1}), 5, ".mtx");
}

TYPED_TEST(BlockSparseFiles, Hdf5AndBack) {
  using T = TypeParam;
  std::uint64_t seed = 0;
  for (const Symmetry symmetry : all_symmetries) {
    ++seed;
    check_hdf5<T>(this->runtime(), random_layout(this->runtime(), square, square, symmetry, seed), seed);
  }
  check_hdf5<T>(this->runtime(), random_layout(this->runtime(), square, wide, Symmetry::none, 5), 5);
  check_hdf5<T>(this->runtime(), make_block_layout(this->runtime(), {}, {}), 5);
}

TYPED_TEST(BlockSparseFiles, ManyRowsGoInPieces) {
  using T = TypeParam;
  const std::vector<Index> large(24, 40), small(30, 3);
  const auto layout = make_block_layout(this->runtime(), large, small);
  check_hdf5<T>(this->runtime(), make_block_layout(this->runtime(), large, large), 1);
  check_matrix_market<T>(this->runtime(), layout, 1, ".mtx.gz");
}

/// Tests that do not depend on the scalar type.
class BlockSparseFileErrors : public RuntimeTest<double> {
 protected:
  /// Reading this Matrix Market file with these block sizes must fail. The error names the sizes
  /// file if `at_sizes` is set, else the matrix file.
  void refuse(const std::string& matrix, const std::string& sizes, bool at_sizes, Index line,
              const std::string& reason) {
    const TemporaryFile matrix_file(runtime(), ".mtx", matrix), sizes_file(runtime(), ".txt", sizes);
    expect_input_error([&] { read_matrix_market<double>(runtime(), matrix_file.path(), sizes_file.path()); },
                       (at_sizes ? sizes_file : matrix_file).path(), line, reason);
  }
};

const std::string general = "%%MatrixMarket matrix coordinate real general\n",
                  symmetric = "%%MatrixMarket matrix coordinate real symmetric\n",
                  three = general + "3 3 2\n1 1 5\n3 2 7\n";

TEST_F(BlockSparseFileErrors, BlockSizes) {
  const auto read = [&](const std::string& text) {
    const TemporaryFile file(runtime(), ".txt", text);
    return read_block_sizes(file.path());
  };
  EXPECT_EQ(read("2 1\n"), (BlockSizes{{2, 1}, {2, 1}}));
  EXPECT_EQ(read("# molecules\n 2 # first\n\n1\n0\n"), (BlockSizes{{2, 1, 0}, {2, 1, 0}}));
  EXPECT_EQ(read("2 1\ncolumns\n1\n1 1\n"), (BlockSizes{{2, 1}, {1, 1, 1}}));
  EXPECT_EQ(read("2\ncolumns\n"), (BlockSizes{{2}, {}}));
  refuse(three, "2 1.5\n", true, 1, "'1.5'");
  refuse(three, "2\nx\n", true, 2, "'x'");
  refuse(three, "2\n# \n-1\n", true, 3, "-1 is outside");
  refuse(three, "99999999999999999999999\n", true, 1, "is outside");
  refuse(three, "2 1\ncolumns\n2 1\ncolumns\n", true, 4, "twice");
  refuse(three, "", true, 0, "is empty");
  refuse(three, "2 2", true, 1, "ends within this line");
  refuse(three, "2 2\n", true, 0, "rows add up to 4");
  refuse(three, "2 1\ncolumns\n2\n", true, 0, "columns add up to 2");
  refuse(symmetric + "3 3 1\n2 1 1\n", "2 1\ncolumns\n1 2\n", true, 0, "symmetric");
  expect_input_error([] { read_block_sizes("/nowhere/sizes"); }, "/nowhere/sizes", 0, "no such file");
  expect_input_error([] { read_block_sizes("/"); }, "/", 0, "directory");
  expect_input_error([] { write_block_sizes("/nowhere/sizes", {{1}, {1}}); }, "/nowhere/sizes", 0, "written");
}

TEST_F(BlockSparseFileErrors, MatrixMarket) {
  refuse(general + "3 3 2\n1 1 5\n", "2 1\n", false, 3, "truncated");
  refuse(general + "3 3 1\n1 1 5\n2 1 6\n", "2 1\n", false, 4, "more entries");
  refuse(general + "3 3 3\n3 1 5\n1 1 6\n3 1 7\n", "2 1\n", false, 5, "twice");
  refuse(general + "3 3 1\n4 1 5\n", "2 1\n", false, 3, "outside");
  refuse(symmetric + "3 3 2\n2 1 5\n1 2 6\n", "2 1\n", false, 4, "twice");
  refuse(symmetric + "3 4 1\n2 1 5\n", "2 1\n", false, 2, "not square");
  refuse("%%MatrixMarket matrix coordinate complex general\n3 3 1\n1 1 5 1\n", "2 1\n", false, 1, "complex");
  expect_input_error([&] { read_matrix_market<double>(runtime(), "/nowhere/a", "/nowhere/b"); }, "/nowhere/a",
                     0, "no such file");
  const TemporaryFile large(runtime(), ".mtx", general + "3 3 1\n1 1 1e200\n");
  const auto layout = make_block_layout(runtime(), {2, 1}, {2, 1});
  expect_input_error([&] { read_matrix_market<float>(runtime(), large.path(), layout); }, large.path(), 3,
                     "too large");
  expect_input_error(
      [&] { read_matrix_market<double>(runtime(), large.path(), make_block_layout(runtime(), {2}, {3})); },
      large.path(), 0, "rows add up to 2");
  auto half = layout;
  half.symmetry = Symmetry::symmetric;
  expect_input_error([&] { read_matrix_market<double>(runtime(), large.path(), half); }, large.path(), 0,
                     "symmetry");
  expect_input_error(
      [&] { write_matrix_market("/nowhere/a", BlockSparseBuilder<double>(runtime(), layout).finalize()); },
      "/nowhere/a", 0, "written");
}

TEST_F(BlockSparseFileErrors, UnsortedEntriesAndUpperOnesAreFine) {
  const TemporaryFile file(runtime(), ".mtx", symmetric + "3 3 4\n3 3 1\n1 3 2\n1 1 3\n2 1 4\n");
  const auto a = read_matrix_market<double>(
      runtime(), file.path(), make_block_layout(runtime(), {2, 1}, {2, 1}, Symmetry::symmetric));
  EXPECT_EQ(*a.get_block(0, 0), (std::vector<double>{3, 4, 4, 0}));
  EXPECT_EQ(*a.get_block(1, 0), (std::vector<double>{2, 0}));
  EXPECT_EQ(*a.get_block(1, 1), (std::vector<double>{1}));
}

TEST_F(BlockSparseFileErrors, WaterMatrixInBlocksOfMolecules) {
  const char* data = std::getenv("TESSERA_TEST_DATA");
  if (!data) GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  const std::string path = std::string(data) + "/water32_dzvp_S.mtx.gz";
  const TemporaryFile sizes(runtime(), ".txt",
                            "23 23 23 23 23 23 23 23 23 23 23 23 23 23 23 23\n"
                            "23 23 23 23 23 23 23 23 23 23 23 23 23 23 23 23\n");
  const auto a = read_matrix_market<double>(runtime(), path, sizes.path());
  EXPECT_EQ(a.symmetry(), Symmetry::symmetric);
  EXPECT_EQ(a.block_rows(), 32);
  EXPECT_LE(a.pattern().blocks(), 32 * 33 / 2);
  MatrixMarketReader reader(path);
  const std::vector<double> dense = read_dense<double>(reader);
  EXPECT_EQ(to_dense(a), dense);
}

TEST_F(BlockSparseFileErrors, WhatIsWrittenIsSortedAndCut) {
  const auto layout = make_block_layout(runtime(), {1, 2}, {1, 2}, Symmetry::antisymmetric);
  BlockSparseBuilder<double> builder(runtime(), layout);
  const std::vector<double> column{1, -0.25}, diagonal{0, 3, -3, 0};
  builder.put(1, 0, {column.data(), 2, 1, 2});
  builder.put(1, 1, {diagonal.data(), 2, 2, 2});
  const auto a = builder.finalize();
  const TemporaryFile all(runtime(), ".mtx"), some(runtime(), ".mtx");
  write_matrix_market(all.path(), a);
  EXPECT_EQ(all.text(),
            "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 1\n3 1 -0.25\n3 2 3\n");
  write_matrix_market(some.path(), a, 0.5);
  EXPECT_EQ(some.text(), "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 2 3\n");
}

/// A file that only this test uses, written array by array.
struct Hdf5Parts {
  std::string format = "tessera block-sparse matrix 1", symmetry = "none";
  std::vector<Index> rows{2, 1}, cols{2, 1}, row{0, 1}, col{0, 1};
  std::vector<double> values{1, 2, 3, 4, 5};
  std::string left_out;
  void write(const std::string& path) const {
    Hdf5File file = Hdf5File::create(path);
    file.write_attribute("format", format);
    file.write_attribute("symmetry", symmetry);
    const auto put = [&](const std::string& name, const auto& array) {
      using Element = typename std::decay_t<decltype(array)>::value_type;
      if (name == left_out) return;
      file.create_array<Element>(name, static_cast<Index>(array.size()));
      file.write_elements(name, 0, static_cast<Index>(array.size()), array.data());
    };
    put("row_block_sizes", rows);
    put("col_block_sizes", cols);
    put("block_row", row);
    put("block_col", col);
    put("values", values);
    file.close();
  }
};

TEST_F(BlockSparseFileErrors, Hdf5) {
  const auto refuse = [&](auto change, const std::string& reason) {
    Hdf5Parts parts;
    change(parts);
    const TemporaryFile file(runtime(), ".h5");
    parts.write(file.path());
    expect_input_error([&] { read_hdf5<double>(runtime(), file.path()); }, file.path(), 0, reason);
  };
  refuse([](Hdf5Parts& p) { p.format = "something"; }, "format");
  refuse([](Hdf5Parts& p) { p.symmetry = "odd"; }, "unknown symmetry");
  refuse([](Hdf5Parts& p) { p.rows[1] = -1; }, "outside");
  refuse([](Hdf5Parts& p) { p.row[1] = 2; }, "outside the matrix");
  refuse([](Hdf5Parts& p) { p.col[1] = -1; }, "outside the matrix");
  refuse([](Hdf5Parts& p) { p.row.push_back(0); }, "'block_row' has 3");
  refuse([](Hdf5Parts& p) { p.row[1] = p.col[1] = 0; }, "twice");
  refuse([](Hdf5Parts& p) { p.values.pop_back(); }, "'values' has 4 elements, the blocks have 5");
  refuse([](Hdf5Parts& p) { p.values.push_back(0); }, "'values' has 6");
  refuse([](Hdf5Parts& p) { p.left_out = "values"; }, "'values'");
  refuse([](Hdf5Parts& p) { p.left_out = "col_block_sizes"; }, "'col_block_sizes'");
  refuse(
      [](Hdf5Parts& p) {
        p.symmetry = "symmetric";
        p.row[1] = 0;
      },
      "outside the lower half");
  refuse(
      [](Hdf5Parts& p) {
        p.symmetry = "symmetric";
        p.cols = {1, 2};
      },
      "square");
  const TemporaryFile text(runtime(), ".h5", "no HDF5 at all");
  expect_input_error([&] { read_hdf5<double>(runtime(), text.path()); }, text.path(), 0, "not an HDF5");
}

TEST_F(BlockSparseFileErrors, Hdf5OfOtherKindsAndCut) {
  const TemporaryFile file(runtime(), ".h5"), cut(runtime(), ".h5");
  Hdf5Parts parts;
  parts.row = {1, 0};  // files may list blocks in any order
  parts.col = {0, 0};
  parts.values = {1, 2, 3, 4, 5, 6};
  parts.write(file.path());
  const auto a = read_hdf5<float>(runtime(), file.path());
  EXPECT_EQ(*a.get_block(1, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(*a.get_block(0, 0), (std::vector<float>{3, 4, 5, 6}));
  expect_input_error([&] { read_hdf5<std::complex<double>>(runtime(), file.path()); }, file.path(), 0,
                     "cannot be read as complex numbers");
  expect_input_error(
      [&] {
        read_hdf5<double>(runtime(), file.path(), make_block_layout(runtime(), {1, 2}, {2, 1}));
      },
      file.path(), 0, "block sizes");
  const std::string text = file.text();
  std::ofstream(cut.path(), std::ios::binary) << text.substr(0, text.size() - 200);
  EXPECT_THROW(read_hdf5<double>(runtime(), cut.path()), InputError);
  expect_input_error([&] { write_hdf5("/nowhere/a.h5", a); }, "/nowhere/a.h5", 0, "written");
}

}  // namespace
}  // namespace tessera::test
