// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <complex>

#include <cublas_v2.h>

#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime/device_task.hpp>
#include <tessera/types.hpp>

/// cuBLAS for the four scalar types, one template for each routine, with the conventions of blas.hpp:
/// column-major, 64-bit sizes, scalars on the host. All routines run on the handle's stream. A result with a
/// size of zero is not touched.
namespace tessera::detail::cublas {

template <class T>
struct CudaType {
  using type = T;
};
template <>
struct CudaType<std::complex<float>> {
  using type = cuComplex;
};
template <>
struct CudaType<std::complex<double>> {
  using type = cuDoubleComplex;
};
template <class T>
using CudaTypeOf = typename CudaType<T>::type;
template <class T>
const CudaTypeOf<T>* cast(const T* x) noexcept {
  return reinterpret_cast<const CudaTypeOf<T>*>(x);
}
template <class T>
CudaTypeOf<T>* cast(T* x) noexcept {
  return reinterpret_cast<CudaTypeOf<T>*>(x);
}

inline cublasOperation_t operation(Op op) noexcept {
  return op == Op::none ? CUBLAS_OP_N : op == Op::transpose ? CUBLAS_OP_T : CUBLAS_OP_C;
}
inline cublasFillMode_t fill(Uplo uplo) noexcept {
  return uplo == Uplo::lower   ? CUBLAS_FILL_MODE_LOWER
         : uplo == Uplo::upper ? CUBLAS_FILL_MODE_UPPER
                               : CUBLAS_FILL_MODE_FULL;
}
inline cublasSideMode_t side_of(Side side) noexcept {
  return side == Side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}
inline cublasDiagType_t diag_of(Diag diag) noexcept {
  return diag == Diag::unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

/// Calls that one of four routines which belongs to T.
#define TESSERA_CUBLAS(s, d, c, z, ...)                      \
  if constexpr (std::is_same_v<T, float>)                    \
    cublas##s##_64(__VA_ARGS__);                             \
  else if constexpr (std::is_same_v<T, double>)              \
    cublas##d##_64(__VA_ARGS__);                             \
  else if constexpr (std::is_same_v<T, std::complex<float>>) \
    cublas##c##_64(__VA_ARGS__);                             \
  else                                                       \
    cublas##z##_64(__VA_ARGS__)

template <class T>
void gemm(cublasHandle_t handle, Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda,
          const T* b, Index ldb, T beta, T* c, Index ldc) noexcept {
  if (m == 0 || n == 0) return;
  TESSERA_CUBLAS(Sgemm, Dgemm, Cgemm, Zgemm, handle, operation(op_a), operation(op_b), m, n, k, cast(&alpha),
                 cast(a), lda, cast(b), ldb, cast(&beta), cast(c), ldc);
}
/// By three real multiplications for a complex one: each part of the result has the error of the larger one.
inline void gemm_by_three(cublasHandle_t handle, Op op_a, Op op_b, Index m, Index n, Index k,
                          std::complex<double> alpha, const std::complex<double>* a, Index lda,
                          const std::complex<double>* b, Index ldb, std::complex<double> beta,
                          std::complex<double>* c, Index ldc) noexcept {
  if (m == 0 || n == 0) return;
  cublasZgemm3m_64(handle, operation(op_a), operation(op_b), m, n, k, cast(&alpha), cast(a), lda, cast(b),
                   ldb, cast(&beta), cast(c), ldc);
}
template <class T>
void gemm_strided_batched(cublasHandle_t handle, Op op_a, Op op_b, Index m, Index n, Index k, T alpha,
                          const T* a, Index lda, Index stride_a, const T* b, Index ldb, Index stride_b,
                          T beta, T* c, Index ldc, Index stride_c, Index count) noexcept {
  if (m == 0 || n == 0 || count == 0) return;
  TESSERA_CUBLAS(SgemmStridedBatched, DgemmStridedBatched, CgemmStridedBatched, ZgemmStridedBatched, handle,
                 operation(op_a), operation(op_b), m, n, k, cast(&alpha), cast(a), lda, stride_a, cast(b),
                 ldb, stride_b, cast(&beta), cast(c), ldc, stride_c, count);
}
template <class T>
void herk(cublasHandle_t handle, Uplo uplo, Op op, Index n, Index k, RealOf<T> alpha, const T* a, Index lda,
          RealOf<T> beta, T* c, Index ldc) noexcept {
  if (n == 0) return;
  if constexpr (!is_complex<T>) op = op == Op::adjoint ? Op::transpose : op;
  TESSERA_CUBLAS(Ssyrk, Dsyrk, Cherk, Zherk, handle, fill(uplo), operation(op), n, k, &alpha, cast(a), lda,
                 &beta, cast(c), ldc);
}
template <class T>
void her2k(cublasHandle_t handle, Uplo uplo, Op op, Index n, Index k, T alpha, const T* a, Index lda,
           const T* b, Index ldb, RealOf<T> beta, T* c, Index ldc) noexcept {
  if (n == 0) return;
  if constexpr (!is_complex<T>) op = op == Op::adjoint ? Op::transpose : op;
  TESSERA_CUBLAS(Ssyr2k, Dsyr2k, Cher2k, Zher2k, handle, fill(uplo), operation(op), n, k, cast(&alpha),
                 cast(a), lda, cast(b), ldb, &beta, cast(c), ldc);
}
template <class T>
void hemm(cublasHandle_t handle, Side side, Uplo uplo, Index m, Index n, T alpha, const T* a, Index lda,
          const T* b, Index ldb, T beta, T* c, Index ldc) noexcept {
  if (m == 0 || n == 0) return;
  TESSERA_CUBLAS(Ssymm, Dsymm, Chemm, Zhemm, handle, side_of(side), fill(uplo), m, n, cast(&alpha), cast(a),
                 lda, cast(b), ldb, cast(&beta), cast(c), ldc);
}
template <class T>
void trsm(cublasHandle_t handle, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha,
          const T* a, Index lda, T* b, Index ldb) noexcept {
  if (m == 0 || n == 0) return;
  TESSERA_CUBLAS(Strsm, Dtrsm, Ctrsm, Ztrsm, handle, side_of(side), fill(uplo), operation(op), diag_of(diag),
                 m, n, cast(&alpha), cast(a), lda, cast(b), ldb);
}
/// C := alpha op(A) B or alpha B op(A), A triangular; C may be B.
template <class T>
void trmm(cublasHandle_t handle, Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha,
          const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc) noexcept {
  if (m == 0 || n == 0) return;
  TESSERA_CUBLAS(Strmm, Dtrmm, Ctrmm, Ztrmm, handle, side_of(side), fill(uplo), operation(op), diag_of(diag),
                 m, n, cast(&alpha), cast(a), lda, cast(b), ldb, cast(c), ldc);
}

#undef TESSERA_CUBLAS

}  // namespace tessera::detail::cublas

namespace tessera::detail::la {

template <class T>
void gemm(const CudaContext& on, Op op_a, Op op_b, Scalar<T> alpha, Factor<T> a, Factor<T> b, Scalar<T> beta,
          MatrixView<T> c) noexcept {
  cublas::gemm<T>(on.cublas, op_a, op_b, c.rows, c.cols, inner_size(op_a, a), alpha, a.data, a.ld, b.data,
                  b.ld, beta, c.data, c.ld);
}
template <class T>
void herk(const CudaContext& on, Uplo uplo, Op op, RealOf<T> alpha, Factor<T> a, RealOf<T> beta,
          MatrixView<T> c) noexcept {
  cublas::herk<T>(on.cublas, uplo, op, c.rows, inner_size(op, a), alpha, a.data, a.ld, beta, c.data, c.ld);
}
template <class T>
void her2k(const CudaContext& on, Uplo uplo, Op op, Scalar<T> alpha, Factor<T> a, Factor<T> b, RealOf<T> beta,
           MatrixView<T> c) noexcept {
  cublas::her2k<T>(on.cublas, uplo, op, c.rows, inner_size(op, a), alpha, a.data, a.ld, b.data, b.ld, beta,
                   c.data, c.ld);
}
template <class T>
void hemm(const CudaContext& on, Side side, Uplo uplo, Scalar<T> alpha, Factor<T> a, Factor<T> b,
          Scalar<T> beta, MatrixView<T> c) noexcept {
  cublas::hemm<T>(on.cublas, side, uplo, c.rows, c.cols, alpha, a.data, a.ld, b.data, b.ld, beta, c.data,
                  c.ld);
}
template <class T>
void trsm(const CudaContext& on, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept {
  cublas::trsm<T>(on.cublas, side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld);
}
template <class T>
void trmm(const CudaContext& on, Side side, Uplo uplo, Op op, Diag diag, Scalar<T> alpha, Factor<T> a,
          MatrixView<T> b) noexcept {
  cublas::trmm<T>(on.cublas, side, uplo, op, diag, b.rows, b.cols, alpha, a.data, a.ld, b.data, b.ld, b.data,
                  b.ld);
}
template <class T>
void copy(const CudaContext& on, Factor<T> a, MatrixView<T> b) noexcept {
  cudaMemcpy2DAsync(b.data, static_cast<std::size_t>(b.ld) * sizeof(T), a.data,
                    static_cast<std::size_t>(a.ld) * sizeof(T), static_cast<std::size_t>(a.rows) * sizeof(T),
                    static_cast<std::size_t>(a.cols), cudaMemcpyDeviceToDevice, on.stream);
}
template <class T>
void set_zero(const CudaContext& on, MatrixView<T> a) noexcept {
  if (a.rows == 0 || a.cols == 0) return;
  cudaMemset2DAsync(a.data, static_cast<std::size_t>(a.ld) * sizeof(T), 0,
                    static_cast<std::size_t>(a.rows) * sizeof(T), static_cast<std::size_t>(a.cols),
                    on.stream);
}

}  // namespace tessera::detail::la

#endif  // TESSERA_WITH_CUDA
