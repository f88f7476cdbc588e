! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Codes, kinds and messages of the Fortran interface.
!>
!> Every procedure that can fail has the argument `status` (integer, optional, intent(out)): 0, or a code of this
!> module. Without
!> it a failure ends the program, with the message on the error unit.
module tessera_base
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_ptr, c_size_t, c_int64_t, c_f_pointer, c_associated, &
    c_null_char, &
    c_float, c_double
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  private
  public :: set_flag, finish, refuse, text_of, c_text, tessera_message, tessera_stage, tessera_index_of_failure
  public :: tessera_callback_code

  integer, parameter, public :: sp = c_float          !< real(4), complex(4)
  integer, parameter, public :: dp = c_double         !< real(8), complex(8)
  integer, parameter, public :: tessera_index = c_int64_t

  ! Above 0: numerical failures; below 0: errors.
  integer, parameter, public :: tessera_success = 0
  integer, parameter, public :: tessera_not_positive_definite = 1
  integer, parameter, public :: tessera_not_finite = 2
  integer, parameter, public :: tessera_no_convergence = 3
  integer, parameter, public :: tessera_task_failed = 4
  integer, parameter, public :: tessera_iterations_exhausted = 5
  integer, parameter, public :: tessera_stagnated = 6
  integer, parameter, public :: tessera_breakdown = 7
  integer, parameter, public :: tessera_stopped = 8
  integer, parameter, public :: tessera_block_not_positive_definite = 9
  integer, parameter, public :: tessera_block_singular = 10
  integer, parameter, public :: tessera_no_gap = 11
  integer, parameter, public :: tessera_invalid_argument = -1
  integer, parameter, public :: tessera_input_error = -2
  integer, parameter, public :: tessera_runtime_error = -3
  integer, parameter, public :: tessera_out_of_memory = -4
  integer, parameter, public :: tessera_remote_error = -5
  integer, parameter, public :: tessera_callback_failed = -6
  integer, parameter, public :: tessera_other_error = -7

  character(:), allocatable, save :: own_message  ! of the last failure, if this interface has found it

  interface
    function c_last_message() bind(c, name="tessera_last_message") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_last_stage() bind(c, name="tessera_last_stage") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_last_index() bind(c, name="tessera_last_index") result(number)
      import :: c_int64_t
      integer(c_int64_t) :: number
    end function
    function c_last_callback_code() bind(c, name="tessera_last_callback_code") result(code)
      import :: c_int
      integer(c_int) :: code
    end function
    function c_strlen(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  !> The last failure as one line for a person; empty if there was none.
  function tessera_message() result(message)
    character(:), allocatable :: message
    if (allocated(own_message)) then
      message = own_message
    else
      message = text_of(c_last_message())
    end if
  end function

  !> After a numerical failure the stage ("cholesky"); empty else.
  function tessera_stage() result(stage)
    character(:), allocatable :: stage
    stage = text_of(c_last_stage())
  end function

  !> After a numerical failure the index that belongs to the code (the order of a leading minor, ...); 0 else.
  function tessera_index_of_failure() result(number)
    integer(tessera_index) :: number
    number = c_last_index()
  end function

  !> After tessera_callback_failed: the status that the caller's procedure has given; else 0.
  function tessera_callback_code() result(code)
    integer :: code
    code = int(c_last_callback_code())
  end function

  !> How a procedure of this interface ends: `code` goes to `status`; without it other than 0 ends the program.
  subroutine finish(code, status)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: status
    if (code /= 0 .and. allocated(own_message)) deallocate (own_message)
    call give(code, status)
  end subroutine

  !> Ends a procedure that has found a bad argument itself.
  subroutine refuse(message, status)
    character(*), intent(in) :: message
    integer, optional, intent(out) :: status
    own_message = message
    call give(int(tessera_invalid_argument, c_int), status)
  end subroutine

  subroutine give(code, status)
    integer(c_int), intent(in) :: code
    integer, optional, intent(out) :: status
    if (present(status)) then
      status = int(code)
    else if (code /= 0) then
      write (error_unit, '(2a)') "tessera: ", tessera_message()
      error stop 1
    end if
  end subroutine

  !> Takes an option over if it is set.
  subroutine set_flag(given, flag)
    logical, allocatable, intent(in) :: given
    integer(c_int), intent(inout) :: flag
    if (allocated(given)) flag = merge(1_c_int, 0_c_int, given)
  end subroutine

  !> A string of C's; empty for a null pointer.
  recursive function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    integer :: i
    if (.not. c_associated(pointer)) then
      text = ""
      return
    end if
    call c_f_pointer(pointer, characters, [c_strlen(pointer)])
    allocate (character(size(characters)) :: text)
    do i = 1, size(characters)
      text(i:i) = characters(i)
    end do
  end function

  !> The characters of `text`, without blanks at the end, as C has them.
  function c_text(text) result(characters)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable :: characters(:)
    integer :: i
    allocate (characters(len_trim(text) + 1))
    do i = 1, len_trim(text)
      characters(i) = text(i:i)
    end do
    characters(size(characters)) = c_null_char
  end function
end module
