// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>
#include <tessera/codelets/sparse/multiply_csr.hpp>

namespace tessera::detail {

template <class V, class T>
void kernels::multiply_csr(const CsrPieceView<V>& piece, int columns, const T* x, std::int64_t ldx, T* y,
                           std::int64_t ldy) noexcept {
  TESSERA_DISPATCH(cpu_level(), multiply_csr<V, T>(piece, columns, x, ldx, y, ldy));
}

template <class V, class T>
void run(const HostContext&, const MultiplyCsr<V, T>& task) {
  const CsrPieceSizes sizes = csr_piece_sizes(task.shape.rows, task.shape.entry_count, sizeof(V));
  const char* const piece = task.piece.view().data();
  const kernels::CsrPieceView<V> view{task.shape.rows, reinterpret_cast<const std::uint32_t*>(piece),
                                      reinterpret_cast<const V*>(piece + sizes.values_offset),
                                      reinterpret_cast<const std::uint32_t*>(piece + sizes.columns_offset)};
  const auto x = *task.x;
  const auto y = *task.y;
  if (task.y.first()) blas::set_zero(y);
  kernels::multiply_csr<V, T>(view, task.columns, x.data, x.ld, y.data, y.ld);
}

#define TESSERA_DEFINE(V, T)                                                                         \
  TESSERA_DEFINE_TASK(MultiplyCsr<V, T>)                                                             \
  template void kernels::multiply_csr<V, T>(const CsrPieceView<V>&, int, const T*, std::int64_t, T*, \
                                            std::int64_t) noexcept;
TESSERA_FOR_STORED(TESSERA_DEFINE)

}  // namespace tessera::detail
