// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>

#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>

namespace tessera::device {

/// Row-major vectors: element j of row i is data[i * ld + j]; `width` columns are stored.
template <class T>
struct DeviceVectors {
  T* data = nullptr;
  std::int64_t ld = 0, rows = 0, width = 0;
};

/// multiply_csb (see its contract) on the GPU; all pointers are device memory. For a piece on the diagonal
/// x_rows and y_columns are not looked at; nor is what a side reads and writes that the shape leaves out.
/// What is overwritten gets zeros in its columns m, ..., width - 1.
///
/// Bytes from device memory an entry, of double (float) values, on each side: 8 (4) for each place of the
/// index and 2 for its slot, in order (csb_index.hpp), and a row of X, from the second cache or memory, for
/// each time that a strip meets one. One launch for each pass of the index and up to 16 (32) columns; one for
/// up to 8 (16) takes half as long.
template <class V, class T>
void launch_multiply_csb(cudaStream_t stream, const CsbPieceShape& shape, int columns, Store store_rows,
                         Store store_columns, const void* index, const DeviceVectors<const T>& x_columns,
                         const DeviceVectors<const T>& x_rows, const DeviceVectors<T>& y_rows,
                         const DeviceVectors<T>& y_columns);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
