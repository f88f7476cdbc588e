// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/product/dense_panels.inl>

namespace tessera::detail::kernels {

template <class T>
void expand_panel(std::span<const DenseBlock> blocks, const T* values, MatrixView<T> dense) noexcept {
  blas::set_zero(dense);
  for (const DenseBlock& block : blocks) {
    const T* from = values + block.offset;
    T* to = &dense(block.row, block.col);
    for (std::int32_t j = 0; j < block.cols; ++j, from += block.rows, to += dense.ld)
      std::copy_n(from, block.rows, to);
  }
}

template <class T>
void extract_blocks(std::span<const DenseBlock> blocks, MatrixView<const T> dense, Store store,
                    T* values) noexcept {
  for (const DenseBlock& block : blocks) {
    const T* from = &dense(block.row, block.col);
    T* to = values + block.offset;
    for (std::int32_t j = 0; j < block.cols; ++j, from += dense.ld, to += block.rows) {
      if (store == Store::add)
        for (std::int32_t i = 0; i < block.rows; ++i) to[i] += from[i];
      else
        std::copy_n(from, block.rows, to);
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template void expand_panel<T>(std::span<const DenseBlock>, const T*, MatrixView<T>) noexcept; \
  template void extract_blocks<T>(std::span<const DenseBlock>, MatrixView<const T>, Store, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels

namespace tessera::detail {

template <class T>
void run(const HostContext&, const ExpandPanel<T>& task) {
  kernels::expand_panel<T>(*task.blocks, task.values.view().data(), *task.dense);
}

template <class T>
void run(const HostContext&, const ExtractBlocks<T>& task) {
  kernels::extract_blocks<T>(*task.blocks, *task.dense, store_of(task.values), task.values.view().data());
}

#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_TASK(ExpandPanel<T>)   \
  TESSERA_DEFINE_TASK(MultiplyDense<T>) \
  TESSERA_DEFINE_TASK(ExtractBlocks<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
