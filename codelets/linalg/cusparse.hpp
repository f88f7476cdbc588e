// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cstdint>

#include <cuda_runtime.h>
#include <cusparse.h>

/// cuSPARSE's product of a sparse matrix and row-major vectors, for comparison.
namespace tessera::detail::cusparse {

template <class T>
inline constexpr cudaDataType data_type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;

/// Y := A X, A n x n by rows, all on the device. I: of row offsets and columns, std::int32_t or std::int64_t.
template <class T, class I>
class RowProduct {
 public:
  RowProduct(cudaStream_t stream, std::int64_t n, std::int64_t entries, I* begins, I* columns, T* values,
             std::int64_t width, T* x, T* y) noexcept {
    keep(cusparseCreate(&handle_));
    keep(cusparseSetStream(handle_, stream));
    keep(cusparseCreateCsr(&a_, n, n, entries, begins, columns, values, indices, indices,
                           CUSPARSE_INDEX_BASE_ZERO, data_type<T>));
    keep(cusparseCreateDnMat(&x_, n, width, width, x, data_type<T>, CUSPARSE_ORDER_ROW));
    keep(cusparseCreateDnMat(&y_, n, width, width, y, data_type<T>, CUSPARSE_ORDER_ROW));
  }
  ~RowProduct() {
    cusparseDestroyDnMat(y_);
    cusparseDestroyDnMat(x_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }
  RowProduct(const RowProduct&) = delete;
  RowProduct& operator=(const RowProduct&) = delete;

  std::size_t work_bytes() noexcept {
    std::size_t bytes = 0;
    keep(cusparseSpMM_bufferSize(handle_, none, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm,
                                 &bytes));
    return bytes;
  }
  void prepare(void* work) noexcept {
    keep(
        cusparseSpMM_preprocess(handle_, none, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm, work));
  }
  void multiply(void* work) noexcept {
    keep(cusparseSpMM(handle_, none, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm, work));
  }
  /// The status of the first call that failed.
  cusparseStatus_t status() const noexcept { return status_; }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG3;
  static constexpr cusparseIndexType_t indices = sizeof(I) == 4 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
  static constexpr T one = 1, zero = 0;
  void keep(cusparseStatus_t status) noexcept {
    if (status_ == CUSPARSE_STATUS_SUCCESS) status_ = status;
  }
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
  cusparseStatus_t status_ = CUSPARSE_STATUS_SUCCESS;
};

/// y := A x of single vectors, A as in RowProduct, by one of cuSPARSE's algorithms.
template <class T, class I>
class VectorProduct {
 public:
  VectorProduct(cudaStream_t stream, std::int64_t n, std::int64_t entries, I* begins, I* columns, T* values,
                cusparseSpMVAlg_t algorithm) noexcept
      : algorithm_(algorithm) {
    keep(cusparseCreate(&handle_));
    keep(cusparseSetStream(handle_, stream));
    constexpr cusparseIndexType_t indices = sizeof(I) == 4 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
    keep(cusparseCreateCsr(&a_, n, n, entries, begins, columns, values, indices, indices,
                           CUSPARSE_INDEX_BASE_ZERO, data_type<T>));
    // The pointers are replaced before each use; null is refused.
    keep(cusparseCreateDnVec(&x_, n, values, data_type<T>));
    keep(cusparseCreateDnVec(&y_, n, values, data_type<T>));
  }
  ~VectorProduct() {
    cusparseDestroyDnVec(y_);
    cusparseDestroyDnVec(x_);
    cusparseDestroySpMat(a_);
    cusparseDestroy(handle_);
  }
  VectorProduct(const VectorProduct&) = delete;
  VectorProduct& operator=(const VectorProduct&) = delete;

  std::size_t work_bytes(T* x, T* y) noexcept {
    std::size_t bytes = 0;
    set(x, y);
    keep(cusparseSpMV_bufferSize(handle_, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm_, &bytes));
    return bytes;
  }
  /// Analyses A where this version of cuSPARSE does that.
  void prepare([[maybe_unused]] T* x, [[maybe_unused]] T* y, [[maybe_unused]] void* work) noexcept {
#if CUSPARSE_VERSION >= 12300
    set(x, y);
    keep(cusparseSpMV_preprocess(handle_, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm_, work));
#endif
  }
  void multiply(T* x, T* y, void* work) noexcept {
    set(x, y);
    keep(cusparseSpMV(handle_, none, &one, a_, x_, &zero, y_, data_type<T>, algorithm_, work));
  }
  /// The status of the first call that failed.
  cusparseStatus_t status() const noexcept {
    return status_;
  }

 private:
  static constexpr cusparseOperation_t none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr T one = 1, zero = 0;
  void set(T* x, T* y) noexcept {
    keep(cusparseDnVecSetValues(x_, x));
    keep(cusparseDnVecSetValues(y_, y));
  }
  void keep(cusparseStatus_t status) noexcept {
    if (status_ == CUSPARSE_STATUS_SUCCESS) status_ = status;
  }
  cusparseSpMVAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t a_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  cusparseStatus_t status_ = CUSPARSE_STATUS_SUCCESS;
};

}  // namespace tessera::detail::cusparse

#endif  // TESSERA_WITH_CUDA
