! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> From Fortran: the lowest ten vibrations of a chain of n masses, x omega^2 = A x, and what a failure looks like.
program fortran_dense
  use tessera
  implicit none
  integer, parameter :: n = 400, wanted = 10, dp = kind(1.0d0)
  real(dp), allocatable :: a(:, :), b(:, :), w(:), z(:, :)
  real(dp) :: exact, error
  integer :: i, status
  type(tessera_runtime) :: runtime

  allocate (a(n, n), b(n, n), w(n), z(n, wanted))
  a = 0
  b = 0
  do i = 1, n
    a(i, i) = 2
    if (i > 1) a(i, i - 1) = -1          ! the lower triangle is enough
    b(i, i) = 1
  end do
  call runtime%create()

  call eigensolve(a, w, z, hi=wanted, runtime=runtime)   ! without status: a failure ends the program, with its message
  error = 0
  do i = 1, wanted
    exact = 4 * sin(i * acos(-1.0_dp) / (2 * n + 2))**2
    error = max(error, abs(w(i) - exact))
  end do
  print '(a, es9.2)', "largest error: ", error
  if (error > 1e-11_dp) error stop 1

  b(5, 5) = -1
  call eigensolve(a, w, b=b, runtime=runtime, status=status)
  print '(2a)', "with a bad B: ", tessera_message()
  if (status /= tessera_not_positive_definite .or. tessera_index_of_failure() /= 5) error stop 2
  call runtime%free()
end program
