! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The same call of ScaLAPACK's and Tessera's eigensolver.
module solvers
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use tessera, only: tessera_pdsyevd
  implicit none
  private
  public :: solve_with_scalapack, solve_with_tessera
contains
  subroutine solve_with_scalapack(n, a, desca, w, z, descz, info)
    integer, intent(in) :: n, desca(9), descz(9)
    real(dp), intent(in) :: a(:, :)
    real(dp), intent(inout) :: w(:), z(:, :)
    integer, intent(out) :: info
    real(dp), allocatable :: work(:), copy(:, :)
    integer, allocatable :: iwork(:)
    external :: pdsyevd
    copy = a
    allocate (work(1), iwork(1))
    call pdsyevd("V", "L", n, copy, 1, 1, desca, w, z, 1, 1, descz, work, -1, iwork, -1, info)
    work = [work(1), spread(0.0_dp, 1, 4 * n + int(work(1)))]
    iwork = spread(0, 1, iwork(1))
    call pdsyevd("V", "L", n, copy, 1, 1, desca, w, z, 1, 1, descz, work, size(work), iwork, size(iwork), info)
  end subroutine

  subroutine solve_with_tessera(n, a, desca, w, z, descz, info)
    integer, intent(in) :: n, desca(9), descz(9)
    real(dp), intent(in) :: a(:, :)
    real(dp), intent(inout) :: w(:), z(:, :)
    integer, intent(out) :: info
    call tessera_pdsyevd("L", n, a, 1, 1, desca, w, z, 1, 1, descz, info)   ! A stays; no work arrays
  end subroutine
end module
