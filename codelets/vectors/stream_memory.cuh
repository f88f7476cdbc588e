// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

namespace tessera::device {

/// Device memory for the partial sums of one task, in the order of its stream: neither side waits for
/// anything. The device's pool keeps what was given back, so that later tasks get it without the driver.
class StreamMemory {
 public:
  StreamMemory(cudaStream_t stream, std::size_t bytes) : stream_(stream) {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t keep = ~std::uint64_t(0);
    cudaGetDevice(&device);
    if (cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
    cudaMallocAsync(&data_, bytes, stream);
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { cudaFreeAsync(data_, stream_); }
  template <class E>
  E* as() const noexcept {
    return static_cast<E*>(data_);
  }

 private:
  cudaStream_t stream_;
  void* data_ = nullptr;
};

}  // namespace tessera::device
