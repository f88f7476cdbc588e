! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Products of block-sparse matrices, bounds of spectra, and which blocks are stored.
module tessera_products
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_loc, c_null_ptr, c_funloc, c_f_pointer
  use tessera_base
  use tessera_numbers
  use tessera_runtimes
  use tessera_block_matrices
  use tessera_block_bindings
  use tessera_block_operation_bindings
  implicit none
  private
  public :: multiply, submit_multiply, multiply_options, multiply_result, gershgorin_bounds, extremal_eigenvalues
  public :: extremal_result, block_matrix_stored

  !> What is not set is the library's choice.
  type :: multiply_options
    real(dp), allocatable :: filter_eps       !< 0: none
    logical, allocatable :: at_least          !< the filter may skip less than it says
    logical, allocatable :: retain_sparsity   !< only the blocks that C has already
    logical, allocatable :: reuse_plan        !< what is found of the patterns is kept
    logical, allocatable :: result_on_host    !< C's values are in host memory at the end
    !> the first and the last row and column of C's elements that take part, and of the inner dimension, from 1
    integer, allocatable :: rows(:), cols(:), inner(:)
    integer, allocatable :: steps             !< of the inner dimension, over ranks
  end type

  type :: multiply_result
    integer(tessera_index) :: products = 0            !< of blocks
    real(dp) :: flop = 0                              !< 2 m n k each, complex: 8 m n k
    integer(tessera_index) :: filtered_products = 0   !< skipped by their norms
    integer(tessera_index) :: filtered_blocks = 0     !< dropped after the product
    logical :: plan_reused = .false.
    real(dp) :: seconds = 0
  end type

  type :: extremal_result
    real(dp) :: lowest = 0, lowest_residual = 0, lowest_bound = 0, lowest_safe_bound = 0
    real(dp) :: highest = 0, highest_residual = 0, highest_bound = 0, highest_safe_bound = 0
    integer(tessera_index) :: products = 0
  end type

  !> The blocks that a visit finds.
  type :: list_of_blocks
    integer :: found = 0
    integer, allocatable :: rows(:), cols(:)
  end type

