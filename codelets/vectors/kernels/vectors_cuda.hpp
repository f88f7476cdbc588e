// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cuda_runtime.h>

#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/gram.hpp>

/// The kernels behind the tasks Gram and Combine on a GPU (see their contracts); pointers are
/// device memory, all is enqueued on the stream. Sums are in double and in a fixed order.
namespace tessera::device {

/// g := [L_0 ...]^T [R_0 ...], column-major, ld = l: tensor cores, thread blocks' sums, then their sum.
/// @param parts device memory for gram_parts l r numbers
template <class T>
void launch_gram(cudaStream_t stream, std::int64_t rows, std::span<const VectorBlock<const T>> left,
                 std::span<const VectorBlock<const T>> right, double* g, double* parts);

/// An output, and the columns around it that become zero: from -before (of its first) to `whole` (columns of
/// the block of vectors from its first on), both 0 where the others are kept.
template <class T>
struct CombineOutput {
  VectorBlock<T> block;
  std::int32_t before = 0, whole = 0;
};

/// [O_0 ...] := [I_0 ...] C; outputs may lie in inputs: a row is read by the warp that writes it, before.
template <class T>
void launch_combine(cudaStream_t stream, std::int64_t rows, std::span<const VectorBlock<const T>> inputs,
                    std::span<const CombineOutput<T>> outputs, const double* c);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
