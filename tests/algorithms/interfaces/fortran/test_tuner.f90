! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The tuner of the dense solver and its options, of the Fortran module.
program test_tuner
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use checks
  use tessera
  implicit none
  integer, parameter :: n = 96
  type(tessera_runtime) :: runtime
  real(dp) :: a(n, n), w(n), z(n, n), expected(n)
  integer :: i

  call repeat_random_numbers()
  call runtime%create(cores=2, gpus=0)
  call random_number(a)
  a = a + transpose(a)
  call eigensolve(a, expected, runtime=runtime)
  call test_options()
  call test_loop()
  call runtime%free()
  call end_checks()

contains

  subroutine test_options()
    type(eigen_options) :: options
    type(eigen_used) :: used
    type(completion) :: done
    integer :: status
    options%tile = 32
    options%band = 16
    options%solver = solver_two_stage
    call eigensolve(a, w, z, options=options, used=used, runtime=runtime)
    call check(maxval(abs(w - expected)) < 1e-11_dp, "values with sizes")
    call check(used%options%tile == 32 .and. used%options%band == 16 .and. &
      used%options%solver == solver_two_stage .and. &
      used%first == 1 .and. used%seconds > 0, "what was used")
    call eigensolve(a, w(:3), lo=4, hi=6, used=used, runtime=runtime)
    call check(used%first == 4 .and. used%options%tile > 0, "the first of a range")
    options%solver = solver_two_stage
    call submit_eigensolve(done, a, w, z, options=options, runtime=runtime)
    call done%wait()
    call done%free()
    call check(maxval(abs(w - expected)) < 1e-11_dp, "submitted with sizes")
    options%tile = -3
    call eigensolve(a, w, options=options, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "tile") > 0, "a tile of -3")
    options%tile = 32
    call eigensolve(a, w, options=options, solver=77, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "no solver")
  end subroutine

  subroutine test_loop()
    type(eigen_tuner) :: tuner, other
    type(eigen_options) :: options, fixed
    type(eigen_used) :: used
    real(dp) :: seconds
    integer :: candidates, tried, status, unit
    fixed%tile = 32
    call tuner%create("d", n, fixed=fixed, runtime=runtime)
    call tuner%best(candidates=candidates, tried=tried, seconds=seconds)
    call check(candidates >= 1 .and. tried == 0 .and. seconds > huge(seconds), "before the first")
    do i = 1, candidates
      call tuner%next(options)
      call check(options%tile == 32, "what is fixed")
      call eigensolve(a, w, z, options=options, used=used, runtime=runtime)
      call check(maxval(abs(w - expected)) < 1e-11_dp, "values of a candidate")
      call tuner%record(1.0_dp + i)
    end do
    call tuner%best(options, seconds, candidates, tried)
    call check(tried == candidates .and. abs(seconds - 2) < 1e-12_dp, "the fastest")
    call tuner%save("fortran_tuner.json")
    call other%create("d", n, fixed=fixed, runtime=runtime)
    call other%load("fortran_tuner.json")
    call other%best(tried=tried, seconds=seconds)
    call check(tried == candidates .and. abs(seconds - 2) < 1e-12_dp, "from a file")
    open (newunit=unit, file="fortran_tuner.json")
    close (unit, status="delete")
    call other%load("fortran_tuner.json", status)
    call check(status /= tessera_success, "no file")
    call other%create("x", n, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument .and. .not. other%exists(), "no scalar type")
    call other%next(options, status)
    call check(status == tessera_invalid_argument, "no tuner")
  end subroutine
end program
