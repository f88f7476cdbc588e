// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/types.hpp>

/// Products of real blocks that are too small for one kernel call each: a block of A times a row of blocks of
/// B, added to a row of blocks of C whose columns are padded to whole registers. C's row then stays in the
/// first cache for all blocks of A in the row, and a product needs no masks and no remainders.
namespace tessera::detail::kernels {

/// Blocks of B that a block of A is multiplied by.
template <class T>
struct RowOfBlocks {
  const T* b;                  ///< the panel; blocks are k x n, column-major without gaps
  const Index* offset;         ///< where each block begins
  const std::int32_t* column;  ///< its column of blocks
  Index count;
  const std::int32_t* place;       ///< for each column of blocks, its first column in the padded row
  const std::int32_t* size_class;  ///< for each column of blocks; null: all have the first size
  const Index* sizes;              ///< n, of each class
};

/// Rows that a block may have.
template <class T>
Index max_rows() noexcept;
/// Rows of a padded column of `m` rows.
template <class T>
Index padded_rows(Index m) noexcept;

/// C_j += A B_j for a row of blocks; `a`: m x k, its columns padded; `sums`: C's row, columns padded. What
/// the padding holds does not matter. 2 m n k flops a block. The inner index ascends.
template <class T>
void multiply_row(Index m, Index k, const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept;

/// Copies columns of m rows without gaps to padded ones (whose padding may be anything), and back.
template <class T>
void pad_columns(Index m, Index columns, const T* from, T* to) noexcept;
template <class T>
void unpad_columns(Index m, Index columns, const T* from, T* to) noexcept;

/// A block of A and one of B that are multiplied.
template <class T>
struct BlockPair {
  const T *a, *b;
};

/// Pairs in the list of a block of C.
inline constexpr std::int32_t max_listed = 8;

/// Blocks of C that follow each other in memory, and what is added to each: up to max_listed products.
template <class T>
struct ListedBlocks {
  T* c;                        ///< the first block; all are square, column-major without gaps
  const std::int32_t* column;  ///< of each block, its column of blocks
  Index count;                 ///< of blocks
  const BlockPair<T>* pairs;   ///< max_listed for each column of blocks; the first ones count
  const std::int32_t* listed;  ///< for each column of blocks, how many count
  const char* started;         ///< for each column of blocks: C has values; else zero is taken for them
};

/// Rows and columns that square blocks may have whose products are listed.
inline constexpr Index max_listed_size = 8;

/// C_j += sum A B over the list of each block, in the order of the list; a block of C stays in registers
/// until it is written once. All blocks have `size` rows and columns, 1 to max_listed_size, without
/// gaps; after a block of A padded_rows(size) - size numbers more are read, whatever they are.
template <class T>
void multiply_listed(Index size, const ListedBlocks<T>& blocks) noexcept;

#define TESSERA_DECLARE_ROW_PRODUCTS(LEVEL)                                                                \
  namespace LEVEL {                                                                                        \
  template <class T>                                                                                       \
  Index max_rows() noexcept;                                                                               \
  template <class T>                                                                                       \
  Index padded_rows(Index m) noexcept;                                                                     \
  template <class T>                                                                                       \
  void multiply_row(Index m, Index k, const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept; \
  template <class T>                                                                                       \
  void multiply_listed(Index size, const ListedBlocks<T>& blocks) noexcept;                                \
  template <class T>                                                                                       \
  void pad_columns(Index m, Index columns, const T* from, T* to) noexcept;                                 \
  template <class T>                                                                                       \
  void unpad_columns(Index m, Index columns, const T* from, T* to) noexcept;                               \
  }
TESSERA_DECLARE_ROW_PRODUCTS(level2)
TESSERA_DECLARE_ROW_PRODUCTS(level3)
TESSERA_DECLARE_ROW_PRODUCTS(level4)
#undef TESSERA_DECLARE_ROW_PRODUCTS

}  // namespace tessera::detail::kernels
