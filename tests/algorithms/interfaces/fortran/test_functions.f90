! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Functions of block-sparse matrices of the Fortran module: what they must fulfil, and what the monitor and bad input
!> do.
program test_functions
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double
  use checks
  use tessera
  implicit none
  integer, parameter :: sizes(8) = [5, 3, 4, 6, 2, 5, 4, 3], n = 32
  type(tessera_runtime) :: runtime
  type(block_layout) :: layout
  type(block_matrix) :: a
  type(function_options) :: options
  real(dp) :: dense(n, n), unit(n, n)
  integer :: steps_seen = 0, i, j

  call runtime%create(cores=2, gpus=0)
  call layout%create(sizes, symmetry="S", runtime=runtime)
  do j = 1, n
    do i = 1, n
      dense(i, j) = 0.4_dp**abs(i - j)       ! positive definite
    end do
  end do
  unit = 0
  do i = 1, n
    unit(i, i) = 1
  end do
  call block_matrix_from_dense(a, layout, dense, runtime=runtime)
  options%filter_eps = 0
  options%check = .true.
  call test_powers()
  call test_others()
  call test_single()
  call test_monitor()
  call test_refused()
  call a%free()
  call layout%free()
  call runtime%free()
  call end_checks()

contains

  function values_of(matrix) result(values)
    type(block_matrix), intent(in) :: matrix
    real(dp) :: values(n, n)
    call block_matrix_to_dense(matrix, values)
  end function

  logical function near(x, y)
    real(dp), intent(in) :: x(n, n), y(n, n)
    near = maxval(abs(x - y)) < 1e-9_dp
  end function

  subroutine test_powers()
    type(block_matrix) :: x, root, inverse_root, again
    type(iteration_report) :: report, from_a_start
    real(dp) :: z(n, n)
    call matrix_inverse(a, x, options=options, report=report)
    call check(near(matmul(values_of(x), dense), unit), "inverse")
    call check(report%steps > 1 .and. report%products > 0 .and. report%error < 1e-8_dp, "report")
    call matrix_inverse(a, again, start=x, options=options, report=from_a_start)
    call check(near(matmul(values_of(again), dense), unit), "inverse from a start")
    call check(from_a_start%steps < report%steps, "a start saves steps")
    call inverse_factor(a, x, options=options)
    z = values_of(x)
    call check(near(matmul(transpose(z), matmul(dense, z)), unit), "inverse factor")
    call inverse_factor(a, again, x, options)
    z = values_of(again)
    call check(near(matmul(transpose(z), matmul(dense, z)), unit), "inverse factor from a start")
    call matrix_square_roots(a, root, inverse_root, options)
    z = values_of(root)
    call check(near(matmul(z, z), dense), "square root")
    call check(near(matmul(z, values_of(inverse_root)), unit), "inverse square root")
    options%root = 3
    call matrix_inverse_root(a, x, options)
    deallocate (options%root)
    z = values_of(x)
    call check(near(matmul(matmul(z, matmul(z, z)), dense), unit), "inverse third root")
  end subroutine

  subroutine test_others()
    type(block_matrix) :: x, shifted, density
    real(dp) :: z(n, n), term(n, n), total(n, n), w(n), vectors(n, n), value
    integer :: k
    call matrix_exponential(a, x, options)
    total = unit
    term = unit
    do k = 1, 60
      term = matmul(term, dense) / k
      total = total + term
    end do
    call check(near(values_of(x), total), "exponential")
    call eigensolve(dense, w, vectors, runtime=runtime)
    call log_determinant(a, value, options)
    call check(abs(value - sum(log(w))) < 1e-8_dp, "log of the determinant")
    call block_copy(a, shifted)
    call block_add_on_diagonal(-(w(16) + w(17)) / 2, shifted)
    call matrix_sign(shifted, x, options)
    total = matmul(vectors(:, 17:), transpose(vectors(:, 17:))) - matmul(vectors(:, :16), transpose(vectors(:, :16)))
    call check(near(values_of(x), total), "sign")
    ! a density matrix that is a little off
    total = matmul(vectors(:, :5), transpose(vectors(:, :5)))
    call block_matrix_from_dense(density, layout, total * 1.01_dp, runtime=runtime)
    call purify(density, x, options=options)
    z = values_of(x)
    call check(near(z, total), "purified")
  end subroutine

  subroutine test_single()
    type(block_matrix) :: single, x
    real(sp) :: z(n, n)
    call block_convert(a, single)
    call matrix_inverse(single, x)
    call block_matrix_to_dense(x, z)
    call check(maxval(abs(matmul(z, real(dense, sp)) - unit)) < 1e-3_dp, "inverse in single precision")
  end subroutine

  subroutine test_monitor()
    type(block_matrix) :: x
    type(function_options) :: watched
    integer :: status
    watched%monitor => stop_second
    call matrix_inverse(a, x, options=watched, status=status)
    call check(status == tessera_stopped .and. steps_seen == 2, "stopped by the monitor")
    call check(.not. x%exists(), "no matrix of a stopped iteration")
  end subroutine

  subroutine stop_second(step, stop)
    type(iteration_step), intent(in) :: step
    logical, intent(inout) :: stop
    call check(.not. stop .and. step%iteration == steps_seen + 1 .and. len(step%stage) > 0 .and. &
      step%occupation > 0, "a step")
    steps_seen = steps_seen + 1
    stop = steps_seen == 2
  end subroutine

  subroutine test_refused()
    type(block_matrix) :: none, x
    type(function_options) :: wrong
    integer :: status
    call matrix_sign(none, x, status=status)
    call check(status == tessera_invalid_argument, "no matrix")
    wrong%order = -5
    call matrix_sign(a, x, wrong, status=status)
    call check(status == tessera_invalid_argument, "order")
    wrong%order = 2
    wrong%iterations = 1
    call matrix_inverse(a, x, options=wrong, status=status)
    call check(status == tessera_iterations_exhausted, "one iteration")
    call block_scale(-1, a)
    call log_determinant(a, dense(1, 1), status=status)
    call check(status /= tessera_success, "not positive definite")
  end subroutine
end program
