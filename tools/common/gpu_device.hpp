// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tessera/codelets/linalg/cusolver.hpp>
#include <tessera/error.hpp>

/// Memory, a stream and a timer on the first GPU, independent of StarPU. All functions throw
/// RuntimeError.
namespace tessera::program {
using namespace detail;

inline void require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw RuntimeError(fmt::format("{} failed: {}", what, cudaGetErrorString(error)));
}
inline void require(cusolverStatus_t status, const std::string& name) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw RuntimeError(fmt::format("{} failed with status {}", name, static_cast<int>(status)));
}

template <class E>
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t count) : count_(count) {
    const std::size_t bytes = sizeof(E) * std::max<std::size_t>(count, 1);
    if (cudaMalloc(reinterpret_cast<void**>(&data_), bytes) != cudaSuccess)
      throw RuntimeError(fmt::format("the GPU has no {} bytes left", bytes));
  }
  explicit DeviceMemory(const std::vector<E>& values) : DeviceMemory(values.size()) {
    require(cudaMemcpy(data_, values.data(), sizeof(E) * count_, cudaMemcpyHostToDevice),
            "copying to the GPU");
    // cudaMemcpy can return while data is still in a staging buffer, and non-blocking streams do
    // not wait for the default stream.
    require(cudaDeviceSynchronize(), "copying to the GPU");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  E* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }
  std::vector<E> get(std::size_t count) const {
    std::vector<E> values(count);
    require(cudaMemcpy(values.data(), data_, sizeof(E) * count, cudaMemcpyDeviceToHost),
            "copying from the GPU");
    return values;
  }

 private:
  std::size_t count_;
  E* data_ = nullptr;
};

/// Page-locked memory of the host, which copies to and from GPUs need for full speed. All zero at first.
template <class E>
class LockedMemory {
 public:
  explicit LockedMemory(std::size_t count) : count_(count) {
    const std::size_t bytes = sizeof(E) * std::max<std::size_t>(count, 1);
    require(cudaMallocHost(reinterpret_cast<void**>(&data_), bytes), "page-locking host memory");
    std::fill_n(data_, count_, E());
  }
  ~LockedMemory() { cudaFreeHost(data_); }
  LockedMemory(const LockedMemory&) = delete;
  LockedMemory& operator=(const LockedMemory&) = delete;
  E* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return count_; }

 private:
  std::size_t count_;
  E* data_ = nullptr;
};

/// A Hermitian positive definite matrix, n x n, for warm-up calls of a routine.
template <class T>
std::vector<T> warm_up_matrix(Index n) {
  std::vector<T> a(static_cast<std::size_t>(n * n), T(1));
  for (Index i = 0; i < n; ++i) a[static_cast<std::size_t>(i + i * n)] = T(RealOf<T>(n + i));
  return a;
}

/// Makes the first GPU the current one.
class FirstGpu {
 public:
  FirstGpu() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) throw RuntimeError("there is no GPU");
    require(cudaSetDevice(0), "choosing the GPU");
  }
};

/// A stream with library handles and a timer.
class Device {
 public:
  Device() {
    require(solver_.status(), "making a cuSOLVER handle");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    require(cudaEventCreate(&start_), "making an event");
    require(cudaEventCreate(&stop_), "making an event");
    if (cublasCreate(&blas_) != CUBLAS_STATUS_SUCCESS) throw RuntimeError("cuBLAS does not start");
    cublasSetStream(blas_, stream_);
    cusolverDnSetStream(solver_, stream_);
  }
  ~Device() {
    if (blas_) cublasDestroy(blas_);
    cudaEventDestroy(stop_);
    cudaEventDestroy(start_);
    cudaStreamDestroy(stream_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  cublasHandle_t blas() const noexcept { return blas_; }
  cusolverDnHandle_t solver() const noexcept { return solver_; }
  cudaStream_t stream() const noexcept { return stream_; }

  /// Runs `work` and returns its seconds on the stream.
  template <class Work>
  double time(const Work& work) const {
    require(cudaDeviceSynchronize(), "waiting for the GPU");
    require(cudaEventRecord(start_, stream_), "recording an event");
    work();
    require(cudaEventRecord(stop_, stream_), "recording an event");
    require(cudaEventSynchronize(stop_), "work on the GPU");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_), "reading the events");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  FirstGpu gpu_;  // before the handles: they belong to the GPU that is current when they are
                  // created
  cusolver::Handle solver_;
  cublasHandle_t blas_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace tessera::program

#endif  // TESSERA_WITH_CUDA
