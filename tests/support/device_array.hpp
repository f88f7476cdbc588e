// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusolverDn.h>
#include <gtest/gtest.h>
#include <tests/support/matrix.hpp>

/// Device memory for tests of kernels on raw pointers.
namespace tessera::test {

inline bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}
#define TESSERA_NEED_GPU() \
  if (!::tessera::test::has_gpu()) GTEST_SKIP() << "no GPU"

template <class E>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), sizeof(E) * std::max<std::size_t>(size, 1)),
              cudaSuccess);
    cudaMemset(data_, 0xFF, sizeof(E) * size);
    cudaDeviceSynchronize();  // the tests' streams do not wait for the default one
  }
  explicit DeviceArray(const std::vector<E>& values) : DeviceArray(values.size()) {
    cudaMemcpy(data_, values.data(), sizeof(E) * size_, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  E* data() const { return data_; }
  std::vector<E> get() const {
    std::vector<E> values(size_);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, sizeof(E) * size_, cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  std::size_t size_;
  E* data_ = nullptr;
};

/// A test matrix on the device, padding included.
template <class T>
class DeviceMatrix {
 public:
  explicit DeviceMatrix(const Matrix<T>& a)
      : rows_(a.rows()),
        cols_(a.cols()),
        ld_(a.ld()),
        memory_(std::vector<T>(a.data(), a.data() + std::max<Index>(a.ld() * a.cols(), 1))) {}
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

struct DeviceHandles {
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
  cusolverDnHandle_t cusolver = nullptr;
  DeviceHandles() {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cublasCreate(&cublas);
    cublasSetStream(cublas, stream);
    cusolverDnCreate(&cusolver);
    cusolverDnSetStream(cusolver, stream);
  }
  ~DeviceHandles() {
    cusolverDnDestroy(cusolver);
    cublasDestroy(cublas);
    cudaStreamDestroy(stream);
  }
};

}  // namespace tessera::test
