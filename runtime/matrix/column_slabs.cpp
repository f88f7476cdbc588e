// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/column_slabs.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera {

using namespace detail;

template <class T>
void ColumnSlabs<T>::check() const {
  if (rows_ < 0 || cols_ < 0)
    throw InvalidArgument("size", fmt::format("{} x {}", rows_, cols_), "at least 0 x 0");
  if (width_ < 1) throw InvalidArgument("width", fmt::format("{}", width_), "at least 1 column a slab");
}

template <class T>
void ColumnSlabs<T>::make_slabs(Runtime& runtime, T* memory, Index ld) {
  if (rows_ == 0) return;
  const Index ranks = runtime.size(), slabs = (cols_ + width_ - 1) / width_;
  for (Index j = 0; j < slabs; ++j) {
    const auto owner = static_cast<int>(j % ranks);
    slabs_.push_back(Data::wrap_matrix(runtime, memory ? memory + j * width_ * ld : nullptr, rows_,
                                       slab_cols(j), ld, sizeof(T), owner));
    slabs_.back().set_gpu(runtime.gpu_of_part(j / ranks, (slabs - owner - 1) / ranks + 1));
  }
}

template <class T>
ColumnSlabs<T>::ColumnSlabs(Runtime& runtime, Index rows, Index cols, Index width)
    : ColumnSlabs(rows, cols, width) {
  collectively(
      runtime, "ColumnSlabs", argument_hash(sizeof(T), rows, cols, width), [&] { check(); },
      [&] { make_slabs(runtime, nullptr, rows); });
}

template <class T>
ColumnSlabs<T> ColumnSlabs<T>::wrap(Runtime& runtime, T* z, Index ld, Index rows, Index cols, Index width) {
  ColumnSlabs result(rows, cols, width);
  const auto check = [&] {
    if (runtime.size() != 1)
      throw InvalidArgument("z", "one array", "ColumnSlabs of their own with several ranks");
    result.check();
    if (ld < std::max<Index>(rows, 1))
      throw InvalidArgument("ldz", fmt::format("{}", ld), fmt::format("at least {}", rows));
  };
  collectively(runtime, "ColumnSlabs::wrap", argument_hash(sizeof(T), rows, cols, width), check,
               [&] { result.make_slabs(runtime, z, ld); });
  return result;
}

template <class T>
void ColumnSlabs<T>::prefetch_to_gpus(const Data& data) const {
  int last = -1;
  for (const Data& slab : slabs_)
    if (slab.local() && slab.gpu() > last) data.prefetch(last = slab.gpu(), false);
}

template <class T>
TiledMatrix<T> tiles_of(ColumnSlabs<T>&& slabs) {
  if (slabs.slabs_.empty()) return {};
  int ranks = 1;  // slabs go to all of them in turn
  for (const Data& slab : slabs.slabs_) ranks = std::max(ranks, slab.owner() + 1);
  TiledMatrix<T> tiles(TileLayout{.rows = slabs.rows_,
                                  .cols = slabs.cols_,
                                  .tile_rows = slabs.rows_,
                                  .tile_cols = slabs.width_,
                                  .grid = {.rows = 1, .cols = ranks}});
  tiles.tiles_ = std::move(slabs.slabs_);
  return tiles;
}

#define TESSERA_INSTANTIATE(T)   \
  template class ColumnSlabs<T>; \
  template TiledMatrix<T> tiles_of<T>(ColumnSlabs<T> &&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
