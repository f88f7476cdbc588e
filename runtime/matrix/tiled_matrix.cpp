// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/runtime/agreement.hpp>
#include <tessera/tiled_matrix.hpp>

namespace tessera {

using namespace detail;

ProcessGrid ProcessGrid::squarest(int ranks) {
  int rows = 1;
  for (int p = 1; p * p <= ranks; ++p)
    if (ranks % p == 0) rows = p;
  return {rows, ranks / rows, false};
}

Index local_extent(Index n, Index block, int index, int count, int first) {
  index = (index - first + count) % count;
  const Index whole = n / block, rest = n % block;
  Index extent = whole / count * block;
  if (index < whole % count) extent += block;
  if (index == whole % count) extent += rest;
  return extent;
}

TileLayout TileLayout::part(Index row, Index col, Index part_rows, Index part_cols) const noexcept {
  const Index from_row = row_offset + row, from_col = col_offset + col;
  TileLayout result = *this;
  result.rows = part_rows;
  result.cols = part_cols;
  result.first_row = static_cast<int>((first_row + from_row / tile_rows) % grid.rows);
  result.first_col = static_cast<int>((first_col + from_col / tile_cols) % grid.cols);
  result.row_offset = from_row % tile_rows;
  result.col_offset = from_col % tile_cols;
  return result;
}

std::uint64_t detail::hash_of(const TileLayout& layout) noexcept {
  return argument_hash(layout.rows, layout.cols, layout.tile_rows, layout.tile_cols, layout.grid.rows,
                       layout.grid.cols, layout.grid.column_major, layout.uplo, layout.first_row,
                       layout.first_col, layout.row_offset, layout.col_offset);
}

template <class T>
void TiledMatrix<T>::check(const Runtime& runtime, bool any_tiles) const {
  if (layout_.rows < 0 || layout_.cols < 0)
    throw InvalidArgument("layout", fmt::format("{} x {}", layout_.rows, layout_.cols),
                          "a size of at least 0 x 0");
  if (layout_.tile_rows < 1 || layout_.tile_cols < 1)
    throw InvalidArgument("tile", fmt::format("{} x {}", layout_.tile_rows, layout_.tile_cols),
                          "at least 1 x 1");
  if (!any_tiles && layout_.uplo != Uplo::general &&
      (layout_.tile_rows != layout_.tile_cols || layout_.row_offset != layout_.col_offset))
    throw InvalidArgument("tile", fmt::format("{} x {}", layout_.tile_rows, layout_.tile_cols),
                          "square tiles where only one triangle of tiles exists");
  const ProcessGrid& grid = layout_.grid;
  if (grid.rows < 1 || grid.cols < 1 || Index(grid.rows) * grid.cols > runtime.size())
    throw InvalidArgument("grid", fmt::format("{} x {}", grid.rows, grid.cols),
                          fmt::format("a grid of at most {} ranks", runtime.size()));
  if (layout_.first_row < 0 || layout_.first_row >= grid.rows || layout_.first_col < 0 ||
      layout_.first_col >= grid.cols)
    throw InvalidArgument("first", fmt::format("({}, {})", layout_.first_row, layout_.first_col),
                          fmt::format("a place in the grid of {} x {} ranks", grid.rows, grid.cols));
  if (layout_.row_offset < 0 || layout_.row_offset >= layout_.tile_rows || layout_.col_offset < 0 ||
      layout_.col_offset >= layout_.tile_cols)
    throw InvalidArgument("offset", fmt::format("({}, {})", layout_.row_offset, layout_.col_offset),
                          "0 or more, and less than a tile");
}

template <class T>
void TiledMatrix<T>::make_tiles(Runtime& runtime, T* memory, Index ld, bool block_cyclic) {
  tiles_.resize(static_cast<std::size_t>(row_tiles() * col_tiles()));
  for (Index j = 0; j < col_tiles(); ++j)
    for (Index i = 0; i < row_tiles(); ++i) {
      if (!layout_.exists(i, j)) continue;
      Data& tile = tiles_[static_cast<std::size_t>(i + j * row_tiles())];
      T* place = nullptr;
      if (memory && block_cyclic) {
        const Index row = i / layout_.grid.rows * layout_.tile_rows + (i == 0 ? layout_.row_offset : 0),
                    col = j / layout_.grid.cols * layout_.tile_cols + (j == 0 ? layout_.col_offset : 0);
        place = memory + row + col * ld;
      } else if (memory) {
        place = memory + layout_.row_begin(i) + layout_.col_begin(j) * ld;
      }
      tile = Data::wrap_matrix(runtime, place, tile_rows(i), tile_cols(j), ld, sizeof(T), owner(i, j));
    }
}

template <class T>
TiledMatrix<T>::TiledMatrix(Runtime& runtime, const TileLayout& layout) : TiledMatrix(layout) {
  collectively(
      runtime, "TiledMatrix", argument_hash(sizeof(T), hash_of(layout)), [&] { check(runtime, false); },
      [&] { make_tiles(runtime, nullptr, layout.tile_rows, false); });
}

template <class T>
TiledMatrix<T> TiledMatrix<T>::wrap(Runtime& runtime, T* a, Index ld, const TileLayout& layout) {
  TiledMatrix result(layout);
  const auto check = [&] {
    if (ld < std::max<Index>(1, layout.rows))
      throw InvalidArgument("ld", fmt::format("{}", ld),
                            fmt::format("at least {} (the number of rows)", layout.rows));
    if (layout.grid.rows != 1 || layout.grid.cols != 1)
      throw InvalidArgument("grid", fmt::format("{} x {}", layout.grid.rows, layout.grid.cols),
                            "1 x 1 for an array in LAPACK layout (use wrap_block_cyclic)");
    result.check(runtime, false);
    if (!a && layout.rows > 0 && layout.cols > 0 && runtime.rank() == 0)
      throw InvalidArgument("a", "null", "an array");
  };
  collectively(runtime, "TiledMatrix::wrap", argument_hash(sizeof(T), hash_of(layout)), check,
               [&] { result.make_tiles(runtime, a, ld, false); });
  return result;
}

template <class T>
void TiledMatrix<T>::check_local_part(const Runtime& runtime, const T* local, Index ld) const {
  const ProcessGrid& grid = layout_.grid;
  const int rank = runtime.rank();
  if (rank >= grid.rows * grid.cols) return;
  // With the offsets, rows and columns before the matrix.
  const Index rows = local_extent(layout_.row_offset + layout_.rows, layout_.tile_rows, grid.row_of(rank),
                                  grid.rows, layout_.first_row),
              columns = local_extent(layout_.col_offset + layout_.cols, layout_.tile_cols, grid.col_of(rank),
                                     grid.cols, layout_.first_col);
  if (rows == 0 || columns == 0 || layout_.rows == 0 || layout_.cols == 0) return;
  if (!local) throw InvalidArgument("local", "null", "an array on every rank that has a part of the matrix");
  if (ld < rows)
    throw InvalidArgument("ld", fmt::format("{}", ld), "at least the number of local rows, on every rank");
}

template <class T>
void TiledMatrix<T>::require_block_cyclic(const Runtime& runtime, const T* local, Index ld,
                                          const TileLayout& layout) {
  const TiledMatrix result(layout);
  result.check(runtime, true);
  result.check_local_part(runtime, local, ld);
}

template <class T>
TiledMatrix<T> TiledMatrix<T>::wrap_block_cyclic(Runtime& runtime, T* local, Index ld,
                                                 const TileLayout& layout) {
  TiledMatrix result(layout);
  const auto check = [&] { require_block_cyclic(runtime, local, ld, layout); };
  collectively(runtime, "TiledMatrix::wrap_block_cyclic", argument_hash(sizeof(T), hash_of(layout)), check,
               [&] { result.make_tiles(runtime, local, std::max<Index>(ld, 1), true); });
  return result;
}

template <class T>
void TiledMatrix<T>::flush_remote_copies() const {
  for (const Data& tile : tiles_)
    if (tile.valid()) tile.flush_remote_copies();
}

template <class T>
void TiledMatrix<T>::free_gpu_copies_after(const Data& other) const {
  for (const Data& tile : tiles_)
    if (tile.valid()) tile.free_gpu_copies_after(other);
}

template <class T>
void TiledMatrix<T>::prefetch() const {
  int next = 0;
  for (const Data& tile : tiles_) {
    if (!tile.valid() || !tile.local()) continue;
    const int gpus = tile.runtime()->info().cuda_workers;
    if (gpus > 0) tile.prefetch(next++ % gpus);
  }
}

#define TESSERA_INSTANTIATE(T) template class TiledMatrix<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
