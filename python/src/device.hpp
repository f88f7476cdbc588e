// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common.hpp"

/// Memory of GPUs for results, and what must be over in the streams of others.
namespace tessera::python {

/// Memory of a GPU that Python gets.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// @throws RuntimeError where there is not enough, or in a build without CUDA
  DeviceMemory(std::size_t bytes, int device);
  DeviceMemory(DeviceMemory&& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(device_, other.device_);
  }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceMemory() { release(memory_); }
  void* get() const noexcept { return memory_; }
  /// Row-major, for DLPack.
  template <class T>
  nb::object to_array(const std::vector<std::size_t>& shape) && {
    void* const memory = std::exchange(memory_, nullptr);
    const nb::capsule owner(memory, [](void* p) noexcept { release(p); });
    return nb::ndarray<nb::array_api, T>(memory, shape.size(), shape.data(), owner, nullptr, nb::dtype<T>(),
                                         nb::device::cuda::value, device_)
        .cast();
  }

 private:
  static void release(void* memory) noexcept;
  void* memory_ = nullptr;
  int device_ = 0;
};

/// Waits for what others have put into the default stream of a GPU.
void synchronize_default_stream(int device);

}  // namespace tessera::python
