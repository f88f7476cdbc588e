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

  !> Second differences: eigenvalues are known.
  subroutine test_s()
    real(sp), target :: a(n, n), b(n, n), z(n, n), zp(n, 5)
    real(sp), target :: w(n), few(n)
    type(cholesky_factor) :: factor
    type(completion) :: done
    integer :: i, count, status
    a = 0
    b = 0
    do i = 1, n
      a(i, i) = 2
      b(i, i) = 4
      if (i < n) a(i + 1, i) = -1.0_sp
    end do
    call eigensolve(a, w, z, runtime=runtime)
    call check(all(abs([(w(i) - exact(i), i=1, n)]) < 1e-4), "s: eigenvalues")
    do i = 1, n - 1
      a(i, i + 1) = a(i + 1, i)
    end do
    call check(maxval(abs(matmul(a, z) - z * spread(w, 1, n))) < 1e-4, "s: residual")
    call check(abs(sum(abs(z(:, 3))**2) - 1) < 1e-4, "s: length of a vector")
    call eigensolve(a, few, zp, lo=3, hi=7, count=count, runtime=runtime)
    call check(count == 5 .and. all(abs(few(:5) - w(3:7)) < 1e-4), "s: range of numbers")
    call check(maxval(abs(matmul(a, zp) - zp * spread(few(:5), 1, n))) < 1e-4, "s: residual of a range")
    call eigensolve(a, few, above=1.0_dp, upto=2.5_dp, count=count, uplo="U", runtime=runtime)
    call check(count == sum([(merge(1, 0, exact(i) > 1 .and. exact(i) <= 2.5_dp), i=1, n)]), "s: count by value")
    call eigensolve(a, few, z, b, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "s: generalized")
    call check(abs(sum(abs(z(:, 3))**2) - 0.25) < 1e-4, "s: length in the metric of B")
    call factor%create(b, runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "s: kept factor")
    call factor%create(b / 2, factorized=.true., runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "s: given factor")
    call submit_eigensolve(done, a, few, z, runtime=runtime)
    call done%wait()
    call check(done%test(), "s: test")
    call check(all(abs(few - w) < 1e-4), "s: submitted")
    b(3, 3) = -1
    call eigensolve(a, few, z, b, runtime=runtime, status=status)
    call check(status == tessera_not_positive_definite .and. tessera_index_of_failure() == 3 .and. &
               tessera_stage() == "cholesky", "s: not positive definite")
    call factor%free()
    call done%free()
  end subroutine

  !> Second differences: eigenvalues are known.
  subroutine test_d()
    real(dp), target :: a(n, n), b(n, n), z(n, n), zp(n, 5)
    real(dp), target :: w(n), few(n)
    type(cholesky_factor) :: factor
    type(completion) :: done
    integer :: i, count, status
    a = 0
    b = 0
    do i = 1, n
      a(i, i) = 2
      b(i, i) = 4
      if (i < n) a(i + 1, i) = -1.0_dp
    end do
    call eigensolve(a, w, z, runtime=runtime)
    call check(all(abs([(w(i) - exact(i), i=1, n)]) < 1e-11), "d: eigenvalues")
    do i = 1, n - 1
      a(i, i + 1) = a(i + 1, i)
    end do
    call check(maxval(abs(matmul(a, z) - z * spread(w, 1, n))) < 1e-11, "d: residual")
    call check(abs(sum(abs(z(:, 3))**2) - 1) < 1e-11, "d: length of a vector")
    call eigensolve(a, few, zp, lo=3, hi=7, count=count, runtime=runtime)
    call check(count == 5 .and. all(abs(few(:5) - w(3:7)) < 1e-11), "d: range of numbers")
    call check(maxval(abs(matmul(a, zp) - zp * spread(few(:5), 1, n))) < 1e-11, "d: residual of a range")
    call eigensolve(a, few, above=1.0_dp, upto=2.5_dp, count=count, uplo="U", runtime=runtime)
    call check(count == sum([(merge(1, 0, exact(i) > 1 .and. exact(i) <= 2.5_dp), i=1, n)]), "d: count by value")
    call eigensolve(a, few, z, b, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "d: generalized")
    call check(abs(sum(abs(z(:, 3))**2) - 0.25) < 1e-11, "d: length in the metric of B")
    call factor%create(b, runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "d: kept factor")
    call factor%create(b / 2, factorized=.true., runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "d: given factor")
    call submit_eigensolve(done, a, few, z, runtime=runtime)
    call done%wait()
    call check(done%test(), "d: test")
    call check(all(abs(few - w) < 1e-11), "d: submitted")
    b(3, 3) = -1
    call eigensolve(a, few, z, b, runtime=runtime, status=status)
    call check(status == tessera_not_positive_definite .and. tessera_index_of_failure() == 3 .and. &
               tessera_stage() == "cholesky", "d: not positive definite")
    call factor%free()
    call done%free()
  end subroutine

  !> Second differences with imaginary neighbours: eigenvalues are known.
  subroutine test_c()
    complex(sp), target :: a(n, n), b(n, n), z(n, n), zp(n, 5)
    real(sp), target :: w(n), few(n)
    type(cholesky_factor) :: factor
    type(completion) :: done
    integer :: i, count, status
    a = 0
    b = 0
    do i = 1, n
      a(i, i) = 2
      b(i, i) = 4
      if (i < n) a(i + 1, i) = cmplx(0, -1, sp)
    end do
    call eigensolve(a, w, z, runtime=runtime)
    call check(all(abs([(w(i) - exact(i), i=1, n)]) < 1e-4), "c: eigenvalues")
    do i = 1, n - 1
      a(i, i + 1) = conjg(a(i + 1, i))
    end do
    call check(maxval(abs(matmul(a, z) - z * spread(w, 1, n))) < 1e-4, "c: residual")
    call check(abs(sum(abs(z(:, 3))**2) - 1) < 1e-4, "c: length of a vector")
    call eigensolve(a, few, zp, lo=3, hi=7, count=count, runtime=runtime)
    call check(count == 5 .and. all(abs(few(:5) - w(3:7)) < 1e-4), "c: range of numbers")
    call check(maxval(abs(matmul(a, zp) - zp * spread(few(:5), 1, n))) < 1e-4, "c: residual of a range")
    call eigensolve(a, few, above=1.0_dp, upto=2.5_dp, count=count, uplo="U", runtime=runtime)
    call check(count == sum([(merge(1, 0, exact(i) > 1 .and. exact(i) <= 2.5_dp), i=1, n)]), "c: count by value")
    call eigensolve(a, few, z, b, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "c: generalized")
    call check(abs(sum(abs(z(:, 3))**2) - 0.25) < 1e-4, "c: length in the metric of B")
    call factor%create(b, runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "c: kept factor")
    call factor%create(b / 2, factorized=.true., runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-4), "c: given factor")
    call submit_eigensolve(done, a, few, z, runtime=runtime)
    call done%wait()
    call check(done%test(), "c: test")
    call check(all(abs(few - w) < 1e-4), "c: submitted")
    b(3, 3) = -1
    call eigensolve(a, few, z, b, runtime=runtime, status=status)
    call check(status == tessera_not_positive_definite .and. tessera_index_of_failure() == 3 .and. &
               tessera_stage() == "cholesky", "c: not positive definite")
    call factor%free()
    call done%free()
  end subroutine

  !> Second differences with imaginary neighbours: eigenvalues are known.
  subroutine test_z()
    complex(dp), target :: a(n, n), b(n, n), z(n, n), zp(n, 5)
    real(dp), target :: w(n), few(n)
    type(cholesky_factor) :: factor
    type(completion) :: done
    integer :: i, count, status
    a = 0
    b = 0
    do i = 1, n
      a(i, i) = 2
      b(i, i) = 4
      if (i < n) a(i + 1, i) = cmplx(0, -1, dp)
    end do
    call eigensolve(a, w, z, runtime=runtime)
    call check(all(abs([(w(i) - exact(i), i=1, n)]) < 1e-11), "z: eigenvalues")
    do i = 1, n - 1
      a(i, i + 1) = conjg(a(i + 1, i))
    end do
    call check(maxval(abs(matmul(a, z) - z * spread(w, 1, n))) < 1e-11, "z: residual")
    call check(abs(sum(abs(z(:, 3))**2) - 1) < 1e-11, "z: length of a vector")
    call eigensolve(a, few, zp, lo=3, hi=7, count=count, runtime=runtime)
    call check(count == 5 .and. all(abs(few(:5) - w(3:7)) < 1e-11), "z: range of numbers")
    call check(maxval(abs(matmul(a, zp) - zp * spread(few(:5), 1, n))) < 1e-11, "z: residual of a range")
    call eigensolve(a, few, above=1.0_dp, upto=2.5_dp, count=count, uplo="U", runtime=runtime)
    call check(count == sum([(merge(1, 0, exact(i) > 1 .and. exact(i) <= 2.5_dp), i=1, n)]), "z: count by value")
    call eigensolve(a, few, z, b, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "z: generalized")
    call check(abs(sum(abs(z(:, 3))**2) - 0.25) < 1e-11, "z: length in the metric of B")
    call factor%create(b, runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "z: kept factor")
    call factor%create(b / 2, factorized=.true., runtime=runtime)
    call eigensolve(a, few, factor=factor, runtime=runtime)
    call check(all(abs(4 * few - w) < 1e-11), "z: given factor")
    call submit_eigensolve(done, a, few, z, runtime=runtime)
    call done%wait()
    call check(done%test(), "z: test")
    call check(all(abs(few - w) < 1e-11), "z: submitted")
    b(3, 3) = -1
    call eigensolve(a, few, z, b, runtime=runtime, status=status)
    call check(status == tessera_not_positive_definite .and. tessera_index_of_failure() == 3 .and. &
               tessera_stage() == "cholesky", "z: not positive definite")
    call factor%free()
    call done%free()
  end subroutine

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
