// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/runtime/column_slabs.hpp>
#include <tessera/runtime/error.hpp>

namespace tessera {

template <class T>
ColumnSlabs<T>::ColumnSlabs(Runtime& runtime, T* memory, Index ld, Index rows, Index cols, Index width)
    : rows_(rows), cols_(cols), width_(width) {
  if (width < 1) throw InvalidArgument("width", fmt::format("{}", width), "at least 1 column a slab");
  if (rows == 0) return;
  const Index ranks = runtime.size(), count = (cols + width - 1) / width;
  for (Index j = 0; j < count; ++j) {
    const auto owner = static_cast<int>(j % ranks);
    slabs_.push_back(Data::wrap_matrix(runtime, memory ? memory + j * width * ld : nullptr, rows,
                                       slab_cols(j), ld, sizeof(T), owner));
    slabs_.back().set_gpu(runtime.gpu_of_part(j / ranks, (count - owner - 1) / ranks + 1));
  }
}

template <class T>
ColumnSlabs<T>::ColumnSlabs(Runtime& runtime, Index rows, Index cols, Index width)
    : ColumnSlabs(runtime, nullptr, rows, rows, cols, width) {}

template <class T>
ColumnSlabs<T> ColumnSlabs<T>::wrap(Runtime& runtime, T* z, Index ld, Index rows, Index cols, Index width) {
  if (runtime.size() != 1)
    throw InvalidArgument("z", "one array", "ColumnSlabs of their own with several ranks");
  if (ld < std::max<Index>(rows, 1))
    throw InvalidArgument("ldz", fmt::format("{}", ld), fmt::format("at least {}", rows));
  return ColumnSlabs(runtime, z, ld, rows, cols, width);
}

template <class T>
void ColumnSlabs<T>::prefetch_to_gpus(const Data& data) const {
  int last = -1;
  for (const Data& slab : slabs_)
    if (slab.local() && slab.gpu() > last) data.prefetch(last = slab.gpu(), false);
}

#define TESSERA_INSTANTIATE(T) template class ColumnSlabs<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
