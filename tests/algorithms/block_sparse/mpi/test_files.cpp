// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tests/algorithms/block_sparse/file_checks.hpp>
#include <tests/algorithms/block_sparse/format_checks.hpp>

namespace tessera::test {
namespace {

TEST(BlockSparseFilesMpi, FormatsOfRandomDistributions) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  std::uint64_t seed = 10;
  for (const Symmetry symmetry : {Symmetry::none, Symmetry::hermitian}) {
    ++seed;
    using T = std::complex<double>;
    check_dense<T>(runtime, random_layout(runtime, square, square, symmetry, seed), seed);
    check_compressed_rows<T>(runtime, random_layout(runtime, square, square, symmetry, seed), seed);
  }
  check_compressed_rows<float>(runtime, random_layout(runtime, wide, square, Symmetry::none, 3), 3);
  check_compressed_rows<float>(runtime, random_layout(runtime, wide, {}, Symmetry::none, 3), 3);
}

TEST(BlockSparseFilesMpi, RoundTripsOfRandomDistributions) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  std::uint64_t seed = 20;
  for (const Symmetry symmetry : all_symmetries) {
    ++seed;
    using T = std::complex<float>;
    check_matrix_market<T>(runtime, random_layout(runtime, square, square, symmetry, seed), seed, ".mtx");
    check_hdf5<T>(runtime, random_layout(runtime, square, square, symmetry, seed), seed);
  }
  check_matrix_market<double>(runtime, random_layout(runtime, wide, square, Symmetry::none, 2), 2, ".mtx.gz");
  check_hdf5<double>(runtime, random_layout(runtime, wide, square, Symmetry::none, 2), 2);
  const std::vector<Index> large(20, 60);
  check_hdf5<double>(runtime, make_block_layout(runtime, large, large, Symmetry::symmetric), 2);
}

TEST(BlockSparseFilesMpi, FilesDoNotDependOnTheDistribution) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  std::vector<std::string> texts;
  for (const std::uint64_t seed : {1, 2}) {
    const BlockLayout layout = random_layout(runtime, square, square, Symmetry::symmetric, seed);
    const auto a = drawn_matrix<double>(runtime, layout, 0.5, 7);
    const TemporaryFile text(runtime, ".mtx");
    write_matrix_market(text.path(), a);
    runtime.barrier();
    texts.push_back(text.text());
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_GT(texts[0].size(), 1000u);
}

TEST(BlockSparseFilesMpi, ErrorsReachEveryRank) {
  Runtime runtime({.cores = 1, .bind = false}, Communicator::world());
  const TemporaryFile matrix(runtime, ".mtx",
                             "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 5\n3 2 7\n3 2 8\n"),
      cut(runtime, ".mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 5\n"),
      sizes(runtime, ".txt", "2\n1\n"), bad_sizes(runtime, ".txt", "2\nx\n"), no_hdf5(runtime, ".h5", "x");
  const auto read = [&](const TemporaryFile& a, const TemporaryFile& b) {
    return [&] { read_matrix_market<double>(runtime, a.path(), b.path()); };
  };
  expect_input_error(read(matrix, sizes), matrix.path(), 5, "twice");
  expect_input_error(read(cut, sizes), cut.path(), 3, "truncated");
  expect_input_error(read(matrix, bad_sizes), bad_sizes.path(), 2, "'x'");
  expect_input_error([&] { read_hdf5<double>(runtime, no_hdf5.path()); }, no_hdf5.path(), 0, "not an HDF5");
  const auto empty =
      BlockSparseBuilder<double>(runtime, make_block_layout(runtime, {2, 1}, {2, 1})).finalize();
  expect_input_error([&] { write_hdf5("/nowhere/a.h5", empty); }, "/nowhere/a.h5", 0, "written");
  expect_input_error([&] { write_matrix_market("/nowhere/a", empty); }, "/nowhere/a", 0, "written");
}

}  // namespace
}  // namespace tessera::test
