// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/sparse/multiply_csb.hpp>

/// kernels::multiply_csb at each level of instructions (dispatch.hpp).
namespace tessera::kernels {

#define TESSERA_DECLARE_MULTIPLY_CSB(LEVEL)                                                                  \
  namespace LEVEL {                                                                                          \
  template <class V, class T>                                                                                \
  void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns, \
                    const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,  \
                    std::int64_t ldy_columns) noexcept;                                                      \
  }
TESSERA_DECLARE_MULTIPLY_CSB(level2)
TESSERA_DECLARE_MULTIPLY_CSB(level3)
TESSERA_DECLARE_MULTIPLY_CSB(level4)
#undef TESSERA_DECLARE_MULTIPLY_CSB

}  // namespace tessera::kernels
