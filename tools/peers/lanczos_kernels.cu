// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime.h>

#include "lanczos_kernels.hpp"

namespace tessera::program {

namespace {

template <class T>
__global__ void normalise(std::int64_t n, T* __restrict__ x, const T* __restrict__ length) {
  const T factor = *length > 0 ? 1 / *length : T(0);
  const std::int64_t stride = std::int64_t(gridDim.x) * blockDim.x;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    x[i] *= factor;
}

}  // namespace

template <class T>
bool launch_normalise(CUstream_st* stream, std::int64_t n, T* x, const T* length) {
  constexpr std::int64_t threads = 256, most_blocks = 4096;
  const std::int64_t blocks = (n + threads - 1) / threads;
  normalise<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0, stream>>>(
      n, x, length);
  return cudaGetLastError() == cudaSuccess;
}

template bool launch_normalise(CUstream_st*, std::int64_t, float*, const float*);
template bool launch_normalise(CUstream_st*, std::int64_t, double*, const double*);

}  // namespace tessera::program
