! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> A solve by the module, for a caller in another language.
function fortran_eigensolve(n, a, w, z) bind(c) result(status)
  use, intrinsic :: iso_c_binding, only: c_int, c_double
  use tessera, only: eigensolve
  implicit none
  integer(c_int), value :: n
  real(c_double), intent(in) :: a(n, n)
  real(c_double), intent(inout) :: w(n), z(n, n)
  integer(c_int) :: status
  integer :: failure

  call eigensolve(a, w, z, status=failure)
  status = int(failure, c_int)
end function
