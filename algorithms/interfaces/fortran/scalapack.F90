! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Eigensolvers with the argument lists of DLA-Future-Fortran: a program that calls dlaf_pdsyevd renames it to
!> tessera_pdsyevd.
!>
!> A, B and Z are the rank's parts of block-cyclic arrays, described as ScaLAPACK does (descinit); sub-matrices begin
!> at (ia, ja),
!> ... from 1. Eigenvectors come back in Z's distribution; A and B are not changed. Called by all processes of the
!> BLACS context.
!> The first call starts a Runtime on these, if none is alive; tessera_end_default_runtime ends it and must be called
!> before
!> MPI_Finalize. MPI must have been initialised with MPI_THREAD_MULTIPLE where there are several processes.
!>
!> uplo 'L' or 'U': the triangle that counts. w: n eigenvalues, ascending. Partial spectra: eigenvalues number first to
!> last,
!> from 1, in w(1), ... and in the first columns of Z. ..._factorized: b holds the Cholesky factor of B in the triangle
!> that uplo names.
!> info: 0; -i: argument number i is bad; -(100 i + j): entry j of the descriptor that is argument i is; -1000: another
!> error;
!> n + i: the leading minor of order i of B is not positive definite; any other above 0: a numerical failure (a code of
!> tessera_base). tessera_message() says more.
module tessera_scalapack
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int64_t, c_float, c_double, c_float_complex, c_double_complex
  implicit none
  private
  public :: tessera_pssyevd
  public :: tessera_pssyevd_partial_spectrum
  public :: tessera_pssygvd
  public :: tessera_pssygvd_partial_spectrum
  public :: tessera_pssygvd_factorized
  public :: tessera_pssygvd_partial_spectrum_factorized
  public :: tessera_pdsyevd
  public :: tessera_pdsyevd_partial_spectrum
  public :: tessera_pdsygvd
  public :: tessera_pdsygvd_partial_spectrum
  public :: tessera_pdsygvd_factorized
  public :: tessera_pdsygvd_partial_spectrum_factorized
  public :: tessera_pcheevd
  public :: tessera_pcheevd_partial_spectrum
  public :: tessera_pchegvd
  public :: tessera_pchegvd_partial_spectrum
  public :: tessera_pchegvd_factorized
  public :: tessera_pchegvd_partial_spectrum_factorized
  public :: tessera_pzheevd
  public :: tessera_pzheevd_partial_spectrum
  public :: tessera_pzhegvd
  public :: tessera_pzhegvd_partial_spectrum
  public :: tessera_pzhegvd_factorized
  public :: tessera_pzhegvd_partial_spectrum_factorized

  interface
#define PASTE(a) a
#define ROUTINE(name) PASTE(tessera_pssy)name
#define NUMBER real(c_float)
#define REAL_NUMBER real(c_float)
#include "scalapack.inc"
#undef ROUTINE
#undef NUMBER
#undef REAL_NUMBER

#define ROUTINE(name) PASTE(tessera_pdsy)name
#define NUMBER real(c_double)
#define REAL_NUMBER real(c_double)
#include "scalapack.inc"
#undef ROUTINE
#undef NUMBER
#undef REAL_NUMBER

#define ROUTINE(name) PASTE(tessera_pche)name
#define NUMBER complex(c_float_complex)
#define REAL_NUMBER real(c_float)
#include "scalapack.inc"
#undef ROUTINE
#undef NUMBER
#undef REAL_NUMBER

#define ROUTINE(name) PASTE(tessera_pzhe)name
#define NUMBER complex(c_double_complex)
#define REAL_NUMBER real(c_double)
#include "scalapack.inc"
  end interface
end module
