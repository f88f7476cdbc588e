! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Counts failed checks, and writes what they were.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, save :: failures = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failures = failures + 1
    write (error_unit, '(2a)') "failed: ", what
  end subroutine
  !> The same random numbers in every run.
  subroutine repeat_random_numbers()
    integer :: i, length
    call random_seed(size=length)
    call random_seed(put=[(104729 * i, i=1, length)])
  end subroutine
  subroutine end_checks()
    if (failures > 0) error stop 1
  end subroutine
end module
