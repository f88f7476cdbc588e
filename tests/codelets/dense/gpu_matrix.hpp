// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <tests/support/matrix.hpp>

/// Matrices in device memory, and the fixture of tests that call kernels on them.
namespace tessera::test {

template <class T>
class GpuMatrix {
 public:
  /// A copy of `a`, padding included.
  explicit GpuMatrix(const Matrix<T>& a) : rows_(a.rows()), cols_(a.cols()), ld_(a.ld()) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes()) == cudaSuccess) data_.reset(static_cast<T*>(memory));
    cudaMemcpy(data_.get(), a.data(), bytes(), cudaMemcpyHostToDevice);
  }
  /// NaN everywhere.
  GpuMatrix(Index rows, Index cols, Index padding = 3)
      : GpuMatrix(poisoned(Matrix<T>(rows, cols, padding))) {}
  MatrixView<T> view() const { return {data_.get(), rows_, cols_, ld_}; }
  MatrixView<const T> constant() const { return {data_.get(), rows_, cols_, ld_}; }
  Matrix<T> download() const {
    Matrix<T> a(rows_, cols_, ld_ - std::max<Index>(rows_, 1));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(a.data(), data_.get(), bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    return a;
  }

 private:
  struct Free {
    void operator()(T* memory) const { cudaFree(memory); }
  };
  static Matrix<T> poisoned(Matrix<T> a) {
    std::fill_n(a.data(), a.ld() * a.cols(), not_a_number<T>());
    return a;
  }
  std::size_t bytes() const { return sizeof(T) * static_cast<std::size_t>(std::max<Index>(ld_ * cols_, 1)); }
  Index rows_, cols_, ld_;
  std::unique_ptr<T, Free> data_;
};

/// Skips without a GPU.
template <class T>
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    ASSERT_EQ(cublasCreate(&cublas_), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(cublasSetStream(cublas_, stream_), CUBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    if (cublas_) cublasDestroy(cublas_);
    if (stream_) cudaStreamDestroy(stream_);
  }
  /// Rounding of sums of k products of numbers of size one.
  static double tolerance(Index k) { return 20 * double(k + 2) * precision<T>; }
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
};

}  // namespace tessera::test
