// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/runtime/tiled_matrix.hpp>

namespace tessera {

ProcessGrid ProcessGrid::squarest(int ranks) {
  int rows = 1;
  for (int p = 1; p * p <= ranks; ++p)
    if (ranks % p == 0) rows = p;
  return {rows, ranks / rows, false};
}

Index local_extent(Index n, Index block, int index, int count) {
  const Index whole = n / block, rest = n % block;
  Index extent = whole / count * block;
  if (index < whole % count) extent += block;
  if (index == whole % count) extent += rest;
  return extent;
}

template <class T>
TiledMatrix<T>::TiledMatrix(Runtime& runtime, T* memory, Index ld, const TileLayout& layout,
                            bool block_cyclic)
    : layout_(layout) {
  if (layout.rows < 0 || layout.cols < 0)
    throw InvalidArgument("layout", fmt::format("{} x {}", layout.rows, layout.cols),
                          "a size of at least 0 x 0");
  if (layout.tile_rows < 1 || layout.tile_cols < 1)
    throw InvalidArgument("tile", fmt::format("{} x {}", layout.tile_rows, layout.tile_cols),
                          "at least 1 x 1");
  if (layout.uplo != Uplo::general && layout.tile_rows != layout.tile_cols)
    throw InvalidArgument("tile", fmt::format("{} x {}", layout.tile_rows, layout.tile_cols),
                          "square tiles where only one triangle of tiles exists");
  if (layout.grid.rows < 1 || layout.grid.cols < 1 || layout.grid.rows * layout.grid.cols > runtime.size())
    throw InvalidArgument("grid", fmt::format("{} x {}", layout.grid.rows, layout.grid.cols),
                          fmt::format("a grid of at most {} ranks", runtime.size()));
  tiles_.resize(static_cast<std::size_t>(row_tiles() * col_tiles()));
  for (Index j = 0; j < col_tiles(); ++j)
    for (Index i = 0; i < row_tiles(); ++i) {
      if (!layout_.exists(i, j)) continue;
      Data& tile = tiles_[static_cast<std::size_t>(i + j * row_tiles())];
      T* place = nullptr;
      if (memory) {
        const Index local_i = block_cyclic ? i / layout.grid.rows : i,
                    local_j = block_cyclic ? j / layout.grid.cols : j;
        place = memory + local_i * layout.tile_rows + local_j * layout.tile_cols * ld;
      }
      tile = Data::wrap_matrix(runtime, place, tile_rows(i), tile_cols(j), ld, sizeof(T), owner(i, j));
    }
}

template <class T>
TiledMatrix<T>::TiledMatrix(Runtime& runtime, const TileLayout& layout)
    : TiledMatrix(runtime, nullptr, layout.tile_rows, layout, false) {}

template <class T>
TiledMatrix<T> TiledMatrix<T>::wrap(Runtime& runtime, T* a, Index ld, const TileLayout& layout) {
  if (ld < std::max<Index>(1, layout.rows))
    throw InvalidArgument("ld", fmt::format("{}", ld),
                          fmt::format("at least {} (the number of rows)", layout.rows));
  if (layout.grid.rows * layout.grid.cols != 1)
    throw InvalidArgument("grid", fmt::format("{} x {}", layout.grid.rows, layout.grid.cols),
                          "1 x 1 for an array in LAPACK layout (use wrap_block_cyclic)");
  return TiledMatrix(runtime, a, ld, layout, false);
}

template <class T>
TiledMatrix<T> TiledMatrix<T>::wrap_block_cyclic(Runtime& runtime, T* local, Index ld,
                                                 const TileLayout& layout) {
  // A rank that refuses its part must not leave the others alone with theirs: all look at the worst of all
  // answers.
  Index needed = 0, columns = 0;
  const int ranks = layout.grid.rows * layout.grid.cols;
  if (layout.tile_rows > 0 && layout.tile_cols > 0 && layout.grid.rows > 0 && layout.grid.cols > 0 &&
      runtime.rank() < ranks) {
    const int p =
        layout.grid.column_major ? runtime.rank() % layout.grid.rows : runtime.rank() / layout.grid.cols;
    const int q =
        layout.grid.column_major ? runtime.rank() / layout.grid.rows : runtime.rank() % layout.grid.cols;
    needed = local_extent(layout.rows, layout.tile_rows, p, layout.grid.rows);
    columns = local_extent(layout.cols, layout.tile_cols, q, layout.grid.cols);
  }
  const bool has_part = needed > 0 && columns > 0;
  double missing = has_part && !local ? 1 : 0;
  double short_by = has_part ? static_cast<double>(needed - ld) : 0;
  runtime.all_reduce_max(&missing, 1);
  runtime.all_reduce_max(&short_by, 1);
  if (missing > 0)
    throw InvalidArgument("local", "null", "an array on every rank that has a part of the matrix");
  if (short_by > 0)
    throw InvalidArgument("ld", fmt::format("{}", ld), "at least the number of local rows, on every rank");
  return TiledMatrix(runtime, local, std::max<Index>(ld, 1), layout, true);
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
