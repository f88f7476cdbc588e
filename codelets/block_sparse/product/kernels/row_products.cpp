// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/product/kernels/row_products.hpp>
#include <tessera/codelets/common/dispatch.hpp>

namespace tessera::detail::kernels {

template <class T>
Index max_rows() noexcept {
  TESSERA_DISPATCH(cpu_level(), max_rows<T>());
}

template <class T>
Index padded_rows(Index m) noexcept {
  TESSERA_DISPATCH(cpu_level(), padded_rows<T>(m));
}

template <class T>
void multiply_row(Index m, Index k, const T* a, Index lda, const RowOfBlocks<T>& row, T* sums) noexcept {
  TESSERA_DISPATCH(cpu_level(), multiply_row<T>(m, k, a, lda, row, sums));
}

template <class T>
void multiply_listed(Index size, const ListedBlocks<T>& blocks) noexcept {
  TESSERA_DISPATCH(cpu_level(), multiply_listed<T>(size, blocks));
}

template <class T>
void pad_columns(Index m, Index columns, const T* from, T* to) noexcept {
  TESSERA_DISPATCH(cpu_level(), pad_columns<T>(m, columns, from, to));
}

template <class T>
void unpad_columns(Index m, Index columns, const T* from, T* to) noexcept {
  TESSERA_DISPATCH(cpu_level(), unpad_columns<T>(m, columns, from, to));
}

#define TESSERA_INSTANTIATE(T)                                                                      \
  template Index max_rows<T>() noexcept;                                                            \
  template Index padded_rows<T>(Index) noexcept;                                                    \
  template void multiply_row<T>(Index, Index, const T*, Index, const RowOfBlocks<T>&, T*) noexcept; \
  template void multiply_listed<T>(Index, const ListedBlocks<T>&) noexcept;                         \
  template void pad_columns<T>(Index, Index, const T*, T*) noexcept;                                \
  template void unpad_columns<T>(Index, Index, const T*, T*) noexcept;
TESSERA_INSTANTIATE(float) TESSERA_INSTANTIATE(double)

}  // namespace tessera::detail::kernels
