! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/block_operations.h.
module tessera_block_operation_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double

  type, bind(c) :: c_multiply_options
    real(c_double) :: filter_eps
    integer(c_int) :: at_least, retain_sparsity, reuse_plan, result_on_host
    integer(c_int64_t) :: first_row, end_row, first_col, end_col, first_inner, end_inner, steps
  end type

  type, bind(c) :: c_multiply_result
    integer(c_int64_t) :: products = 0
    real(c_double) :: flop = 0
    integer(c_int64_t) :: filtered_products = 0, filtered_blocks = 0
    integer(c_int) :: plan_reused = 0
    real(c_double) :: seconds = 0
  end type

  type, bind(c) :: c_extremal_result
    real(c_double) :: lowest = 0, lowest_residual = 0, lowest_bound = 0, lowest_safe_bound = 0
    real(c_double) :: highest = 0, highest_residual = 0, highest_bound = 0, highest_safe_bound = 0
    integer(c_int64_t) :: products = 0
  end type

  interface
    function c_block_add(sequence, alpha, a, beta, b) bind(c, name="tessera_block_add") result(code)
      import
      type(c_ptr), value :: sequence, alpha, a, beta, b
      integer(c_int) :: code
    end function
    function c_block_scale(sequence, alpha, a) bind(c, name="tessera_block_scale") result(code)
      import
      type(c_ptr), value :: sequence, alpha, a
      integer(c_int) :: code
    end function
    function c_block_scale_by_vector(sequence, side, v, length, a) bind(c, &
      name="tessera_block_scale_by_vector") result(code)
      import
      type(c_ptr), value :: sequence, v, a
      integer(c_int), value :: side
      integer(c_int64_t), value :: length
      integer(c_int) :: code
    end function
    function c_block_set_all(sequence, value, a) bind(c, name="tessera_block_set_all") result(code)
      import
      type(c_ptr), value :: sequence, value, a
      integer(c_int) :: code
    end function
    function c_block_add_on_diagonal(sequence, alpha, a) bind(c, &
      name="tessera_block_add_on_diagonal") result(code)
      import
      type(c_ptr), value :: sequence, alpha, a
      integer(c_int) :: code
    end function
    function c_block_set_diagonal(sequence, v, length, a) bind(c, &
      name="tessera_block_set_diagonal") result(code)
      import
      type(c_ptr), value :: sequence, v, a
      integer(c_int64_t), value :: length
      integer(c_int) :: code
    end function
    function c_block_get_diagonal(a, v, length) bind(c, name="tessera_block_get_diagonal") result(code)
      import
      type(c_ptr), value :: a, v
      integer(c_int64_t), value :: length
      integer(c_int) :: code
    end function
    function c_block_function_of_elements(sequence, function, first, second, a) bind(c, &
      name="tessera_block_function_of_elements") result(code)
      import
      type(c_ptr), value :: sequence, first, second, a
      integer(c_int), value :: function
      integer(c_int) :: code
    end function
    function c_block_copy(sequence, a, result) bind(c, name="tessera_block_copy") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_convert(sequence, a, result) bind(c, name="tessera_block_convert") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_transpose(sequence, op, a, result) bind(c, name="tessera_block_transpose") result(code)
      import
      type(c_ptr), value :: sequence, a
      integer(c_int), value :: op
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_desymmetrize(sequence, a, result) bind(c, name="tessera_block_desymmetrize") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_redistribute(sequence, a, layout, result) bind(c, &
      name="tessera_block_redistribute") result(code)
      import
      type(c_ptr), value :: sequence, a, layout
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_upper_triangle(sequence, a, cut_diagonal, result) bind(c, &
      name="tessera_block_upper_triangle") result(code)
      import
      type(c_ptr), value :: sequence, a
      integer(c_int), value :: cut_diagonal
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_diagonal(sequence, a, result) bind(c, name="tessera_block_diagonal") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_diagonal_inverse(sequence, a, result) bind(c, &
      name="tessera_block_diagonal_inverse") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_diagonal_cholesky(sequence, a, result) bind(c, &
      name="tessera_block_diagonal_cholesky") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_diagonal_inverse_cholesky(sequence, a, result) bind(c, &
      name="tessera_block_diagonal_inverse_cholesky") result(code)
      import
      type(c_ptr), value :: sequence, a
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_hadamard(sequence, a, b, result) bind(c, name="tessera_block_hadamard") result(code)
      import
      type(c_ptr), value :: sequence, a, b
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_permute(sequence, a, rows, cols, result) bind(c, name="tessera_block_permute") result(code)
      import
      type(c_ptr), value :: sequence, a, rows, cols
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_block_filter(a, eps, dropped) bind(c, name="tessera_block_filter") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), value :: eps
      integer(c_int64_t), intent(inout) :: dropped
      integer(c_int) :: code
    end function
    function c_block_clear(a) bind(c, name="tessera_block_clear") result(code)
      import
      type(c_ptr), value :: a
      integer(c_int) :: code
    end function
    function c_block_reserve(a, count, block_rows, block_cols) bind(c, &
      name="tessera_block_reserve") result(code)
      import
      type(c_ptr), value :: a, block_rows, block_cols
      integer(c_int64_t), value :: count
      integer(c_int) :: code
    end function
    function c_block_trace(a, value) bind(c, name="tessera_block_trace") result(code)
      import
      type(c_ptr), value :: a, value
      integer(c_int) :: code
    end function
    function c_block_dot(a, b, value) bind(c, name="tessera_block_dot") result(code)
      import
      type(c_ptr), value :: a, b, value
      integer(c_int) :: code
    end function
    function c_block_frobenius_norm(a, value) bind(c, name="tessera_block_frobenius_norm") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_block_max_abs_norm(a, value) bind(c, name="tessera_block_max_abs_norm") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_block_gershgorin_norm(a, value) bind(c, name="tessera_block_gershgorin_norm") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_block_column_norms(a, values, length) bind(c, name="tessera_block_column_norms") result(code)
      import
      type(c_ptr), value :: a, values
      integer(c_int64_t), value :: length
      integer(c_int) :: code
    end function
    function c_block_checksum(a, by_position, value) bind(c, name="tessera_block_checksum") result(code)
      import
      type(c_ptr), value :: a
      integer(c_int), value :: by_position
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    subroutine c_multiply_options_init(options) bind(c, name="tessera_multiply_options_init")
      import
      type(c_multiply_options), intent(inout) :: options
    end subroutine
    function c_multiply(alpha, op_a, a, op_b, b, beta, c, options, result) bind(c, &
      name="tessera_multiply") result(code)
      import
      type(c_ptr), value :: alpha, a, b, beta, c
      integer(c_int), value :: op_a, op_b
      type(c_multiply_options), intent(in) :: options
      type(c_multiply_result), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_submit_multiply(alpha, op_a, a, op_b, b, beta, c, options, result, completion) bind(c, &
      name="tessera_submit_multiply") result(code)
      import
      type(c_ptr), value :: alpha, a, b, beta, c, result
      integer(c_int), value :: op_a, op_b
      type(c_multiply_options), intent(in) :: options
      type(c_ptr), intent(out) :: completion
      integer(c_int) :: code
    end function
    function c_block_multiply_vectors(alpha, op, a, width, x, ldx, beta, y, ldy) bind(c, &
      name="tessera_block_multiply_vectors") result(code)
      import
      type(c_ptr), value :: alpha, a, x, beta, y
      integer(c_int), value :: op
      integer(c_int64_t), value :: width, ldx, ldy
      integer(c_int) :: code
    end function
    function c_gershgorin_bounds(a, lower, upper) bind(c, name="tessera_gershgorin_bounds") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), intent(inout) :: lower, upper
      integer(c_int) :: code
    end function
    function c_extremal_eigenvalues(a, tolerance, max_products, seed, result) bind(c, &
      name="tessera_extremal_eigenvalues") result(code)
      import
      type(c_ptr), value :: a
      real(c_double), value :: tolerance
      integer(c_int64_t), value :: max_products, seed
      type(c_extremal_result), intent(inout) :: result
      integer(c_int) :: code
    end function
  end interface
end module
