// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>

/// What the peers call of ScaLAPACK and of BLACS, which have no headers. At the end of an argument list are
/// the lengths of its strings, as Fortran compilers pass them.
namespace tessera::program::scalapack {

/// All routines for scalars T with the real type R. P: the letters before a name; SY: sy or he; GST: syngst or
/// hengst; TRAN: tran or tranc; EXTRA: the arguments that only complex eigensolvers have.
#define TESSERA_DECLARE_SCALAPACK(T, R, P, SY, GST, TRAN, EXTRA)                                             \
  extern "C" {                                                                                               \
  void P##gemr2d_(const int* m, const int* n, const T* a, const int* ia, const int* ja, const int* desca,    \
                  T* b, const int* ib, const int* jb, const int* descb, const int* context);                 \
  void P##TRAN##_(const int* m, const int* n, const T* alpha, const T* a, const int* ia, const int* ja,      \
                  const int* desca, const T* beta, T* c, const int* ic, const int* jc, const int* descc);    \
  void P##potrf_(const char* uplo, const int* n, T* a, const int* ia, const int* ja, const int* desca,       \
                 int* info, std::size_t);                                                                    \
  void P##GST##_(const int* type, const char* uplo, const int* n, T* a, const int* ia, const int* ja,        \
                 const int* desca, const T* b, const int* ib, const int* jb, const int* descb, R* scale,     \
                 T* work, const int* lwork, int* info, std::size_t);                                         \
  void P##trsm_(const char* side, const char* uplo, const char* op, const char* diag, const int* m,          \
                const int* n, const T* alpha, const T* a, const int* ia, const int* ja, const int* desca,    \
                T* b, const int* ib, const int* jb, const int* descb, std::size_t, std::size_t, std::size_t, \
                std::size_t);                                                                                \
  void P##SY##ev_(const char* job, const char* uplo, const int* n, T* a, const int* ia, const int* ja,       \
                  const int* desca, R* w, T* z, const int* iz, const int* jz, const int* descz, T* work,     \
                  const int* lwork EXTRA, int* info, std::size_t, std::size_t);                              \
  void P##SY##evd_(const char* job, const char* uplo, const int* n, T* a, const int* ia, const int* ja,      \
                   const int* desca, R* w, T* z, const int* iz, const int* jz, const int* descz, T* work,    \
                   const int* lwork EXTRA, int* iwork, const int* liwork, int* info, std::size_t,            \
                   std::size_t);                                                                             \
  void P##SY##evr_(const char* job, const char* range, const char* uplo, const int* n, T* a, const int* ia,  \
                   const int* ja, const int* desca, const R* vl, const R* vu, const int* il, const int* iu,  \
                   int* values, int* vectors, R* w, T* z, const int* iz, const int* jz, const int* descz,    \
                   T* work, const int* lwork EXTRA, int* iwork, const int* liwork, int* info, std::size_t,   \
                   std::size_t, std::size_t);                                                                \
  }                                                                                                          \
  template <>                                                                                                \
  struct Routines<T> {                                                                                       \
    static constexpr auto redistribute = P##gemr2d_;                                                         \
    static constexpr auto adjoint = P##TRAN##_;                                                              \
    static constexpr auto potrf = P##potrf_;                                                                 \
    static constexpr auto gst = P##GST##_;                                                                   \
    static constexpr auto trsm = P##trsm_;                                                                   \
    static constexpr auto ev = P##SY##ev_;                                                                   \
    static constexpr auto evd = P##SY##evd_;                                                                 \
    static constexpr auto evr = P##SY##evr_;                                                                 \
    static constexpr const char* family = #SY;                                                               \
    static constexpr const char* reduction = #GST;                                                           \
  };

template <class T>
struct Routines;
#define TESSERA_NOTHING
#define TESSERA_REAL_WORK(R) , R *rwork, const int *lrwork
TESSERA_DECLARE_SCALAPACK(float, float, ps, sy, syngst, tran, TESSERA_NOTHING)
TESSERA_DECLARE_SCALAPACK(double, double, pd, sy, syngst, tran, TESSERA_NOTHING)
TESSERA_DECLARE_SCALAPACK(std::complex<float>, float, pc, he, hengst, tranc, TESSERA_REAL_WORK(float))
TESSERA_DECLARE_SCALAPACK(std::complex<double>, double, pz, he, hengst, tranc, TESSERA_REAL_WORK(double))
#undef TESSERA_REAL_WORK
#undef TESSERA_NOTHING
#undef TESSERA_DECLARE_SCALAPACK

extern "C" {
void Cblacs_gridmap(int* context, int* ranks, int ld, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cfree_blacs_system_handle(int handle);
}

}  // namespace tessera::program::scalapack