contains

  !> C := alpha op(A) op(B) + beta C; waits. Collective.
  !> @param c exists already, also for beta 0, which is the default; alpha is 1
  !> @param op_a 'N', the default, 'T' or 'C'; likewise op_b
  subroutine multiply(a, b, c, op_a, op_b, alpha, beta, options, result, status)
    type(block_matrix), intent(in) :: a, b
    type(block_matrix), intent(inout) :: c
    character, optional, intent(in) :: op_a, op_b
    class(*), optional, intent(in) :: alpha, beta
    type(multiply_options), optional, intent(in) :: options
    type(multiply_result), optional, intent(out) :: result
    integer, optional, intent(out) :: status
    type(number), target :: of_product, of_c
    type(c_ptr) :: factor, before
    type(c_multiply_options) :: chosen
    type(c_multiply_result) :: did
    integer(c_int) :: code
    if (.not. take_number(alpha, "alpha", c%scalar_type, of_product, factor, status)) return
    if (.not. take_number(beta, "beta", c%scalar_type, of_c, before, status)) return
    if (.not. in_c(options, chosen, status)) return
    code = c_multiply(factor, form_of(op_a), a%handle, form_of(op_b), b%handle, before, c%handle, chosen, did)
    if (present(result)) result = multiply_result(did%products, did%flop, did%filtered_products, did%filtered_blocks, &
      did%plan_reused /= 0, did%seconds)
    call finish(code, status)
  end subroutine

  !> The same, but returns at once. With a filter that drops blocks C becomes the product in done%wait(). A, B and C
  !> must stay until then.
  subroutine submit_multiply(done, a, b, c, op_a, op_b, alpha, beta, options, status)
    type(completion), intent(inout) :: done
    type(block_matrix), intent(in) :: a, b
    type(block_matrix), intent(inout) :: c
    character, optional, intent(in) :: op_a, op_b
    class(*), optional, intent(in) :: alpha, beta
    type(multiply_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(number), target :: of_product, of_c
    type(c_ptr) :: factor, before
    type(c_multiply_options) :: chosen
    call done%free()
    if (.not. take_number(alpha, "alpha", c%scalar_type, of_product, factor, status)) return
    if (.not. take_number(beta, "beta", c%scalar_type, of_c, before, status)) return
    if (.not. in_c(options, chosen, status)) return
    call finish(c_submit_multiply(factor, form_of(op_a), a%handle, form_of(op_b), b%handle, before, c%handle, chosen, &
      c_null_ptr, done%handle), status)
  end subroutine

  integer(c_int) function form_of(op)
    character, optional, intent(in) :: op
    form_of = iachar("N")
    if (present(op)) form_of = iachar(op)
  end function

  function in_c(options, chosen, status) result(good)
    type(multiply_options), optional, intent(in) :: options
    type(c_multiply_options), intent(out) :: chosen
    integer, optional, intent(out) :: status
    logical :: good
    good = .true.
    call c_multiply_options_init(chosen)
    if (.not. present(options)) return
    if (allocated(options%filter_eps)) chosen%filter_eps = options%filter_eps
    call set_flag(options%at_least, chosen%at_least)
    call set_flag(options%retain_sparsity, chosen%retain_sparsity)
    call set_flag(options%reuse_plan, chosen%reuse_plan)
    call set_flag(options%result_on_host, chosen%result_on_host)
    call set_range(options%rows, "rows", chosen%first_row, chosen%end_row, good, status)
    if (good) call set_range(options%cols, "cols", chosen%first_col, chosen%end_col, good, status)
    if (good) call set_range(options%inner, "inner", chosen%first_inner, chosen%end_inner, good, status)
    if (allocated(options%steps)) chosen%steps = options%steps
  end function

  subroutine set_range(range, name, first, end, good, status)
    integer, allocatable, intent(in) :: range(:)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(inout) :: first, end
    logical, intent(inout) :: good
    integer, optional, intent(out) :: status
    if (.not. allocated(range)) return
    good = size(range) == 2
    if (.not. good) then
      call refuse(name // ": expected the first and the last of the elements", status)
      return
    end if
    first = int(range(1), c_int64_t) - 1
    end = range(2)
  end subroutine

  !> Between which all eigenvalues of a Hermitian matrix lie (Gershgorin). Collective.
  subroutine gershgorin_bounds(a, lower, upper, status)
    type(block_matrix), intent(in) :: a
    real(dp), intent(out) :: lower, upper
    integer, optional, intent(out) :: status
    lower = 0
    upper = 0
    call finish(c_gershgorin_bounds(a%handle, lower, upper), status)
  end subroutine

  !> The extremal eigenvalues of a Hermitian matrix by Lanczos. Collective.
  !> @param tolerance absent: 1e-3 of the spectrum's width
  !> @param max_products absent: 100
  subroutine extremal_eigenvalues(a, result, tolerance, max_products, seed, status)
    type(block_matrix), intent(in) :: a
    type(extremal_result), intent(out) :: result
    real(dp), optional, intent(in) :: tolerance
    integer, optional, intent(in) :: max_products
    integer(tessera_index), optional, intent(in) :: seed
    integer, optional, intent(out) :: status
    type(c_extremal_result) :: found
    real(dp) :: accuracy
    integer(c_int64_t) :: at_most, from
    integer(c_int) :: code
    accuracy = 0
    if (present(tolerance)) accuracy = tolerance
    at_most = 0
    if (present(max_products)) at_most = max_products
    from = 1
    if (present(seed)) from = seed
    code = c_extremal_eigenvalues(a%handle, accuracy, at_most, from, found)
    if (code == 0) result = extremal_result(found%lowest, found%lowest_residual, found%lowest_bound, &
      found%lowest_safe_bound, found%highest, found%highest_residual, found%highest_bound, found%highest_safe_bound, &
      found%products)
    call finish(code, status)
  end subroutine

  !> The numbers of the blocks that are stored on this rank.
  subroutine block_matrix_stored(matrix, block_rows, block_cols, status)
    type(block_matrix), intent(in) :: matrix
    integer, allocatable, intent(out) :: block_rows(:), block_cols(:)
    integer, optional, intent(out) :: status
    type(list_of_blocks), target :: list
    integer(c_int) :: code
    code = c_block_matrix_for_each(matrix%handle, c_funloc(note_block), c_loc(list))      ! counts
    allocate (list%rows(list%found), list%cols(list%found))
    list%found = 0
    if (code == 0) code = c_block_matrix_for_each(matrix%handle, c_funloc(note_block), c_loc(list))
    call move_alloc(list%rows, block_rows)
    call move_alloc(list%cols, block_cols)
    call finish(code, status)
  end subroutine

  recursive function note_block(block_row, block_col, rows, cols, values, ld, user) result(code) bind(c, name="")
    integer(c_int64_t), value :: block_row, block_col, rows, cols, ld
    type(c_ptr), value :: values, user
    integer(c_int) :: code
    type(list_of_blocks), pointer :: list
    call c_f_pointer(user, list)
    list%found = list%found + 1
    if (allocated(list%rows)) then
      list%rows(list%found) = int(block_row) + 1
      list%cols(list%found) = int(block_col) + 1
    end if
    code = 0
    associate (not_wanted => [rows, cols, ld], neither => values)     ! a visitor in C has more arguments
    end associate
  end function
end module
