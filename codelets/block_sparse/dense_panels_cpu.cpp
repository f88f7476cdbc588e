// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/dense_panels.hpp>

namespace tessera::kernels {

template <class T>
void expand_panel(std::span<const DenseBlock> blocks, const T* values, MatrixView<T> dense) noexcept {
  for (Index j = 0; j < dense.cols; ++j) std::fill_n(dense.data + j * dense.ld, dense.rows, T(0));
  for (const DenseBlock& block : blocks) {
    const T* from = values + block.offset;
    T* to = &dense(block.row, block.col);
    for (std::int32_t j = 0; j < block.cols; ++j, from += block.rows, to += dense.ld)
      std::copy_n(from, block.rows, to);
  }
}

template <class T>
void extract_blocks(std::span<const DenseBlock> blocks, MatrixView<const T> dense, bool add,
                    T* values) noexcept {
  for (const DenseBlock& block : blocks) {
    const T* from = &dense(block.row, block.col);
    T* to = values + block.offset;
    for (std::int32_t j = 0; j < block.cols; ++j, from += dense.ld, to += block.rows) {
      if (add)
        for (std::int32_t i = 0; i < block.rows; ++i) to[i] += from[i];
      else
        std::copy_n(from, block.rows, to);
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template void expand_panel<T>(std::span<const DenseBlock>, const T*, MatrixView<T>) noexcept; \
  template void extract_blocks<T>(std::span<const DenseBlock>, MatrixView<const T>, bool, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
