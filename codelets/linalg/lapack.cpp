// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/fortran_arguments.hpp>

namespace tessera::blas {

#define TESSERA_LAPACK(T, potrf_f, hegst_f, trtri_f, geqrf_f, ungqr_f, larft_f, larfg_f, lacpy_f, laset_f, \
                       hetrd_f)                                                                            \
  extern "C" {                                                                                             \
  void potrf_f(const char*, const int*, T*, const int*, int*);                                             \
  void hegst_f(const int*, const char*, const int*, T*, const int*, const T*, const int*, int*);           \
  void trtri_f(const char*, const char*, const int*, T*, const int*, int*);                                \
  void geqrf_f(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                          \
  void ungqr_f(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);        \
  void larft_f(const char*, const char*, const int*, const int*, const T*, const int*, const T*, T*,       \
               const int*);                                                                                \
  void larfg_f(const int*, T*, T*, const int*, T*);                                                        \
  void lacpy_f(const char*, const int*, const int*, const T*, const int*, T*, const int*);                 \
  void laset_f(const char*, const int*, const int*, const T*, const T*, T*, const int*);                   \
  void hetrd_f(const char*, const int*, T*, const int*, RealOf<T>*, RealOf<T>*, T*, T*, const int*, int*); \
  }                                                                                                        \
  template <>                                                                                              \
  int potrf<T>(Uplo uplo, Index n, T * a, Index lda) noexcept {                                            \
    const char u = letter(uplo);                                                                           \
    const int ni = i32(n), la = i32(lda);                                                                  \
    int info = 0;                                                                                          \
    potrf_f(&u, &ni, a, &la, &info);                                                                       \
    return info;                                                                                           \
  }                                                                                                        \
  template <>                                                                                              \
  int hegst<T>(int itype, Uplo uplo, Index n, T* a, Index lda, const T* b, Index ldb) noexcept {           \
    const char u = letter(uplo);                                                                           \
    const int ni = i32(n), la = i32(lda), lb = i32(ldb);                                                   \
    int info = 0;                                                                                          \
    hegst_f(&itype, &u, &ni, a, &la, b, &lb, &info);                                                       \
    return info;                                                                                           \
  }                                                                                                        \
  template <>                                                                                              \
  int trtri<T>(Uplo uplo, Diag diag, Index n, T * a, Index lda) noexcept {                                 \
    const char u = letter(uplo), d = letter(diag);                                                         \
    const int ni = i32(n), la = i32(lda);                                                                  \
    int info = 0;                                                                                          \
    trtri_f(&u, &d, &ni, a, &la, &info);                                                                   \
    return info;                                                                                           \
  }                                                                                                        \
  template <>                                                                                              \
  int geqrf<T>(Index m, Index n, T * a, Index lda, T * tau, T * work, Index lwork) noexcept {              \
    const int mi = i32(m), ni = i32(n), la = i32(lda), lw = i32(lwork);                                    \
    int info = 0;                                                                                          \
    geqrf_f(&mi, &ni, a, &la, tau, work, &lw, &info);                                                      \
    return info;                                                                                           \
  }                                                                                                        \
  template <>                                                                                              \
  int ungqr<T>(Index m, Index n, Index k, T * a, Index lda, const T* tau, T* work, Index lwork) noexcept { \
    const int mi = i32(m), ni = i32(n), ki = i32(k), la = i32(lda), lw = i32(lwork);                       \
    int info = 0;                                                                                          \
    ungqr_f(&mi, &ni, &ki, a, &la, tau, work, &lw, &info);                                                 \
    return info;                                                                                           \
  }                                                                                                        \
  template <>                                                                                              \
  void larft<T>(Index n, Index k, const T* v, Index ldv, const T* tau, T* t, Index ldt) noexcept {         \
    const char direction = 'F', storage = 'C';                                                             \
    const int ni = i32(n), ki = i32(k), lv = i32(ldv), lt = i32(ldt);                                      \
    larft_f(&direction, &storage, &ni, &ki, v, &lv, tau, t, &lt);                                          \
  }                                                                                                        \
  template <>                                                                                              \
  void larfg<T>(Index n, T * alpha, T * x, Index incx, T * tau) noexcept {                                 \
    const int ni = i32(n), ix = i32(incx);                                                                 \
    larfg_f(&ni, alpha, x, &ix, tau);                                                                      \
  }                                                                                                        \
  template <>                                                                                              \
  void lacpy<T>(Uplo uplo, Index m, Index n, const T* a, Index lda, T* b, Index ldb) noexcept {            \
    const char u = letter(uplo);                                                                           \
    const int mi = i32(m), ni = i32(n), la = i32(lda), lb = i32(ldb);                                      \
    lacpy_f(&u, &mi, &ni, a, &la, b, &lb);                                                                 \
  }                                                                                                        \
  template <>                                                                                              \
  void laset<T>(Uplo uplo, Index m, Index n, T off_diagonal, T diagonal, T * a, Index lda) noexcept {      \
    const char u = letter(uplo);                                                                           \
    const int mi = i32(m), ni = i32(n), la = i32(lda);                                                     \
    laset_f(&u, &mi, &ni, &off_diagonal, &diagonal, a, &la);                                               \
  }                                                                                                        \
  template <>                                                                                              \
  int hetrd<T>(Uplo uplo, Index n, T * a, Index lda, RealOf<T> * d, RealOf<T> * e, T * tau, T * work,      \
               Index lwork) noexcept {                                                                     \
    const char u = letter(uplo);                                                                           \
    const int ni = i32(n), la = i32(lda), lw = i32(lwork);                                                 \
    int info = 0;                                                                                          \
    hetrd_f(&u, &ni, a, &la, d, e, tau, work, &lw, &info);                                                 \
    return info;                                                                                           \
  }
TESSERA_LAPACK(float, spotrf_, ssygst_, strtri_, sgeqrf_, sorgqr_, slarft_, slarfg_, slacpy_, slaset_,
               ssytrd_)
TESSERA_LAPACK(double, dpotrf_, dsygst_, dtrtri_, dgeqrf_, dorgqr_, dlarft_, dlarfg_, dlacpy_, dlaset_,
               dsytrd_)
TESSERA_LAPACK(C, cpotrf_, chegst_, ctrtri_, cgeqrf_, cungqr_, clarft_, clarfg_, clacpy_, claset_, chetrd_)
TESSERA_LAPACK(Z, zpotrf_, zhegst_, ztrtri_, zgeqrf_, zungqr_, zlarft_, zlarfg_, zlacpy_, zlaset_, zhetrd_)

#define TESSERA_TRIDIAGONAL(R, sterf_f, steqr_f, stedc_f)                                                \
  extern "C" {                                                                                           \
  void sterf_f(const int*, R*, R*, int*);                                                                \
  void steqr_f(const char*, const int*, R*, R*, R*, const int*, R*, int*);                               \
  void stedc_f(const char*, const int*, R*, R*, R*, const int*, R*, const int*, int*, const int*, int*); \
  }                                                                                                      \
  template <>                                                                                            \
  int sterf<R>(Index n, R * d, R * e) noexcept {                                                         \
    const int ni = i32(n);                                                                               \
    int info = 0;                                                                                        \
    sterf_f(&ni, d, e, &info);                                                                           \
    return info;                                                                                         \
  }                                                                                                      \
  template <>                                                                                            \
  int steqr<R>(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work) noexcept {                     \
    const int ni = i32(n), lz = i32(ldz);                                                                \
    int info = 0;                                                                                        \
    steqr_f(&compz, &ni, d, e, z, &lz, work, &info);                                                     \
    return info;                                                                                         \
  }                                                                                                      \
  template <>                                                                                            \
  int stedc<R>(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work, Index lwork, int* iwork,       \
               Index liwork) noexcept {                                                                  \
    const int ni = i32(n), lz = i32(ldz), lw = i32(lwork), li = i32(liwork);                             \
    int info = 0;                                                                                        \
    stedc_f(&compz, &ni, d, e, z, &lz, work, &lw, iwork, &li, &info);                                    \
    return info;                                                                                         \
  }
TESSERA_TRIDIAGONAL(float, ssterf_, ssteqr_, sstedc_)
TESSERA_TRIDIAGONAL(double, dsterf_, dsteqr_, dstedc_)

}  // namespace tessera::blas
