! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> A CUDA stream and events of the caller's, by which a solve of arrays in a GPU's memory begins and ends.
module tessera_streams
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_null_ptr
  implicit none
  private
  public :: caller_streams, streams_of

  type :: caller_streams
    type(c_ptr) :: stream = c_null_ptr, wait_event = c_null_ptr, done_event = c_null_ptr
    integer(c_int) :: use_stream = 0     !< `stream` counts: a null pointer is a stream, too
  end type

contains

  !> Of arguments that may be absent.
  function streams_of(stream, wait_event, done_event) result(given)
    type(c_ptr), optional, intent(in) :: stream, wait_event, done_event
    type(caller_streams) :: given
    if (present(stream)) then
      given%stream = stream
      given%use_stream = 1
    end if
    if (present(wait_event)) given%wait_event = wait_event
    if (present(done_event)) given%done_event = done_event
  end function
end module
