// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Body of the row-wise products for one instruction set level (see dispatch.hpp).
#include <tessera/codelets/block_sparse/product/kernels/row_products.hpp>

namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE {
namespace {

#define TESSERA_ALWAYS_INLINE inline __attribute__((always_inline))

#if TESSERA_CPU_LEVEL == 4
constexpr int register_bytes = 64, registers = 32;
#elif TESSERA_CPU_LEVEL == 3
constexpr int register_bytes = 32, registers = 16;
#else
constexpr int register_bytes = 16, registers = 16;
#endif
constexpr int max_height = 6;  // of blocks; in registers

template <class T>
constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
template <class T>
struct Registers {
  typedef T Vector __attribute__((vector_size(register_bytes)));
  typedef T Unaligned __attribute__((vector_size(register_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
TESSERA_ALWAYS_INLINE typename Registers<T>::Vector load(const T* p) noexcept {
  return *reinterpret_cast<const typename Registers<T>::Unaligned*>(p);
}
template <class T>
TESSERA_ALWAYS_INLINE void store(T* p, typename Registers<T>::Vector x) noexcept {
  *reinterpret_cast<typename Registers<T>::Unaligned*>(p) = x;
}

/// Columns of a tile of `height` registers: the most that leave registers for a column of A and a number of
/// B.
constexpr int tile_width(int height) noexcept {
  const int width = (registers - 1 - height) / height;
  return width < 6 ? width : 6;
}

/// `height` registers by `width` columns of a block of C.
template <class T, int height, int width>
TESSERA_ALWAYS_INLINE void tile(Index ld, Index k, const T* a, Index lda, const T* b, T* c) noexcept {
  typename Registers<T>::Vector sum[width][height];
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) sum[w][h] = load(c + w * ld + h * lanes<T>);
  for (Index l = 0; l < k; ++l) {
#pragma GCC unroll 8
    for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
      for (int h = 0; h < height; ++h) sum[w][h] += load(a + l * lda + h * lanes<T>) * b[w * k + l];
  }
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) store(c + w * ld + h * lanes<T>, sum[w][h]);
}

/// All columns of a block of C, `height` registers high, at most three: tiles of about equal width, none so
/// narrow that additions wait for each other.
template <class T, int height>
TESSERA_ALWAYS_INLINE void columns(Index ld, Index n, Index k, const T* a, Index lda, const T* b,
                                   T* c) noexcept {
  constexpr int most = tile_width(height);
  Index left = n;
  while (left > 0) {
    const Index width = left <= most ? left : left >= 2 * most ? most : (left + 1) / 2;
    switch (width) {
      case 1:
        tile<T, height, 1>(ld, k, a, lda, b, c);
        break;
      case 2:
        tile<T, height, 2>(ld, k, a, lda, b, c);
        break;
      case 3:
        tile<T, height, 3>(ld, k, a, lda, b, c);
        break;
      case 4:
        if constexpr (most >= 4) tile<T, height, 4>(ld, k, a, lda, b, c);
        break;
      case 5:
        if constexpr (most >= 5) tile<T, height, 5>(ld, k, a, lda, b, c);
        break;
      default:
        if constexpr (most >= 6) tile<T, height, 6>(ld, k, a, lda, b, c);
    }
    left -= width;
    b += width * k;
    c += width * ld;
  }
}

/// A block of C: higher ones in parts of two or three registers.
template <class T, int height>
TESSERA_ALWAYS_INLINE void block(Index ld, Index n, Index k, const T* a, Index lda, const T* b,
                                 T* c) noexcept {
  if constexpr (height <= 3) {
    columns<T, height>(ld, n, k, a, lda, b, c);
  } else {
    constexpr int upper = height == 4 ? 2 : 3;
    columns<T, upper>(ld, n, k, a, lda, b, c);
    block<T, height - upper>(ld, n, k, a + upper * lanes<T>, lda, b, c + upper * lanes<T>);
  }
}

/// Bytes of a block of B that the processor does not fetch by itself in time: it stops at the end of a page.
constexpr Index least_fetched = 2048;

/// The block of B after the next one, into the second cache. The first one has no room for it.
TESSERA_ALWAYS_INLINE void fetch_ahead(const char* block, Index bytes) noexcept {
  constexpr Index line = 64, blocks = 2;
  for (Index i = 0; i < bytes; i += line) __builtin_prefetch(block + blocks * bytes + i, 0, 2);
}

/// Blocks of C `height` registers high.
template <class T, int height>
void multiply_blocks(Index k, const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept {
  constexpr Index ld = height * lanes<T>;
  const Index *const offset = row.offset, *const sizes = row.sizes;
  const std::int32_t *const column = row.column, *const place = row.place, *const size_class = row.size_class;
  const T* const b = row.b;
  const Index count = row.count;
  if (!size_class) {
    const Index n = sizes[0], bytes = n * k * static_cast<Index>(sizeof(T));
    for (Index i = 0; i < count; ++i) {
      if (bytes >= least_fetched) fetch_ahead(reinterpret_cast<const char*>(b + offset[i]), bytes);
      block<T, height>(ld, n, k, a, lda, b + offset[i], sums + place[column[i]] * ld);
    }
    return;
  }
  for (Index i = 0; i < count; ++i)
    block<T, height>(ld, sizes[size_class[column[i]]], k, a, lda, b + offset[i],
                     sums + place[column[i]] * ld);
}

/// Columns of a block of A that stay in registers, one each, beside a tile of C: of blocks one register high.
constexpr int max_kept = registers == 32 ? 16 : 8;

/// `width` columns of a block of C one register high, with all of A's block in registers.
template <class T, int k, int width>
TESSERA_ALWAYS_INLINE void kept_tile(const typename Registers<T>::Vector (&a)[k], const T* b, T* c) noexcept {
  typename Registers<T>::Vector sum[width];
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w) sum[w] = load(c + w * lanes<T>);
#pragma GCC unroll 16
  for (int l = 0; l < k; ++l)
#pragma GCC unroll 8
    for (int w = 0; w < width; ++w) sum[w] += a[l] * b[w * k + l];
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w) store(c + w * lanes<T>, sum[w]);
}

/// The same as multiply_blocks<T, 1>, for a number of columns of A that is known: a block of A is loaded once
/// for its row of B, of which a block takes so few instructions that the loads would count.
template <class T, int k>
void multiply_kept(const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept {
  typename Registers<T>::Vector kept[k];
#pragma GCC unroll 16
  for (int l = 0; l < k; ++l) kept[l] = load(a + l * lda);
  for (Index i = 0; i < row.count; ++i) {
    const std::int32_t column = row.column[i];
    const T* b = row.b + row.offset[i];
    T* c = sums + row.place[column] * lanes<T>;
    Index left = row.sizes[row.size_class ? row.size_class[column] : 0];
    for (; left >= 5; left -= 5, b += 5 * k, c += 5 * lanes<T>) kept_tile<T, k, 5>(kept, b, c);
    switch (left) {
      case 4:
        kept_tile<T, k, 4>(kept, b, c);
        break;
      case 3:
        kept_tile<T, k, 3>(kept, b, c);
        break;
      case 2:
        kept_tile<T, k, 2>(kept, b, c);
        break;
      case 1:
        kept_tile<T, k, 1>(kept, b, c);
        break;
      default:
        break;
    }
  }
}

/// multiply_kept for 1 <= k <= max_kept.
template <class T, int most = max_kept>
TESSERA_ALWAYS_INLINE void choose_kept(Index k, const T* a, Index lda, const RowOfBlocks<T>& row,
                                       T* sums) noexcept {
  if constexpr (most > 0) {
    if (k == most) return multiply_kept<T, most>(a, lda, row, sums);
    choose_kept<T, most - 1>(k, a, lda, row, sums);
  }
}

/// The first `rows` rows of a register.
template <class T, int rows>
TESSERA_ALWAYS_INLINE typename Registers<T>::Vector load_rows(const T* p) noexcept {
  typename Registers<T>::Vector x = {};
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) x[i] = p[i];
  return x;
}
template <class T, int rows>
TESSERA_ALWAYS_INLINE void store_rows(T* p, typename Registers<T>::Vector x) noexcept {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) p[i] = x[i];
}

/// `width` columns of a block of C of `size` rows, from column `first` on, with all products of its list.
template <class T, int size, int first, int width>
TESSERA_ALWAYS_INLINE void listed_tile(const BlockPair<T>* pairs, Index count, bool started, T* c) noexcept {
  constexpr int height = (size + lanes<T> - 1) / lanes<T>, padded = height * lanes<T>,
                last = size - padded + lanes<T>;
  typename Registers<T>::Vector sum[width][height];
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) {
      const T* const from = c + (first + w) * size + h * lanes<T>;
      sum[w][h] = typename Registers<T>::Vector{};
      if (started) sum[w][h] = h + 1 < height ? load(from) : load_rows<T, last>(from);
    }
  for (Index i = 0; i < count; ++i) {
    const T *const a = pairs[i].a, *const b = pairs[i].b + first * size;
// If this loop were unrolled, too, the registers of AVX2 would not suffice.
#pragma GCC unroll 1
    for (int l = 0; l < size; ++l)
#pragma GCC unroll 8
      for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
        for (int h = 0; h < height; ++h) sum[w][h] += load(a + l * size + h * lanes<T>) * b[w * size + l];
  }
  // A register may reach beyond its column: the next columns overwrite that part, if the tile has enough.
#pragma GCC unroll 8
  for (int w = 0; w < width; ++w)
#pragma GCC unroll 8
    for (int h = 0; h < height; ++h) {
      T* const to = c + (first + w) * size + h * lanes<T>;
      if (w * size + padded <= width * size || h + 1 < height)
        store(to, sum[w][h]);
      else
        store_rows<T, last>(to, sum[w][h]);
    }
}

/// Columns of a block of C that are computed together: as many as there are registers for, of about equal
/// number.
template <class T, int size>
constexpr int listed_width() noexcept {
  constexpr int most = tile_width((size + lanes<T> - 1) / lanes<T>), tiles = (size + most - 1) / most;
  return (size + tiles - 1) / tiles;
}

template <class T, int size, int first = 0>
TESSERA_ALWAYS_INLINE void listed_block(const BlockPair<T>* pairs, Index count, bool started, T* c) noexcept {
  constexpr int most = listed_width<T, size>(), width = size - first < most ? size - first : most;
  listed_tile<T, size, first, width>(pairs, count, started, c);
  if constexpr (first + width < size) listed_block<T, size, first + width>(pairs, count, started, c);
}

template <int bytes>
TESSERA_ALWAYS_INLINE void prefetch(const char* block) noexcept {
  constexpr int line = 64;
#pragma GCC unroll 16
  for (int i = 0; i < bytes; i += line) __builtin_prefetch(block + i);
}

/// While a block of C is computed, one further on is fetched, and the blocks of B of the next but one: those
/// that a list usually has, whether they are still there or left from another row.
template <class T, int size>
void multiply_listed_blocks(const ListedBlocks<T>& blocks) noexcept {
  constexpr int bytes = size * size * static_cast<int>(sizeof(T)), bytes_ahead = 1024, blocks_ahead = 2,
                pairs_ahead = 3;
  const BlockPair<T>* const pairs = blocks.pairs;
  const std::int32_t *const columns = blocks.column, *const listed = blocks.listed;
  const char* const started = blocks.started;
  const Index count = blocks.count;
  T* c = blocks.c;
  for (Index i = 0; i < count; ++i, c += size * size) {
    const BlockPair<T>* const later =
        pairs + columns[i + blocks_ahead < count ? i + blocks_ahead : i] * max_listed;
#pragma GCC unroll 4
    for (int p = 0; p < pairs_ahead; ++p) prefetch<bytes>(reinterpret_cast<const char*>(later[p].b));
    prefetch<bytes>(reinterpret_cast<const char*>(c) + bytes_ahead);
    const std::int32_t column = columns[i];
    listed_block<T, size>(pairs + column * max_listed, listed[column], started[column], c);
  }
}

template <class T, int most = max_listed_size>
TESSERA_ALWAYS_INLINE void choose_listed(Index size, const ListedBlocks<T>& blocks) noexcept {
  if constexpr (most > 0) {
    if (size == most) return multiply_listed_blocks<T, most>(blocks);
    choose_listed<T, most - 1>(size, blocks);
  }
}

}  // namespace

