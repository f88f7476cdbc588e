! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/eigensolve.h, for the module tessera_dense.
module tessera_eigen_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double, c_null_ptr
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double, c_null_ptr

  type, bind(c) :: c_distribution
    integer(c_int64_t) :: block_rows, block_cols
    integer(c_int) :: grid_rows, grid_cols, column_major, first_row, first_col
  end type

  type, bind(c) :: c_matrix_in
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: order = 0, ld = 0
    integer(c_int) :: uplo = 76
    type(c_ptr) :: distribution = c_null_ptr
    integer(c_int64_t) :: array_rows = 0, array_cols = 0, row = 0, col = 0
  end type

  type, bind(c) :: c_matrix_out
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: ld = 0
    type(c_ptr) :: distribution = c_null_ptr
    integer(c_int64_t) :: array_rows = 0, array_cols = 0, row = 0, col = 0
  end type

  type, bind(c) :: c_problem
    integer(c_int) :: type
    type(c_matrix_in) :: a, b
    type(c_ptr) :: b_factor, values
    type(c_matrix_out) :: vectors
    type(c_ptr) :: stream, wait_event, done_event
    integer(c_int) :: use_stream
  end type

  type, bind(c) :: c_options
    integer(c_int) :: solver, range
    integer(c_int64_t) :: lo, hi
    real(c_double) :: above, upto
    integer(c_int64_t) :: tile, band, update_width, slab_width, column_groups
    integer(c_int) :: split_products
  end type

  type, bind(c) :: c_result
    integer(c_int64_t) :: count, first
    real(c_double) :: seconds
    type(c_options) :: used
  end type

  interface
    subroutine c_problem_init(problem) bind(c, name="tessera_eigen_problem_init")
      import :: c_problem
      type(c_problem), intent(out) :: problem
    end subroutine
    subroutine c_options_init(options) bind(c, name="tessera_eigen_options_init")
      import :: c_options
      type(c_options), intent(out) :: options
    end subroutine
    function c_solve(runtime, problem, options, found) bind(c, name="tessera_eigensolve") result(code)
      import :: c_ptr, c_problem, c_options, c_result, c_int
      type(c_ptr), value :: runtime
      type(c_problem), intent(in) :: problem
      type(c_options), intent(in) :: options
      type(c_result), intent(inout) :: found
      integer(c_int) :: code
    end function
    function c_submit(runtime, problem, options, found, done) bind(c, name="tessera_submit_eigensolve") result(code)
      import :: c_ptr, c_problem, c_options, c_int
      type(c_ptr), value :: runtime
      type(c_problem), intent(in) :: problem
      type(c_options), intent(in) :: options
      type(c_ptr), value :: found
      type(c_ptr), intent(out) :: done
      integer(c_int) :: code
    end function
    function c_factor_create(runtime, type, b, factor) bind(c, name="tessera_cholesky_factor_create") result(code)
      import :: c_ptr, c_int, c_matrix_in
      type(c_ptr), value :: runtime
      integer(c_int), value :: type
      type(c_matrix_in), intent(in) :: b
      type(c_ptr), intent(out) :: factor
      integer(c_int) :: code
    end function
    function c_factor_from(runtime, type, b, factor) bind(c, name="tessera_cholesky_factor_from") result(code)
      import :: c_ptr, c_int, c_matrix_in
      type(c_ptr), value :: runtime
      integer(c_int), value :: type
      type(c_matrix_in), intent(in) :: b
      type(c_ptr), intent(out) :: factor
      integer(c_int) :: code
    end function
    subroutine c_factor_free(factor) bind(c, name="tessera_cholesky_factor_free")
      import :: c_ptr
      type(c_ptr), value :: factor
    end subroutine
  end interface
end module
