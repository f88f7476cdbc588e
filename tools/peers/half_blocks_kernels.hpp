// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "half_blocks.hpp"

struct CUstream_st;  // cudaStream_t points to one

namespace tessera::program {

/// HalfBlocks in a GPU's memory: its members' addresses.
template <class V>
struct HalfBlocksOnGpu {
  std::int64_t block_rows, blocks;
  const HalfBlock* block;
  const std::int64_t *row_begins, *column_begins, *by_column;
  const V* values;
  const std::uint16_t *rows, *columns;
};

/// Y := A X on the stream, two kernels after Y was cleared; x and y: row-major, of 1 to 32 columns, in the GPU's
/// memory. @returns whether CUDA has taken both (cudaGetLastError)
template <class V, class T>
bool launch_half_blocks(CUstream_st* stream, const HalfBlocksOnGpu<V>& a, HalfBlocksMethod method,
                        int columns, const T* x, T* y, std::int64_t order);

}  // namespace tessera::program