template <class T>
void multiply_listed(Index size, const ListedBlocks<T>& blocks) noexcept {
  choose_listed<T>(size, blocks);
}

template <class T>
Index max_rows() noexcept {
  return max_height * lanes<T>;
}

template <class T>
Index padded_rows(Index m) noexcept {
  return (m + lanes<T> - 1) / lanes<T> * lanes<T>;
}

template <class T>
void multiply_row(Index m, Index k, const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept {
  static_assert(max_height == 6);
  switch ((m + lanes<T> - 1) / lanes<T>) {
    case 1:
      if (k <= max_kept) return choose_kept<T>(k, a, lda, row, sums);
      return multiply_blocks<T, 1>(k, a, lda, row, sums);
    case 2:
      return multiply_blocks<T, 2>(k, a, lda, row, sums);
    case 3:
      return multiply_blocks<T, 3>(k, a, lda, row, sums);
    case 4:
      return multiply_blocks<T, 4>(k, a, lda, row, sums);
    case 5:
      return multiply_blocks<T, 5>(k, a, lda, row, sums);
    case 6:
      return multiply_blocks<T, 6>(k, a, lda, row, sums);
    default:
      break;
  }
}

// The last register of a column may reach into the next one, which is written after it.
template <class T>
void pad_columns(Index m, Index columns, const T* from, T* to) noexcept {
  const Index ld = padded_rows<T>(m);
  // Registers that reach beyond the last column of all are not read.
  const Index whole = columns - (ld - m + m - 1) / m;
  for (Index j = 0; j < whole; ++j)
    for (Index i = 0; i < ld; i += lanes<T>) store(to + j * ld + i, load(from + j * m + i));
  for (Index j = whole < 0 ? 0 : whole; j < columns; ++j)
    for (Index i = 0; i < ld; ++i) to[j * ld + i] = i < m ? from[j * m + i] : T(0);
}

template <class T>
void unpad_columns(Index m, Index columns, const T* from, T* to) noexcept {
  const Index ld = padded_rows<T>(m);
  const Index whole = columns - (ld - m + m - 1) / m;
  for (Index j = 0; j < whole; ++j)
    for (Index i = 0; i < ld; i += lanes<T>) store(to + j * m + i, load(from + j * ld + i));
  for (Index j = whole < 0 ? 0 : whole; j < columns; ++j)
    for (Index i = 0; i < m; ++i) to[j * m + i] = from[j * ld + i];
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template Index max_rows<T>() noexcept;                                                            \
  template Index padded_rows<T>(Index) noexcept;                                                    \
  template void multiply_row<T>(Index, Index, const T*, Index, const RowOfBlocks<T>&, T*) noexcept; \
  template void multiply_listed<T>(Index, const ListedBlocks<T>&) noexcept;                         \
  template void pad_columns<T>(Index, Index, const T*, T*) noexcept;                                \
  template void unpad_columns<T>(Index, Index, const T*, T*) noexcept;
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)

}  // namespace tessera::detail::kernels::TESSERA_CPU_LEVEL_NAMESPACE
