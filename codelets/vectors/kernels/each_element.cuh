// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/common/device_launch.cuh>

namespace tessera::device {

inline constexpr int element_threads = 256;

/// change(column, row) for all elements of `width` x `rows`, columns next to each other.
template <class Change>
__global__ void __launch_bounds__(element_threads)
    each_element_kernel(Index width, Index count, Change change) {
  for (Index e = Index(blockIdx.x) * element_threads + threadIdx.x; e < count;
       e += Index(gridDim.x) * element_threads)
    change(static_cast<int>(e % width), e / width);
}

template <class Change>
void for_elements_of_rows(cudaStream_t stream, Index width, Index rows, const Change& change) {
  if (width * rows > 0)
    each_element_kernel<<<blocks_for(width * rows, 4 * element_threads, full_grid), element_threads, 0,
                          stream>>>(width, width * rows, change);
}

}  // namespace tessera::device
