// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/fortran_arguments.hpp>

namespace tessera::detail::blas {

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

#define TESSERA_INVERSE(T, getrf_f, getri_f)                                                  \
  extern "C" {                                                                                \
  void getrf_f(const int*, const int*, T*, const int*, int*, int*);                           \
  void getri_f(const int*, T*, const int*, const int*, T*, const int*, int*);                 \
  }                                                                                           \
  template <>                                                                                 \
  int getrf<T>(Index m, Index n, T * a, Index lda, int* pivots) noexcept {                    \
    const int mi = i32(m), ni = i32(n), la = i32(lda);                                        \
    int info = 0;                                                                             \
    getrf_f(&mi, &ni, a, &la, pivots, &info);                                                 \
    return info;                                                                              \
  }                                                                                           \
  template <>                                                                                 \
  int getri<T>(Index n, T * a, Index lda, const int* pivots, T* work, Index lwork) noexcept { \
    const int ni = i32(n), la = i32(lda), lw = i32(lwork);                                    \
    int info = 0;                                                                             \
    getri_f(&ni, a, &la, pivots, work, &lw, &info);                                           \
    return info;                                                                              \
  }
TESSERA_INVERSE(float, sgetrf_, sgetri_)
TESSERA_INVERSE(double, dgetrf_, dgetri_)
TESSERA_INVERSE(C, cgetrf_, cgetri_)
TESSERA_INVERSE(Z, zgetrf_, zgetri_)

#define TESSERA_TRIDIAGONAL(R, sterf_f, steqr_f, stevr_f, stedc_f)                                           \
  extern "C" {                                                                                               \
  void sterf_f(const int*, R*, R*, int*);                                                                    \
  void steqr_f(const char*, const int*, R*, R*, R*, const int*, R*, int*);                                   \
  void stevr_f(const char*, const char*, const int*, R*, R*, const R*, const R*, const int*, const int*,     \
               const R*, int*, R*, R*, const int*, int*, R*, const int*, int*, const int*, int*);            \
  void stedc_f(const char*, const int*, R*, R*, R*, const int*, R*, const int*, int*, const int*, int*);     \
  }                                                                                                          \
  template <>                                                                                                \
  int sterf<R>(Index n, R * d, R * e) noexcept {                                                             \
    const int ni = i32(n);                                                                                   \
    int info = 0;                                                                                            \
    sterf_f(&ni, d, e, &info);                                                                               \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int steqr<R>(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work) noexcept {                         \
    const int ni = i32(n), lz = i32(ldz);                                                                    \
    int info = 0;                                                                                            \
    steqr_f(&compz, &ni, d, e, z, &lz, work, &info);                                                         \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int stevr<R>(Index n, R * d, R * e, Index i, R * w, R * z, R * work, int* iwork) noexcept {                \
    const int ni = i32(n), number = i32(i), lz = std::max(ni, 1), lw = 20 * ni, li = 10 * ni;                \
    const R none = 0;                                                                                        \
    int found = 0, info = 0;                                                                                 \
    stevr_f("V", "I", &ni, d, e, &none, &none, &number, &number, &none, &found, w, z, &lz, iwork, work, &lw, \
            iwork + 2, &li, &info);                                                                          \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int stedc<R>(char compz, Index n, R* d, R* e, R* z, Index ldz, R* work, Index lwork, int* iwork,           \
               Index liwork) noexcept {                                                                      \
    const int ni = i32(n), lz = i32(ldz), lw = i32(lwork), li = i32(liwork);                                 \
    int info = 0;                                                                                            \
    stedc_f(&compz, &ni, d, e, z, &lz, work, &lw, iwork, &li, &info);                                        \
    return info;                                                                                             \
  }
TESSERA_TRIDIAGONAL(float, ssterf_, ssteqr_, sstevr_, sstedc_)
TESSERA_TRIDIAGONAL(double, dsterf_, dsteqr_, dstevr_, dstedc_)

// The real drivers lack the rwork pair: R names the arguments that only the complex ones have.

#define TESSERA_DRIVERS_REAL(T, heevd_f, heevr_f, hegvd_f)                                                   \
  extern "C" {                                                                                               \
  void heevd_f(const char*, const char*, const int*, T*, const int*, RealOf<T>*, T*, const int*, int*,       \
               const int*, int*);                                                                            \
  void heevr_f(const char*, const char*, const char*, const int*, T*, const int*, const RealOf<T>*,          \
               const RealOf<T>*, const int*, const int*, const RealOf<T>*, int*, RealOf<T>*, T*, const int*, \
               int*, T*, const int*, int*, const int*, int*);                                                \
  void hegvd_f(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, RealOf<T>*, \
               T*, const int*, int*, const int*, int*);                                                      \
  }                                                                                                          \
  template <>                                                                                                \
  int heevd<T>(char jobz, Uplo uplo, Index n, T* a, Index lda, RealOf<T>* w, T* work, Index lwork,           \
               RealOf<T>*, Index, int* iwork, Index liwork) noexcept {                                       \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), lw = i32(lwork), li = i32(liwork);                                 \
    int info = 0;                                                                                            \
    heevd_f(&jobz, &u, &ni, a, &la, w, work, &lw, iwork, &li, &info);                                        \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int heevr<T>(char jobz, char range, Uplo uplo, Index n, T* a, Index lda, RealOf<T> vl, RealOf<T> vu,       \
               Index il, Index iu, RealOf<T> abstol, Index* m, RealOf<T>* w, T* z, Index ldz, int* isuppz,   \
               T* work, Index lwork, RealOf<T>*, Index, int* iwork, Index liwork) noexcept {                 \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), first = i32(il), last = i32(iu), lz = i32(ldz), lw = i32(lwork),   \
              li = i32(liwork);                                                                              \
    int found = 0, info = 0;                                                                                 \
    heevr_f(&jobz, &range, &u, &ni, a, &la, &vl, &vu, &first, &last, &abstol, &found, w, z, &lz, isuppz,     \
            work, &lw, iwork, &li, &info);                                                                   \
    *m = found;                                                                                              \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int hegvd<T>(int itype, char jobz, Uplo uplo, Index n, T* a, Index lda, T* b, Index ldb, RealOf<T>* w,     \
               T* work, Index lwork, RealOf<T>*, Index, int* iwork, Index liwork) noexcept {                 \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), lb = i32(ldb), lw = i32(lwork), li = i32(liwork);                  \
    int info = 0;                                                                                            \
    hegvd_f(&itype, &jobz, &u, &ni, a, &la, b, &lb, w, work, &lw, iwork, &li, &info);                        \
    return info;                                                                                             \
  }
TESSERA_DRIVERS_REAL(float, ssyevd_, ssyevr_, ssygvd_)
TESSERA_DRIVERS_REAL(double, dsyevd_, dsyevr_, dsygvd_)

#define TESSERA_DRIVERS_COMPLEX(T, heevd_f, heevr_f, hegvd_f)                                                \
  extern "C" {                                                                                               \
  void heevd_f(const char*, const char*, const int*, T*, const int*, RealOf<T>*, T*, const int*, RealOf<T>*, \
               const int*, int*, const int*, int*);                                                          \
  void heevr_f(const char*, const char*, const char*, const int*, T*, const int*, const RealOf<T>*,          \
               const RealOf<T>*, const int*, const int*, const RealOf<T>*, int*, RealOf<T>*, T*, const int*, \
               int*, T*, const int*, RealOf<T>*, const int*, int*, const int*, int*);                        \
  void hegvd_f(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, RealOf<T>*, \
               T*, const int*, RealOf<T>*, const int*, int*, const int*, int*);                              \
  }                                                                                                          \
  template <>                                                                                                \
  int heevd<T>(char jobz, Uplo uplo, Index n, T* a, Index lda, RealOf<T>* w, T* work, Index lwork,           \
               RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept {                          \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), lw = i32(lwork), li = i32(liwork), lr = i32(lrwork);               \
    int info = 0;                                                                                            \
    heevd_f(&jobz, &u, &ni, a, &la, w, work, &lw, rwork, &lr, iwork, &li, &info);                            \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int heevr<T>(char jobz, char range, Uplo uplo, Index n, T* a, Index lda, RealOf<T> vl, RealOf<T> vu,       \
               Index il, Index iu, RealOf<T> abstol, Index* m, RealOf<T>* w, T* z, Index ldz, int* isuppz,   \
               T* work, Index lwork, RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept {    \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), first = i32(il), last = i32(iu), lz = i32(ldz), lw = i32(lwork),   \
              li = i32(liwork), lr = i32(lrwork);                                                            \
    int found = 0, info = 0;                                                                                 \
    heevr_f(&jobz, &range, &u, &ni, a, &la, &vl, &vu, &first, &last, &abstol, &found, w, z, &lz, isuppz,     \
            work, &lw, rwork, &lr, iwork, &li, &info);                                                       \
    *m = found;                                                                                              \
    return info;                                                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  int hegvd<T>(int itype, char jobz, Uplo uplo, Index n, T* a, Index lda, T* b, Index ldb, RealOf<T>* w,     \
               T* work, Index lwork, RealOf<T>* rwork, Index lrwork, int* iwork, Index liwork) noexcept {    \
    const char u = letter(uplo);                                                                             \
    const int ni = i32(n), la = i32(lda), lb = i32(ldb), lw = i32(lwork), li = i32(liwork),                  \
              lr = i32(lrwork);                                                                              \
    int info = 0;                                                                                            \
    hegvd_f(&itype, &jobz, &u, &ni, a, &la, b, &lb, w, work, &lw, rwork, &lr, iwork, &li, &info);            \
    return info;                                                                                             \
  }
TESSERA_DRIVERS_COMPLEX(C, cheevd_, cheevr_, chegvd_)
TESSERA_DRIVERS_COMPLEX(Z, zheevd_, zheevr_, zhegvd_)

#define TESSERA_APPLY(T, unmtr_f)                                                                        \
  extern "C" void unmtr_f(const char*, const char*, const char*, const int*, const int*, const T*,       \
                          const int*, const T*, T*, const int*, T*, const int*, int*);                   \
  template <>                                                                                            \
  void unmtr<T>(Uplo uplo, Index n, Index columns, const T* a, Index lda, const T* tau, T* c, Index ldc, \
                T* work, Index lwork) noexcept {                                                         \
    const char side = 'L', u = letter(uplo), op = 'N';                                                   \
    const int ni = i32(n), ci = i32(columns), la = i32(lda), lc = i32(ldc), lw = i32(lwork);             \
    int info = 0;                                                                                        \
    unmtr_f(&side, &u, &op, &ni, &ci, a, &la, tau, c, &lc, work, &lw, &info);                            \
  }
TESSERA_APPLY(float, sormtr_)
TESSERA_APPLY(double, dormtr_)
TESSERA_APPLY(C, cunmtr_)
TESSERA_APPLY(Z, zunmtr_)

}  // namespace tessera::detail::blas
