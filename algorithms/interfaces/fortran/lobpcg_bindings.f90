! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/lobpcg.h.
module tessera_lobpcg_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr

  type, bind(c) :: c_preconditioner_options
    integer(c_int) :: largest, steps, degree, use_shift
    real(c_double) :: shift
    integer(c_int) :: use_interval
    real(c_double) :: interval_lower, interval_upper, b_norm
  end type

  type, bind(c) :: c_lobpcg_step
    integer(c_int64_t) :: iteration, converged, active
    real(c_double) :: largest_residual
    integer(c_int64_t) :: block
    type(c_ptr) :: values, residuals
    real(c_double) :: seconds
  end type

  type, bind(c) :: c_lobpcg_problem
    type(c_ptr) :: a, b, preconditioner
    integer(c_int64_t) :: constraint_count
    type(c_ptr) :: constraints
    integer(c_int64_t) :: guess_count
    type(c_ptr) :: guess
  end type

  type, bind(c) :: c_lobpcg_options
    integer(c_int64_t) :: count
    integer(c_int) :: method
    integer(c_int64_t) :: block, basis
    integer(c_int) :: largest
    real(c_double) :: tolerance
    integer(c_int) :: norm, basic
    integer(c_int64_t) :: iterations
    integer(c_int) :: lock
    integer(c_int64_t) :: seed
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
    type(c_ptr) :: checkpoint
    integer(c_int64_t) :: checkpoint_iterations
    real(c_double) :: checkpoint_seconds
    type(c_ptr) :: checkpoint_label, resume
  end type

  type, bind(c) :: c_lobpcg_result
    integer(c_int64_t) :: converged = 0, iterations = 0, restarts = 0, columns_multiplied = 0, multiplications = 0
    real(c_double) :: seconds = 0
    integer(c_int64_t) :: iterations_before = 0, checkpoints = 0
    integer(c_int) :: checkpoint_failed = 0
  end type

  interface
    function c_operator_from_csr(runtime, type, storage, order, begins, columns, values, uplo, like, &
      result) bind(c, name="tessera_operator_from_csr") result(code)
      import
      type(c_ptr), value :: runtime, begins, columns, values, like
      integer(c_int), value :: type, storage, uplo
      integer(c_int64_t), value :: order
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_operator_from_coordinates(runtime, type, storage, order, entries, rows, columns, values, uplo, &
      like, result) bind(c, name="tessera_operator_from_coordinates") result(code)
      import
      type(c_ptr), value :: runtime, rows, columns, values, like
      integer(c_int), value :: type, storage, uplo
      integer(c_int64_t), value :: order, entries
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_operator_from_matrix_market(runtime, type, storage, path, like, result) bind(c, &
      name="tessera_operator_from_matrix_market") result(code)
      import
      type(c_ptr), value :: runtime, like
      integer(c_int), value :: type, storage
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_operator_create(runtime, type, order, segments, host, device, user, norm_bound, result) bind(c, &
      name="tessera_operator_create") result(code)
      import
      type(c_ptr), value :: runtime, user
      integer(c_int), value :: type
      integer(c_int64_t), value :: order, segments
      type(c_funptr), value :: host, device
      real(c_double), value :: norm_bound
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_operator_order(a, order) bind(c, name="tessera_operator_order") result(code)
      import
      type(c_ptr), value :: a
      integer(c_int64_t), intent(inout) :: order
      integer(c_int) :: code
    end function
    function c_operator_apply(a, columns, x, ldx, y, ldy) bind(c, name="tessera_operator_apply") result(code)
      import
      type(c_ptr), value :: a, x, y
      integer(c_int64_t), value :: columns, ldx, ldy
      integer(c_int) :: code
    end function
    subroutine c_operator_free(a) bind(c, name="tessera_operator_free")
      import
      type(c_ptr), value :: a
    end subroutine
    subroutine c_preconditioner_options_init(options) bind(c, name="tessera_preconditioner_options_init")
      import
      type(c_preconditioner_options), intent(inout) :: options
    end subroutine
    function c_preconditioner_jacobi(a, options, result) bind(c, &
      name="tessera_preconditioner_jacobi") result(code)
      import
      type(c_ptr), value :: a
      type(c_preconditioner_options), intent(in) :: options
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_preconditioner_fom(a, options, result) bind(c, name="tessera_preconditioner_fom") result(code)
      import
      type(c_ptr), value :: a
      type(c_preconditioner_options), intent(in) :: options
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_preconditioner_chebyshev(a, options, result) bind(c, &
      name="tessera_preconditioner_chebyshev") result(code)
      import
      type(c_ptr), value :: a
      type(c_preconditioner_options), intent(in) :: options
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_preconditioner_create(runtime, type, host, device, user, result) bind(c, &
      name="tessera_preconditioner_create") result(code)
      import
      type(c_ptr), value :: runtime, user
      integer(c_int), value :: type
      type(c_funptr), value :: host, device
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    subroutine c_preconditioner_free(preconditioner) bind(c, name="tessera_preconditioner_free")
      import
      type(c_ptr), value :: preconditioner
    end subroutine
    subroutine c_lobpcg_problem_init(problem) bind(c, name="tessera_lobpcg_problem_init")
      import
      type(c_lobpcg_problem), intent(inout) :: problem
    end subroutine
    subroutine c_lobpcg_options_init(options) bind(c, name="tessera_lobpcg_options_init")
      import
      type(c_lobpcg_options), intent(inout) :: options
    end subroutine
    function c_lobpcg(problem, options, values, residuals, vectors, ldv, result) bind(c, &
      name="tessera_lobpcg") result(code)
      import
      type(c_lobpcg_problem), intent(in) :: problem
      type(c_lobpcg_options), intent(in) :: options
      type(c_ptr), value :: values, residuals, vectors
      integer(c_int64_t), value :: ldv
      type(c_lobpcg_result), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_submit_lobpcg(problem, options, values, residuals, vectors, ldv, result, completion) bind(c, &
      name="tessera_submit_lobpcg") result(code)
      import
      type(c_lobpcg_problem), intent(in) :: problem
      type(c_lobpcg_options), intent(in) :: options
      type(c_ptr), value :: values, residuals, vectors, result
      integer(c_int64_t), value :: ldv
      type(c_ptr), intent(out) :: completion
      integer(c_int) :: code
    end function
  end interface
end module
