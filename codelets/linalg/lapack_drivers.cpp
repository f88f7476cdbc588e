// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/linalg/fortran_arguments.hpp>

namespace tessera::blas {

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

}  // namespace tessera::blas
