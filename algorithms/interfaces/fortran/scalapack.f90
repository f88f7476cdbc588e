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
    subroutine tessera_pssyevd(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pssyevd")
      import :: c_char, c_int, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pssyevd_partial_spectrum(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pssyevd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      real(c_float), intent(in) :: a(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pssygvd(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pssygvd")
      import :: c_char, c_int, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pssygvd_partial_spectrum(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pssygvd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pssygvd_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pssygvd_factorized")
      import :: c_char, c_int, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pssygvd_partial_spectrum_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pssygvd_partial_spectrum_factorized")
      import :: c_char, c_int, c_int64_t, c_float
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_float), intent(in) :: a(*), b(*)
      real(c_float), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsyevd(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pdsyevd")
      import :: c_char, c_int, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsyevd_partial_spectrum(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pdsyevd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      real(c_double), intent(in) :: a(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsygvd(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pdsygvd")
      import :: c_char, c_int, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsygvd_partial_spectrum(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pdsygvd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsygvd_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pdsygvd_factorized")
      import :: c_char, c_int, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pdsygvd_partial_spectrum_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pdsygvd_partial_spectrum_factorized")
      import :: c_char, c_int, c_int64_t, c_double
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      real(c_double), intent(in) :: a(*), b(*)
      real(c_double), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pcheevd(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pcheevd")
      import :: c_char, c_int, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pcheevd_partial_spectrum(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pcheevd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pchegvd(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pchegvd")
      import :: c_char, c_int, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pchegvd_partial_spectrum(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pchegvd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pchegvd_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pchegvd_factorized")
      import :: c_char, c_int, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pchegvd_partial_spectrum_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pchegvd_partial_spectrum_factorized")
      import :: c_char, c_int, c_int64_t, c_float, c_float_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_float_complex), intent(in) :: a(*), b(*)
      complex(c_float_complex), intent(inout) :: z(*)
      real(c_float), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzheevd(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pzheevd")
      import :: c_char, c_int, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzheevd_partial_spectrum(uplo, n, a, ia, ja, desca, w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pzheevd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, iz, jz
      integer(c_int), intent(in) :: desca(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzhegvd(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pzhegvd")
      import :: c_char, c_int, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzhegvd_partial_spectrum(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pzhegvd_partial_spectrum")
      import :: c_char, c_int, c_int64_t, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzhegvd_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, info) &
      bind(c, name="tessera_pzhegvd_factorized")
      import :: c_char, c_int, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int), intent(out) :: info
    end subroutine
    subroutine tessera_pzhegvd_partial_spectrum_factorized(uplo, n, a, ia, ja, desca, b, ib, jb, descb, &
      w, z, iz, jz, descz, first, last, info) &
      bind(c, name="tessera_pzhegvd_partial_spectrum_factorized")
      import :: c_char, c_int, c_int64_t, c_double, c_double_complex
      character(kind=c_char), value :: uplo
      integer(c_int), value :: n, ia, ja, ib, jb, iz, jz
      integer(c_int), intent(in) :: desca(9), descb(9), descz(9)
      complex(c_double_complex), intent(in) :: a(*), b(*)
      complex(c_double_complex), intent(inout) :: z(*)
      real(c_double), intent(inout) :: w(*)
      integer(c_int64_t), value :: first, last
      integer(c_int), intent(out) :: info
    end subroutine
  end interface
end module
