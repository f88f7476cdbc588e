// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/fortran_arguments.hpp>

namespace tessera::detail::blas {

#define TESSERA_BLAS3(T, gemm_f, herk_f, her2k_f, hemm_f, trsm_f, trmm_f)                                   \
  extern "C" {                                                                                              \
  void gemm_f(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*, \
              const T*, const int*, const T*, T*, const int*);                                              \
  void herk_f(const char*, const char*, const int*, const int*, const RealOf<T>*, const T*, const int*,     \
              const RealOf<T>*, T*, const int*);                                                            \
  void her2k_f(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*,  \
               const int*, const RealOf<T>*, T*, const int*);                                               \
  void hemm_f(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*,   \
              const int*, const T*, T*, const int*);                                                        \
  void trsm_f(const char*, const char*, const char*, const char*, const int*, const int*, const T*,         \
              const T*, const int*, T*, const int*);                                                        \
  void trmm_f(const char*, const char*, const char*, const char*, const int*, const int*, const T*,         \
              const T*, const int*, T*, const int*);                                                        \
  }                                                                                                         \
  template <>                                                                                               \
  void gemm<T>(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,     \
               Index ldb, T beta, T* c, Index ldc) noexcept {                                               \
    const char oa = adjoint_letter<T>(op_a), ob = adjoint_letter<T>(op_b);                                  \
    const int mi = i32(m), ni = i32(n), ki = i32(k), la = i32(lda), lb = i32(ldb), lc = i32(ldc);           \
    gemm_f(&oa, &ob, &mi, &ni, &ki, &alpha, a, &la, b, &lb, &beta, c, &lc);                                 \
  }                                                                                                         \
  template <>                                                                                               \
  void herk<T>(Uplo uplo, Op op, Index n, Index k, RealOf<T> alpha, const T* a, Index lda, RealOf<T> beta,  \
               T* c, Index ldc) noexcept {                                                                  \
    const char u = letter(uplo), o = adjoint_letter<T>(op);                                                 \
    const int ni = i32(n), ki = i32(k), la = i32(lda), lc = i32(ldc);                                       \
    herk_f(&u, &o, &ni, &ki, &alpha, a, &la, &beta, c, &lc);                                                \
  }                                                                                                         \
  template <>                                                                                               \
  void her2k<T>(Uplo uplo, Op op, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,  \
                RealOf<T> beta, T* c, Index ldc) noexcept {                                                 \
    const char u = letter(uplo), o = adjoint_letter<T>(op);                                                 \
    const int ni = i32(n), ki = i32(k), la = i32(lda), lb = i32(ldb), lc = i32(ldc);                        \
    her2k_f(&u, &o, &ni, &ki, &alpha, a, &la, b, &lb, &beta, c, &lc);                                       \
  }                                                                                                         \
  template <>                                                                                               \
  void hemm<T>(Side side, Uplo uplo, Index m, Index n, T alpha, const T* a, Index lda, const T* b,          \
               Index ldb, T beta, T* c, Index ldc) noexcept {                                               \
    const char s = letter(side), u = letter(uplo);                                                          \
    const int mi = i32(m), ni = i32(n), la = i32(lda), lb = i32(ldb), lc = i32(ldc);                        \
    hemm_f(&s, &u, &mi, &ni, &alpha, a, &la, b, &lb, &beta, c, &lc);                                        \
  }                                                                                                         \
  template <>                                                                                               \
  void trsm<T>(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* a, Index lda,    \
               T* b, Index ldb) noexcept {                                                                  \
    const char s = letter(side), u = letter(uplo), o = adjoint_letter<T>(op), d = letter(diag);             \
    const int mi = i32(m), ni = i32(n), la = i32(lda), lb = i32(ldb);                                       \
    trsm_f(&s, &u, &o, &d, &mi, &ni, &alpha, a, &la, b, &lb);                                               \
  }                                                                                                         \
  template <>                                                                                               \
  void trmm<T>(Side side, Uplo uplo, Op op, Diag diag, Index m, Index n, T alpha, const T* a, Index lda,    \
               T* b, Index ldb) noexcept {                                                                  \
    const char s = letter(side), u = letter(uplo), o = adjoint_letter<T>(op), d = letter(diag);             \
    const int mi = i32(m), ni = i32(n), la = i32(lda), lb = i32(ldb);                                       \
    trmm_f(&s, &u, &o, &d, &mi, &ni, &alpha, a, &la, b, &lb);                                               \
  }
TESSERA_BLAS3(float, sgemm_, ssyrk_, ssyr2k_, ssymm_, strsm_, strmm_)
TESSERA_BLAS3(double, dgemm_, dsyrk_, dsyr2k_, dsymm_, dtrsm_, dtrmm_)
TESSERA_BLAS3(C, cgemm_, cherk_, cher2k_, chemm_, ctrsm_, ctrmm_)
TESSERA_BLAS3(Z, zgemm_, zherk_, zher2k_, zhemm_, ztrsm_, ztrmm_)

#define TESSERA_AXPY(T, axpy_f)                                                       \
  extern "C" void axpy_f(const int*, const T*, const T*, const int*, T*, const int*); \
  template <>                                                                         \
  void axpy<T>(Index n, T alpha, const T* x, Index incx, T* y, Index incy) noexcept { \
    const int ni = i32(n), ix = i32(incx), iy = i32(incy);                            \
    axpy_f(&ni, &alpha, x, &ix, y, &iy);                                              \
  }
TESSERA_AXPY(float, saxpy_)
TESSERA_AXPY(double, daxpy_)
TESSERA_AXPY(C, caxpy_)
TESSERA_AXPY(Z, zaxpy_)

}  // namespace tessera::detail::blas
