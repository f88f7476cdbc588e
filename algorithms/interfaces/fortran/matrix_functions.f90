! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Functions of block-sparse matrices by iterations of filtered products. All are collective, and wait. A result is made
!> with success alone.
module tessera_matrix_functions
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_null_ptr
  use tessera_base
  use tessera_block_matrices
  use tessera_iterations
  use tessera_iteration_bindings
  implicit none
  private
  public :: function_options, matrix_sign, inverse_factor, matrix_inverse, matrix_square_roots, matrix_inverse_root
  public :: matrix_exponential, log_determinant, purify

  !> What is not set is the library's choice.
  type :: function_options
    real(dp), allocatable :: filter_eps       !< of all products; 0: none
    integer, allocatable :: order             !< of the polynomial of a step
    real(dp), allocatable :: tolerance
    integer, allocatable :: iterations        !< at most
    logical, allocatable :: scaled            !< each step scales the iterate
    logical, allocatable :: check             !< the reached error is measured at the end
    integer, allocatable :: root              !< p of the inverse p-th root
    procedure(iteration_monitor), pointer, nopass :: monitor => null()
  end type

contains

  subroutine in_c(options, holder, chosen)
    type(function_options), optional, intent(in) :: options
    type(monitor_holder), target, intent(inout) :: holder
    type(c_function_options), intent(out) :: chosen
    call c_function_options_init(chosen)
    if (.not. present(options)) return
    if (allocated(options%filter_eps)) chosen%filter_eps = options%filter_eps
    if (allocated(options%order)) chosen%order = int(options%order, c_int)
    if (allocated(options%tolerance)) chosen%tolerance = options%tolerance
    if (allocated(options%iterations)) chosen%iterations = options%iterations
    call set_flag(options%scaled, chosen%scaled)
    call set_flag(options%check, chosen%check)
    if (allocated(options%root)) chosen%root = int(options%root, c_int)
    call set_monitor(options%monitor, holder, chosen%monitor, chosen%monitor_user)
  end subroutine

  !> What the C interface takes: a null pointer for an absent matrix.
  function handle_of(matrix) result(handle)
    type(block_matrix), optional, intent(in) :: matrix
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(matrix)) handle = matrix%handle
  end function

  !> The sign of a Hermitian matrix.
  subroutine matrix_sign(a, result, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, a%scalar_type)
    code = c_matrix_sign(a%handle, chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> Z with Z^H A Z = I.
  !> @param start a former Z of a matrix nearby
  subroutine inverse_factor(a, result, start, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(block_matrix), optional, intent(in) :: start
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, a%scalar_type)
    code = c_inverse_factor(a%handle, handle_of(start), chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> A^{-1}
  !> @param start an approximation
  subroutine matrix_inverse(a, result, start, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(block_matrix), optional, intent(in) :: start
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, a%scalar_type)
    code = c_matrix_inverse(a%handle, handle_of(start), chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> A^{-1/p}, p = options%root
  subroutine matrix_inverse_root(a, result, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, a%scalar_type)
    code = c_matrix_inverse_root(a%handle, chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> exp(A)
  subroutine matrix_exponential(a, result, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: result
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, a%scalar_type)
    code = c_matrix_exponential(a%handle, chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> McWeeny's purification of a density matrix in the metric of S; absent: the identity.
  subroutine purify(density, result, overlap, options, report, status)
    type(block_matrix), intent(in) :: density
    type(block_matrix), intent(inout) :: result
    type(block_matrix), optional, intent(in) :: overlap
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(result, density%scalar_type)
    code = c_purify(density%handle, handle_of(overlap), chosen, found, result%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> A^{1/2} and A^{-1/2}
  subroutine matrix_square_roots(a, root, inverse_root, options, report, status)
    type(block_matrix), intent(in) :: a
    type(block_matrix), intent(inout) :: root, inverse_root
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    call new_matrix(root, a%scalar_type)
    call new_matrix(inverse_root, a%scalar_type)
    code = c_matrix_square_roots(a%handle, chosen, found, root%handle, inverse_root%handle)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine

  !> log det A
  subroutine log_determinant(a, value, options, report, status)
    type(block_matrix), intent(in) :: a
    real(dp), intent(out) :: value
    type(function_options), optional, intent(in) :: options
    type(iteration_report), optional, intent(out) :: report
    integer, optional, intent(out) :: status
    type(monitor_holder), target :: holder
    type(c_function_options) :: chosen
    type(c_iteration_report) :: found
    integer(c_int) :: code
    call in_c(options, holder, chosen)
    value = 0
    code = c_log_determinant(a%handle, chosen, found, value)
    if (present(report)) report = report_of(found)
    call finish(code, status)
  end subroutine
end module
