// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/sparse/csb_layout.hpp>

struct CUstream_st;  // cudaStream_t points to one

/// The kernels behind MultiplyCsb and CsbMagnitudes (multiply_csb.hpp).
namespace tessera::detail {

namespace kernels {

/// Both sides of a piece (MultiplyCsb), at the level of instructions that the processor has (cpu_level). For
/// a piece on the diagonal y_rows and y_columns are the same. ld: the vectors' widths.
template <class V, class T>
void multiply_csb(const CsbPieceView<V>& piece, int columns, const T* x_columns, std::int64_t ldx_columns,
                  const T* x_rows, std::int64_t ldx_rows, T* y_rows, std::int64_t ldy_rows, T* y_columns,
                  std::int64_t ldy_columns) noexcept;

// At one level of instructions (dispatch.hpp):
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

/// rows and columns may be null: then the kernel leaves these sums out. For a piece on the diagonal both are
/// the same.
template <class V>
void add_csb_magnitudes(const CsbPieceView<V>& piece, double* rows, double* columns) noexcept;

}  // namespace kernels

namespace device {

/// Row-major vectors: element j of row i is data[i * ld + j]; `width` columns are stored.
template <class T>
struct DeviceVectors {
  T* data = nullptr;
  std::int64_t ld = 0, rows = 0, width = 0;
};

/// The product of MultiplyCsb on a GPU; all pointers are device memory. For a piece on the diagonal
/// the kernel uses neither x_rows nor y_columns; it uses no vectors of a side that the shape leaves out.
/// Vectors that are overwritten get zeros in their columns m, ..., width - 1.
///
/// Bytes from device memory an entry, of double (float) values, on each side: 8 (4) for each place of the
/// index and 2 for its slot, in order (csb_index.hpp), and a row of X, from the second cache or memory, for
/// each time that a strip meets one. One launch for each pass of the index and up to 16 (32)
/// columns, of complex numbers half as many.
template <class V, class T>
void launch_multiply_csb(CUstream_st* stream, const CsbPieceShape& shape, int columns, Store store_rows,
                         Store store_columns, const void* index, const DeviceVectors<const T>& x_columns,
                         const DeviceVectors<const T>& x_rows, const DeviceVectors<T>& y_rows,
                         const DeviceVectors<T>& y_columns);

}  // namespace device

}  // namespace tessera::detail
