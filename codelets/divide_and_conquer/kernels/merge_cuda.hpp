// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <tessera/codelets/divide_and_conquer/merge_batch.hpp>

/// The kernels of deflate.hpp and secular.hpp for all merges of a batch, on the device. They enqueue and
/// return; records and spectra are as on the host (roots, rotations and slots up to rounding).
namespace tessera::kernels {

/// kernels::deflate: one thread block a merge. Sorting by rank, z, the tolerance, slots and gathering are
/// parallel; of the pass over the ascending columns, one warp walks through those alone that a rotation may
/// touch. Scratch: merge_scratch_doubles(rows) doubles.
void launch_deflate(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_roots of all poles: one warp for four roots, with the same iteration and stopping.
void launch_secular_roots(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_weights of all poles, into their slots (place_weights is part of it).
void launch_secular_weights(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::secular_rows of all roots.
void launch_secular_rows(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch);

/// kernels::order_spectrum.
void launch_order_spectrum(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch, bool rows);

/// A whole merge without its vectors: the steps above.
/// @param weights  the vectors, of these nodes or of their parents, need the weights
/// @param rows     there are parents
void launch_merge(cudaStream_t stream, const divide_and_conquer::MergeBatch& batch, bool weights, bool rows);

/// kernels::secular_vectors for the roots [first, first + count) of one merge of order m with K poles: column
/// first + j goes to s + j lds, K rows.
template <class R>
void launch_secular_vectors(cudaStream_t stream, Index m, const void* record, Index poles, Index first,
                            Index count, R* s, Index lds);

}  // namespace tessera::kernels
