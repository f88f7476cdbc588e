! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Arithmetic with block-sparse matrices. Matrices of one call have one scalar type; factors may be numbers of any kind,
!> and are 1 where they are absent. All are collective. With a `sequence` an operation is submitted only.
module tessera_block_operations
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_loc, c_double
  use tessera_base
  use tessera_numbers
  use tessera_block_matrices
  use tessera_block_operation_bindings
  implicit none
  private
  public :: block_add, block_scale, block_set_all, block_add_on_diagonal, block_function_of_elements
  public :: block_copy, block_convert, block_transpose, block_desymmetrize, block_redistribute
  public :: block_upper_triangle, block_diagonal, block_diagonal_inverse, block_diagonal_cholesky
  public :: block_diagonal_inverse_cholesky, block_hadamard, block_permute
  public :: block_filter, block_clear, block_reserve
  public :: block_frobenius_norm, block_max_abs_norm, block_gershgorin_norm, block_column_norms, block_checksum

  !> What block_function_of_elements computes of every stored element.
  integer, parameter, public :: element_inverse = 0, element_tanh = 1, element_tanh_derivative = 2, &
    element_artanh = 3, &
    element_sin = 4, element_cos = 5, element_asin = 6, element_square_root = 7, element_absolute = 8, &
    element_truncate = 9

