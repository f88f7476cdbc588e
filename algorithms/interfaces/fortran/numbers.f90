! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Factors of any kind of number as the scalar type of a matrix.
module tessera_numbers
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_loc
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use tessera_base
  implicit none
  private
  public :: number, take_number

  !> A number of the scalar type of a matrix: what the C interface gets the address of.
  type :: number
    complex(sp) :: single = 0
    complex(dp) :: double = 0
  end type

contains

  !> Takes `value` for a matrix of `scalar_type`. `address`: of the number, a null pointer if `value` is absent.
  !> False, with `status`, for what is no number, and for an imaginary part where the matrix is real.
  function take_number(value, name, scalar_type, taken, address, status) result(good)
    class(*), optional, intent(in) :: value
    character(*), intent(in) :: name
    character, intent(in) :: scalar_type
    type(number), target, intent(inout) :: taken
    type(c_ptr), intent(out) :: address
    integer, optional, intent(out) :: status
    logical :: good
    address = c_null_ptr
    good = .true.
    if (.not. present(value)) return
    select type (value)
    type is (real(sp))
      taken%double = value
    type is (real(dp))
      taken%double = value
    type is (complex(sp))
      taken%double = value
    type is (complex(dp))
      taken%double = value
    type is (integer(int32))
      taken%double = value
    type is (integer(int64))
      taken%double = real(value, dp)
    class default
      good = .false.
      call refuse(name // ": expected a number", status)
      return
    end select
    if (index("sd", scalar_type) > 0 .and. abs(aimag(taken%double)) > 0) then
      good = .false.
      call refuse(name // ": has an imaginary part, but the matrix is real", status)
      return
    end if
    taken%single = cmplx(taken%double, kind=sp)
    if (index("sc", scalar_type) > 0) then   ! the real part is first
      address = c_loc(taken%single)
    else
      address = c_loc(taken%double)
    end if
  end function
end module
