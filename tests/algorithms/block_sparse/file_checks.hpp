// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <tests/algorithms/block_sparse/dense_reference.hpp>
#include <tests/support/expect_refused.hpp>
#include <tests/support/temporary_file.hpp>

#include <tessera/block_sparse_files.hpp>

/// Checks of writing block-sparse matrices to files and reading them back. All functions are
/// collective.
namespace tessera::test {

inline BlockSizes sizes_of(const BlockLayout& layout) {
  return {{layout.rows->sizes().begin(), layout.rows->sizes().end()},
          {layout.cols->sizes().begin(), layout.cols->sizes().end()}};
}

/// The blocks without those of size zero, which files cannot represent because they hold no entry.
inline std::set<BlockCoordinate> without_ghosts(const BlockLayout& layout, std::set<BlockCoordinate> blocks) {
  std::erase_if(blocks, [&](BlockCoordinate b) {
    return layout.rows->size(b.row) == 0 || layout.cols->size(b.col) == 0;
  });
  return blocks;
}

template <class T>
void expect_same(const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b, bool ghosts) {
  const Contents<T> x = contents_of(a), y = contents_of(b);
  EXPECT_EQ(difference(x.elements, y.elements), 0);
  if (ghosts)
    EXPECT_EQ(x.blocks, y.blocks);
  else
    EXPECT_EQ(without_ghosts(a.layout(), x.blocks), without_ghosts(b.layout(), y.blocks));
}

/// `read(layout)` returns the matrix in another layout, and in one with both halves stored.
template <class T, class Read>
void expect_same_in_other_layouts(const BlockSparseMatrix<T>& a, std::uint64_t seed, bool ghosts,
                                  const Read& read) {
  const auto [rows, cols] = sizes_of(a.layout());
  for (const Symmetry symmetry : {a.symmetry(), Symmetry::none}) {
    const BlockLayout other = random_layout(a.runtime(), rows, cols, symmetry, seed + 7);
    const BlockSparseMatrix<T> there = read(other);
    EXPECT_TRUE(there.layout() == other);
    expect_same(a, there, ghosts);
  }
}

/// Writes a matrix and reads it in the default layout, in another layout, and with both halves
/// stored.
template <class T>
void check_matrix_market(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed,
                         const std::string& ending) {
  const auto a = drawn_matrix<T>(runtime, layout, 0.4, seed);
  const TemporaryFile file(runtime, ending), sizes(runtime, ".txt");
  write_matrix_market(file.path(), a);
  if (runtime.rank() == 0) write_block_sizes(sizes.path(), sizes_of(layout));
  const auto back = read_matrix_market<T>(runtime, file.path(), sizes.path());
  EXPECT_EQ(back.symmetry(),
            !is_complex<T> && layout.symmetry == Symmetry::hermitian ? Symmetry::symmetric : layout.symmetry);
  expect_same(a, back, false);
  expect_same_in_other_layouts(a, seed, false, [&](const BlockLayout& other) {
    return read_matrix_market<T>(runtime, file.path(), other);
  });
}

template <class T>
void check_hdf5(Runtime& runtime, const BlockLayout& layout, std::uint64_t seed) {
  const auto a = drawn_matrix<T>(runtime, layout, 0.4, seed);
  const TemporaryFile file(runtime, ".h5");
  write_hdf5(file.path(), a);
  const auto back = read_hdf5<T>(runtime, file.path());
  EXPECT_EQ(back.symmetry(), layout.symmetry);
  expect_same(a, back, true);
  expect_same_in_other_layouts(
      a, seed, true, [&](const BlockLayout& other) { return read_hdf5<T>(runtime, file.path(), other); });
}

}  // namespace tessera::test
