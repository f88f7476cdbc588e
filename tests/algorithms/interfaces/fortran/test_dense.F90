! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> eigensolve of the Fortran module: all kinds, ranges, generalized problems, kept factors, submission, refusals;
!> against LAPACK.
program test_dense
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double
  use checks
  use tessera
  implicit none
  integer, parameter :: n = 60
  type(tessera_runtime) :: runtime

  call runtime%create(cores=2, gpus=0)
  call test_s()
  call test_d()
  call test_c()
  call test_z()
  call test_lapack()
  call test_refused()
  call runtime%free()
  call test_default_runtime()
  call tessera_end_default_runtime()
  call end_checks()

contains

  !> Eigenvalue k of the second differences of n points.
  real(dp) function exact(k)
    integer, intent(in) :: k
    exact = 2 - 2 * cos(k * acos(-1.0_dp) / (n + 1))
  end function

#define PASTE(a) a
#define OF_KIND(name) PASTE(name)_s
#define LETTER "s"
#define NUMBER real(sp)
#define REAL_NUMBER real(sp)
#define NEIGHBOUR -1
#define CONJUGATE(x) x
#define ROUNDING 1e-4
#include "dense_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef NEIGHBOUR
#undef CONJUGATE
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_d
#define LETTER "d"
#define NUMBER real(dp)
#define REAL_NUMBER real(dp)
#define NEIGHBOUR -1
#define CONJUGATE(x) x
#define ROUNDING 1e-11
#include "dense_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef NEIGHBOUR
#undef CONJUGATE
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_c
#define LETTER "c"
#define NUMBER complex(sp)
#define REAL_NUMBER real(sp)
#define NEIGHBOUR cmplx(0, -1, sp)
#define CONJUGATE(x) conjg(x)
#define ROUNDING 1e-4
#include "dense_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef NEIGHBOUR
#undef CONJUGATE
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_z
#define LETTER "z"
#define NUMBER complex(dp)
#define REAL_NUMBER real(dp)
#define NEIGHBOUR cmplx(0, -1, dp)
#define CONJUGATE(x) conjg(x)
#define ROUNDING 1e-11
#include "dense_tests.inc"

  subroutine test_lapack()
    real(dp), allocatable :: a(:, :), lapack(:, :), w(:), expected(:), z(:, :), work(:)
    integer, allocatable :: iwork(:)
    integer :: info
    external :: dsyevd
    allocate (a(n, n), w(n), expected(n), z(n, n), work(1 + 6 * n + 2 * n * n), iwork(3 + 5 * n))
    call random_number(a)
    a = a + transpose(a)
    lapack = a
    call dsyevd("V", "L", n, lapack, n, expected, work, size(work), iwork, size(iwork), info)
    call eigensolve(a, w, z, uplo="U", runtime=runtime)
    call check(info == 0 .and. all(abs(w - expected) < 1e-10_dp), "eigenvalues of dsyevd")
    call check(maxval(abs(abs(matmul(transpose(z), lapack)) - 1), mask=unit_matrix()) < 1e-8_dp, "vectors of dsyevd")
    call eigensolve(a(:40, :40), w, runtime=runtime)   ! not contiguous
    lapack = a
    call dsyevd("N", "L", 40, lapack, n, expected, work, size(work), iwork, size(iwork), info)
    call check(info == 0 .and. all(abs(w(:40) - expected(:40)) < 1e-10_dp), "a part of a matrix")
  end subroutine

  function unit_matrix() result(unit)
    logical :: unit(n, n)
    integer :: i
    unit = .false.
    do i = 1, n
      unit(i, i) = .true.
    end do
  end function

  subroutine test_refused()
    real(dp) :: a(n, n), w(n), z(n, n)
    type(block_cyclic) :: distribution
    integer :: status
    a = 0
    call eigensolve(a, w(:3), runtime=runtime, status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "w:") == 1, "w is too short")
    call eigensolve(a, w, z(:, :3), runtime=runtime, status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "z:") == 1, "z is too small")
    call eigensolve(a, w, lo=1, upto=3.0_dp, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "two ranges")
    call eigensolve(a, w, lo=0, hi=3, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "lo is 0")
    call eigensolve(a, w, uplo="x", runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "uplo")
    call eigensolve(a, w, distribution=distribution, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "n:") == 1, "no n")
    call eigensolve(a, w, z, distribution=distribution, n=n, runtime=runtime, status=status)
    call check(status == tessera_success .and. all(abs(w) < 1e-12_dp), "a grid of one process")
  end subroutine

  subroutine test_default_runtime()
    real(dp) :: a(2, 2), w(2)
    a = reshape([1.0_dp, 2.0_dp, 2.0_dp, 1.0_dp], [2, 2])
    call eigensolve(a, w)
    call check(all(abs(w - [-1.0_dp, 3.0_dp]) < 1e-12_dp), "the default Runtime")
  end subroutine
end program
