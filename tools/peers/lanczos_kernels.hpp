// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

struct CUstream_st;  // cudaStream_t points to one

namespace tessera::program {

/// x := x / *length, or 0 where that is 0; both in the GPU's memory. @returns whether CUDA has taken it
/// (cudaGetLastError)
template <class T>
bool launch_normalise(CUstream_st* stream, std::int64_t n, T* x, const T* length);

}  // namespace tessera::program
