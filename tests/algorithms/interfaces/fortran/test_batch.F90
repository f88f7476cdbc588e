! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> eigensolve_batch of the Fortran module: all kinds, values alone, submission, failures, refusals; against LAPACK.
program test_batch
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan, ieee_is_nan
  use checks
  use tessera
  implicit none
  type(tessera_runtime) :: runtime

  call repeat_random_numbers()
  call runtime%create(cores=2, gpus=0)
  call test_s()
  call test_d()
  call test_c()
  call test_z()
  call test_refused()
  call runtime%free()
  call test_default_runtime()
  call tessera_end_default_runtime()
  call end_checks()

contains

#define PASTE(a) a
#define OF_KIND(name) PASTE(name)_s
#define LETTER "s"
#define NUMBER real(sp)
#define REAL_NUMBER real(sp)
#define ELEMENT(x, y) real(x, sp)
#define SOLVE_WITH_LAPACK call ssyev('N', 'L', n, b, n, expected, work, size(work), code)
#define LAPACK_NAME ssyev
#define ADJOINT(x) transpose(x)
#define ROUNDING 1e-4
#include "batch_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef SOLVE_WITH_LAPACK
#undef LAPACK_NAME
#undef ADJOINT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_d
#define LETTER "d"
#define NUMBER real(dp)
#define REAL_NUMBER real(dp)
#define ELEMENT(x, y) real(x, dp)
#define SOLVE_WITH_LAPACK call dsyev('N', 'L', n, b, n, expected, work, size(work), code)
#define LAPACK_NAME dsyev
#define ADJOINT(x) transpose(x)
#define ROUNDING 1e-11
#include "batch_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef SOLVE_WITH_LAPACK
#undef LAPACK_NAME
#undef ADJOINT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_c
#define LETTER "c"
#define NUMBER complex(sp)
#define REAL_NUMBER real(sp)
#define ELEMENT(x, y) cmplx(x, y, sp)
#define SOLVE_WITH_LAPACK call cheev('N', 'L', n, b, n, expected, work, size(work), rwork, code)
#define LAPACK_NAME cheev
#define ADJOINT(x) conjg(transpose(x))
#define ROUNDING 1e-4
#include "batch_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef SOLVE_WITH_LAPACK
#undef LAPACK_NAME
#undef ADJOINT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_z
#define LETTER "z"
#define NUMBER complex(dp)
#define REAL_NUMBER real(dp)
#define ELEMENT(x, y) cmplx(x, y, dp)
#define SOLVE_WITH_LAPACK call zheev('N', 'L', n, b, n, expected, work, size(work), rwork, code)
#define LAPACK_NAME zheev
#define ADJOINT(x) conjg(transpose(x))
#define ROUNDING 1e-11
#include "batch_tests.inc"

  subroutine test_refused()
    real(dp) :: a(4, 4, 3), w(4, 3), z(4, 4, 3)
    integer :: status, info(3)
    a = 0
    call eigensolve_batch(a(:3, :, :), w, runtime=runtime, status=status)
    call expect_refused(status, "a:", "a has too few rows")
    call eigensolve_batch(a, w(:3, :), runtime=runtime, status=status)
    call expect_refused(status, "w:", "w is too short")
    call eigensolve_batch(a, w(:, :2), runtime=runtime, status=status)
    call expect_refused(status, "w:", "w has too few columns")
    call eigensolve_batch(a, w, z(:, :3, :), runtime=runtime, status=status)
    call expect_refused(status, "z:", "z is too small")
    call eigensolve_batch(a, w, z(:, :, :2), runtime=runtime, status=status)
    call expect_refused(status, "z:", "z has too few matrices")
    call eigensolve_batch(a, w, z, info=info(:2), runtime=runtime, status=status)
    call expect_refused(status, "info:", "info is too short")
    call eigensolve_batch(a, w, uplo="x", runtime=runtime, status=status)
    call expect_refused(status, "uplo", "uplo")
    call eigensolve_batch(a(:, :, :0), w, z, info=info, runtime=runtime, status=status)
    call check(status == tessera_success, "no matrices")
  end subroutine

  subroutine expect_refused(status, argument, what)
    integer, intent(in) :: status
    character(*), intent(in) :: argument, what
    call check(status == tessera_invalid_argument .and. index(tessera_message(), argument) == 1, what)
  end subroutine

  subroutine test_default_runtime()
    real(dp) :: a(2, 2, 2), w(2, 2)
    a = reshape([1.0_dp, 2.0_dp, 2.0_dp, 1.0_dp, 5.0_dp, 1.0_dp, 1.0_dp, 5.0_dp], [2, 2, 2])
    call eigensolve_batch(a, w)
    call check(all(abs(w - reshape([-1.0_dp, 3.0_dp, 4.0_dp, 6.0_dp], [2, 2])) < 1e-12_dp), "the default Runtime")
  end subroutine
end program
