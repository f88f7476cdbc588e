// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#if TESSERA_WITH_CUDA
#include <memory>

#include "gpu_device.hpp"
#endif

namespace tessera::program {

/// Where an array is. With GPUs, host memory is page-locked, so that copies run at full speed.
enum class ArrayPlace { host, locked_host, gpu };

/// An array that tasks read or write. Only its owner copies it to and from other host memory.
template <class E>
class BatchArray {
 public:
  /// @param gpu  CUDA device number, for arrays on a GPU
  BatchArray(std::size_t size, ArrayPlace place, [[maybe_unused]] int gpu) : size_(size) {
#if TESSERA_WITH_CUDA
    if (place == ArrayPlace::gpu) {
      require(cudaSetDevice(gpu), "choosing the GPU");
      on_gpu_ = std::make_unique<DeviceMemory<E>>(size);
      return;
    }
    if (place == ArrayPlace::locked_host) {
      locked_ = std::make_unique<LockedMemory<E>>(size);
      return;
    }
#endif
    host_.resize(size);
  }
  E* data() noexcept {
#if TESSERA_WITH_CUDA
    if (on_gpu_) return on_gpu_->data();
    if (locked_) return locked_->data();
#endif
    return host_.data();
  }
  void set(const std::vector<E>& values) {
#if TESSERA_WITH_CUDA
    if (on_gpu_) {
      require(cudaMemcpy(on_gpu_->data(), values.data(), sizeof(E) * size_, cudaMemcpyHostToDevice),
              "copying to the GPU");
      require(cudaDeviceSynchronize(), "copying to the GPU");
      return;
    }
#endif
    std::copy(values.begin(), values.end(), data());
  }
  std::vector<E> get() {
#if TESSERA_WITH_CUDA
    if (on_gpu_) return on_gpu_->get(size_);
#endif
    return {data(), data() + size_};
  }

 private:
  std::size_t size_;
  std::vector<E> host_;
#if TESSERA_WITH_CUDA
  std::unique_ptr<DeviceMemory<E>> on_gpu_;
  std::unique_ptr<LockedMemory<E>> locked_;
#endif
};

}  // namespace tessera::program
