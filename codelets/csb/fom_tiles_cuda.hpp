// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <tessera/codelets/csb/fom_tiles.hpp>
#include <tessera/codelets/csb/multiply_csb_cuda.hpp>

namespace tessera::device {

/// fom_tiles (see its contract) on the GPU: every step is one product with all tiles (launch_multiply_csb)
/// and one kernel, of which a cluster of up to eight thread blocks takes a tile. Pointers are device memory;
/// `scratch`: fom_scratch(...).total bytes. w's columns m, ..., width - 1 become zero. Without stored entries
/// (block_count = 0) the index may be null.
template <class V, class T>
void launch_fom_tiles(cudaStream_t stream, const FomArguments& arguments, const void* index,
                      const std::uint32_t* begins, const DeviceVectors<const T>& r, const DeviceVectors<T>& w,
                      void* scratch);

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
