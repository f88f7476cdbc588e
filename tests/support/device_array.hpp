// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

#include <tessera/runtime/device_task.hpp>

/// Device memory, handles and a fixture for tests of kernels on raw pointers. Constructors and
/// `get` wait for the device, so they are ordered with work on any stream.
namespace tessera::test {
using namespace detail;

inline bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}
#define TESSERA_NEED_GPU() \
  if (!::tessera::test::has_gpu()) GTEST_SKIP() << "no GPU"

template <class E>
class DeviceArray {
 public:
  /// Filled with NaN, which reveals elements that no kernel writes.
  explicit DeviceArray(std::size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), sizeof(E) * std::max<std::size_t>(size, 1)),
              cudaSuccess);
    cudaMemset(data_, 0xFF, sizeof(E) * size);
    cudaDeviceSynchronize();  // the tests' streams do not wait for the default stream
  }
  explicit DeviceArray(const std::vector<E>& values) : DeviceArray(values.size()) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), sizeof(E) * size_, cudaMemcpyHostToDevice), cudaSuccess);
    cudaDeviceSynchronize();
  }
  DeviceArray(DeviceArray&& other) noexcept
      : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  E* data() const { return data_; }
  std::vector<E> get() const {
    std::vector<E> values(size_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
    EXPECT_EQ(cudaMemcpy(values.data(), data_, sizeof(E) * size_, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  std::size_t size_;
  E* data_ = nullptr;
};

/// A test matrix on the device, including padding.
template <class T>
class DeviceMatrix {
 public:
  explicit DeviceMatrix(const Matrix<T>& a)
      : rows_(a.rows()),
        cols_(a.cols()),
        ld_(a.ld()),
        memory_(std::vector<T>(a.data(), a.data() + std::max<Index>(a.ld() * a.cols(), 1))) {}
  /// Filled with NaN.
  DeviceMatrix(Index rows, Index cols, Index padding = 3)
      : rows_(rows),
        cols_(cols),
        ld_(std::max<Index>(rows, 1) + padding),
        memory_(static_cast<std::size_t>(std::max<Index>(ld_ * cols, 1))) {}
  T* data() const { return memory_.data(); }
  MatrixView<T> view() const { return {memory_.data(), rows_, cols_, ld_}; }
  MatrixView<const T> const_view() const { return {memory_.data(), rows_, cols_, ld_}; }
  Matrix<T> get() const {
    Matrix<T> a(rows_, cols_, ld_ - std::max<Index>(rows_, 1));
    const std::vector<T> values = memory_.get();
    std::copy(values.begin(), values.end(), a.data());
    return a;
  }

 private:
  Index rows_, cols_, ld_;
  DeviceArray<T> memory_;
};

/// Context in which a task body runs without a runtime.
struct DeviceHandles : CudaContext {
  DeviceHandles() : CudaContext{} {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    EXPECT_EQ(cublasCreate(&cublas), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cublasSetStream(cublas, stream), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(cusolverDnCreate(&cusolver), CUSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(cusolverDnSetStream(cusolver, stream), CUSOLVER_STATUS_SUCCESS);
  }
  DeviceHandles(const DeviceHandles&) = delete;
  DeviceHandles& operator=(const DeviceHandles&) = delete;
  ~DeviceHandles() {
    cusolverDnDestroy(cusolver);
    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
  }
};

/// A stream and a cuBLAS handle on it; tests are skipped without a GPU.
template <class T>
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TESSERA_NEED_GPU();
    handles_.emplace();
    stream_ = handles_->stream;
    cublas_ = handles_->cublas;
  }
  void TearDown() override { handles_.reset(); }
  /// Rounding error of sums of k products of numbers of order one.
  static double tolerance(Index k) { return 20 * double(k + 2) * precision<T>; }
  std::optional<DeviceHandles> handles_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
};

}  // namespace tessera::test
