/* SPDX-FileCopyrightText: 2026 The Tessera authors
   SPDX-License-Identifier: BSD-3-Clause

   Eigensolvers with the argument lists of DLA-Future's ScaLAPACK-like interface: a program that calls dlaf_pdsyevd renames it to
   tessera_pdsyevd. A, B and Z are the ranks' parts of block-cyclic arrays in host memory, described as ScaLAPACK does
   (descinit). Submatrices may begin anywhere (ia, ja, ... from 1); blocks need not be square, nor equal in A, B and Z; any process
   of the grid may have the first block. Eigenvectors come back in Z's distribution, in its first columns. A and B are not changed.
   Called by all processes of the BLACS context, which is that of all arrays.

   BLACS is not linked: its functions are looked up in the program. The first call starts a Runtime on the processes of the
   context, if none is alive; it ends with the process, or by tessera_end_default_runtime. MPI must have been initialised with
   MPI_THREAD_MULTIPLE where there are several.

   info: 0; -i: argument number i is bad; -(100 i + j): entry j of the descriptor that is argument i is; -1000: another error;
   order of B + i: the leading minor of order i of B is not positive definite; any other above 0: a numerical failure (the
   codes of tessera/c/base.h). tessera_last_message() says more. */
#ifndef TESSERA_C_SCALAPACK_H
#define TESSERA_C_SCALAPACK_H

#include <tessera/c/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* T: the elements, R: their real type (eigenvalues), P: the name's beginning, S: its end. Complex numbers are two reals.
     evd:                                  A z = lambda z
     gvd:                                  A z = lambda B z, B positive definite
     gvd_factorized:                       b holds B's Cholesky factor: L in its lower triangle ('L') or U in its upper one
     ..._partial_spectrum(..., first, last, info): eigenvalues number first to last, from 1, ascending */
#define TESSERA_SCALAPACK_(T, R, P, S)                                                                       \
  void tessera_##P##S##evd(char uplo, int n, T* a, int ia, int ja, const int desca[9], R* w, T* z, int iz,   \
                           int jz, const int descz[9], int* info);                                           \
  void tessera_##P##S##evd_partial_spectrum(char uplo, int n, T* a, int ia, int ja, const int desca[9],      \
                                            R* w, T* z, int iz, int jz, const int descz[9], int64_t first,   \
                                            int64_t last, int* info);                                        \
  void tessera_##P##S##gvd(char uplo, int n, T* a, int ia, int ja, const int desca[9], T* b, int ib, int jb, \
                           const int descb[9], R* w, T* z, int iz, int jz, const int descz[9], int* info);   \
  void tessera_##P##S##gvd_partial_spectrum(                                                                 \
      char uplo, int n, T* a, int ia, int ja, const int desca[9], T* b, int ib, int jb, const int descb[9],  \
      R* w, T* z, int iz, int jz, const int descz[9], int64_t first, int64_t last, int* info);               \
  void tessera_##P##S##gvd_factorized(char uplo, int n, T* a, int ia, int ja, const int desca[9], T* b,      \
                                      int ib, int jb, const int descb[9], R* w, T* z, int iz, int jz,        \
                                      const int descz[9], int* info);                                        \
  void tessera_##P##S##gvd_partial_spectrum_factorized(                                                      \
      char uplo, int n, T* a, int ia, int ja, const int desca[9], T* b, int ib, int jb, const int descb[9],  \
      R* w, T* z, int iz, int jz, const int descz[9], int64_t first, int64_t last, int* info);

/* Pointers to complex numbers are void, which C's and C++'s complex types convert to. */
TESSERA_SCALAPACK_(float, float, ps, sy)
TESSERA_SCALAPACK_(double, double, pd, sy)
TESSERA_SCALAPACK_(void, float, pc, he)
TESSERA_SCALAPACK_(void, double, pz, he)
#undef TESSERA_SCALAPACK_

#ifdef __cplusplus
}
#endif
#endif
