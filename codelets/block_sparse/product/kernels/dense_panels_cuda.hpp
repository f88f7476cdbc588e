// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>

#include <tessera/codelets/block_sparse/product/dense_panels.hpp>

/// What kernels::expand_panel and extract_blocks do, on a GPU: all pointers are device memory, everything is
/// enqueued on the stream.
namespace tessera::device {

template <class T>
void launch_expand_panel(cudaStream_t stream, std::span<const DenseBlock> blocks, const T* values,
                         MatrixView<T> dense);
template <class T>
void launch_extract_blocks(cudaStream_t stream, std::span<const DenseBlock> blocks, MatrixView<const T> dense,
                           Store store, T* values);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