contains

  !> A := alpha A + beta B
  subroutine block_add(a, b, alpha, beta, sequence, status)
    type(block_matrix), intent(inout) :: a
    type(block_matrix), intent(in) :: b
    class(*), optional, intent(in) :: alpha, beta
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    type(number), target :: of_a, of_b
    type(c_ptr) :: first, second
    if (.not. take_number(alpha, "alpha", a%scalar_type, of_a, first, status)) return
    if (.not. take_number(beta, "beta", a%scalar_type, of_b, second, status)) return
    call finish(c_block_add(sequence_handle(sequence), first, a%handle, second, b%handle), status)
  end subroutine

  !> Every stored element := f(first element + second), f one of the constants element_*; absent: f(element).
  subroutine block_function_of_elements(f, a, first, second, sequence, status)
    integer, intent(in) :: f
    type(block_matrix), intent(inout) :: a
    class(*), optional, intent(in) :: first, second
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    type(number), target :: of_first, of_second
    type(c_ptr) :: factor, shift
    if (.not. take_number(first, "first", a%scalar_type, of_first, factor, status)) return
    if (present(second)) then
      if (.not. take_number(second, "second", a%scalar_type, of_second, shift, status)) return
    else if (.not. take_number(0, "second", a%scalar_type, of_second, shift, status)) then
      return
    end if
    call finish(c_block_function_of_elements(sequence_handle(sequence), int(f, c_int), factor, shift, a%handle), status)
  end subroutine

  !> A := alpha A
  subroutine block_scale(alpha, a, sequence, status)
    class(*), intent(in) :: alpha
    type(block_matrix), intent(inout) :: a
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    type(number), target :: taken
    type(c_ptr) :: address
    if (.not. take_number(alpha, "alpha", a%scalar_type, taken, address, status)) return
    call finish(c_block_scale(sequence_handle(sequence), address, a%handle), status)
  end subroutine

  !> Every element of the stored blocks := value.
  subroutine block_set_all(value, a, sequence, status)
    class(*), intent(in) :: value
    type(block_matrix), intent(inout) :: a
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    type(number), target :: taken
    type(c_ptr) :: address
    if (.not. take_number(value, "value", a%scalar_type, taken, address, status)) return
    call finish(c_block_set_all(sequence_handle(sequence), address, a%handle), status)
  end subroutine

  !> A := A + alpha I
  subroutine block_add_on_diagonal(alpha, a, sequence, status)
    class(*), intent(in) :: alpha
    type(block_matrix), intent(inout) :: a
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    type(number), target :: taken
    type(c_ptr) :: address
    if (.not. take_number(alpha, "alpha", a%scalar_type, taken, address, status)) return
    call finish(c_block_add_on_diagonal(sequence_handle(sequence), address, a%handle), status)
  end subroutine

  !> A new matrix: A.
  subroutine block_copy(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_copy(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> A in the other precision of the same kind of numbers.
  subroutine block_convert(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, other_precision(a%scalar_type))
    call finish(c_block_convert(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> A^T, or A^H with op 'C'.
  subroutine block_transpose(a, result, op, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    character, optional, intent(in) :: op
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    integer(c_int) :: form
    form = iachar("T")
    if (present(op)) form = iachar(op)
    call new_matrix(result, a%scalar_type)
    call finish(c_block_transpose(sequence_handle(sequence), form, a%handle, result%handle), status)
  end subroutine

  !> A with both halves stored.
  subroutine block_desymmetrize(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_desymmetrize(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> A in another layout of the same block sizes.
  subroutine block_redistribute(a, layout, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_layout), intent(in) :: layout
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_redistribute(sequence_handle(sequence), a%handle, layout%handle, result%handle), status)
  end subroutine

  !> The blocks on and above the diagonal; with cut_diagonal zeros below the diagonal within them.
  subroutine block_upper_triangle(a, result, cut_diagonal, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    logical, optional, intent(in) :: cut_diagonal
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    integer(c_int) :: cut
    cut = 0
    if (present(cut_diagonal)) cut = merge(1_c_int, 0_c_int, cut_diagonal)
    call new_matrix(result, a%scalar_type)
    call finish(c_block_upper_triangle(sequence_handle(sequence), a%handle, cut, result%handle), status)
  end subroutine

  !> The diagonal blocks.
  subroutine block_diagonal(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_diagonal(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> The inverses of the diagonal blocks.
  subroutine block_diagonal_inverse(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_diagonal_inverse(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> The Cholesky factors of the diagonal blocks.
  subroutine block_diagonal_cholesky(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_diagonal_cholesky(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> The inverses of the Cholesky factors of the diagonal blocks.
  subroutine block_diagonal_inverse_cholesky(a, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_diagonal_inverse_cholesky(sequence_handle(sequence), a%handle, result%handle), status)
  end subroutine

  !> The elementwise product.
  subroutine block_hadamard(a, b, result, sequence, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(in) :: b
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    call new_matrix(result, a%scalar_type)
    call finish(c_block_hadamard(sequence_handle(sequence), a%handle, b%handle, result%handle), status)
  end subroutine

  !> P A Q^T: block (i, j) becomes block (rows(i), cols(j)).
  subroutine block_permute(a, rows, cols, result, sequence, status)
    type(block_matrix), intent(in) :: a
    integer, intent(in) :: rows(:), cols(:)
    type(block_matrix), intent(inout) :: result
    type(task_sequence), optional, intent(in) :: sequence
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: to_rows(:), to_cols(:)
    type(block_matrix_info) :: info
    info = a%info(status)
    if (.not. a%exists()) return
    if (size(rows) /= info%block_rows .or. size(cols) /= info%block_cols) then
      call refuse("rows, cols: expected a number for each block row and block column", status)
      return
    end if
    allocate (to_rows, source=sizes_in_c(rows - 1))
    allocate (to_cols, source=sizes_in_c(cols - 1))
    call new_matrix(result, a%scalar_type)
    call finish(c_block_permute(sequence_handle(sequence), a%handle, c_loc(to_rows), c_loc(to_cols), &
      result%handle), status)
  end subroutine

  !> Drops blocks with a Frobenius norm below eps; dropped: their number on all ranks.
  subroutine block_filter(a, eps, dropped, status)
    type(block_matrix), intent(inout) :: a
    real(dp), intent(in) :: eps
    integer(tessera_index), optional, intent(out) :: dropped
    integer, optional, intent(out) :: status
    integer(c_int64_t) :: number_of_blocks
    number_of_blocks = 0
    call finish(c_block_filter(a%handle, eps, number_of_blocks), status)
    if (present(dropped)) dropped = number_of_blocks
  end subroutine

  !> Drops all blocks.
  subroutine block_clear(a, status)
    type(block_matrix), intent(inout) :: a
    integer, optional, intent(out) :: status
    call finish(c_block_clear(a%handle), status)
  end subroutine

  !> Adds blocks (block_rows(k), block_cols(k)), zero where new; each rank names any.
  subroutine block_reserve(a, block_rows, block_cols, status)
    type(block_matrix), intent(inout) :: a
    integer, intent(in) :: block_rows(:), block_cols(:)
    integer, optional, intent(out) :: status
    integer(c_int64_t), allocatable, target :: rows(:), cols(:)
    if (size(block_rows) /= size(block_cols)) then
      call refuse("block_rows, block_cols: expected as many of the one as of the other", status)
      return
    end if
    allocate (rows, source=sizes_in_c(block_rows - 1))
    allocate (cols, source=sizes_in_c(block_cols - 1))
    call finish(c_block_reserve(a%handle, size(block_rows, kind=c_int64_t), c_loc(rows), c_loc(cols)), status)
  end subroutine

  function block_frobenius_norm(a, status) result(value)
    type(block_matrix), intent(in) :: a
    integer, optional, intent(out) :: status
    real(dp) :: value
    integer(c_int) :: code
    value = 0
    code = c_block_frobenius_norm(a%handle, value)
    call finish(code, status)
  end function

  function block_max_abs_norm(a, status) result(value)
    type(block_matrix), intent(in) :: a
    integer, optional, intent(out) :: status
    real(dp) :: value
    integer(c_int) :: code
    value = 0
    code = c_block_max_abs_norm(a%handle, value)
    call finish(code, status)
  end function

  function block_gershgorin_norm(a, status) result(value)
    type(block_matrix), intent(in) :: a
    integer, optional, intent(out) :: status
    real(dp) :: value
    integer(c_int) :: code
    value = 0
    code = c_block_gershgorin_norm(a%handle, value)
    call finish(code, status)
  end function

  !> The Euclidean norm of each column, on every rank.
  subroutine block_column_norms(a, values, status)
    type(block_matrix), intent(in) :: a
    real(dp), contiguous, target, intent(inout) :: values(:)
    integer, optional, intent(out) :: status
    call finish(c_block_column_norms(a%handle, c_loc(values), size(values, kind=c_int64_t)), status)
  end subroutine

  !> A sum of the squares of all elements; with by_position weighted by where they are.
  function block_checksum(a, by_position, status) result(value)
    type(block_matrix), intent(in) :: a
    logical, optional, intent(in) :: by_position
    integer, optional, intent(out) :: status
    real(dp) :: value
    integer(c_int) :: code, weighted
    weighted = 0
    if (present(by_position)) weighted = merge(1_c_int, 0_c_int, by_position)
    value = 0
    code = c_block_checksum(a%handle, weighted, value)
    call finish(code, status)
  end function

  character function other_precision(scalar_type)
    character, intent(in) :: scalar_type
    character(4), parameter :: here = "sdcz", there = "dszc"
    other_precision = " "
    if (index(here, scalar_type) > 0) other_precision = there(index(here, scalar_type):index(here, scalar_type))
  end function
end module
