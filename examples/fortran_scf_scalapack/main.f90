! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> A self-consistent field as codes of electronic structure have it: H(P) = H0 + U diag(P), the occupied eigenvectors of
!> H from the eigensolver, P from these, damped. All matrices are block-cyclic. Once with pdsyevd, once with
!> tessera_pdsyevd.
program fortran_scf_scalapack
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use mpi
  use solvers
  use tessera, only: tessera_end_default_runtime, tessera_message
  implicit none
  integer, parameter :: n = 48, occupied = 12, block = 16
  real(dp), parameter :: repulsion = 0.5_dp
  integer :: provided, ierr, rank, ranks, context, grid_rows, grid_cols, my_row, my_col, mine_rows, mine_cols, desc(9)
  real(dp) :: with_scalapack, with_tessera
  integer, external :: numroc
  external :: blacs_get, blacs_gridinit, blacs_gridinfo, blacs_gridexit, descinit, pdgemm

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  grid_rows = merge(2, 1, mod(ranks, 2) == 0)
  grid_cols = ranks / grid_rows
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, "R", grid_rows, grid_cols)
  call blacs_gridinfo(context, grid_rows, grid_cols, my_row, my_col)
  mine_rows = numroc(n, block, my_row, 0, grid_rows)
  mine_cols = numroc(n, block, my_col, 0, grid_cols)
  call descinit(desc, n, n, block, block, 0, 0, context, max(1, mine_rows), ierr)

  with_scalapack = energy_of_the_field(solve_with_scalapack)
  with_tessera = energy_of_the_field(solve_with_tessera)
  if (rank == 0) print '(a, f18.12, a, f18.12)', "energy: ScaLAPACK ", with_scalapack, ", Tessera ", with_tessera
  call tessera_end_default_runtime()
  call blacs_gridexit(context)
  call MPI_Finalize(ierr)
  if (abs(with_scalapack - with_tessera) > 1e-9_dp) error stop 1

contains

  !> The sum of the occupied eigenvalues of the self-consistent H.
  function energy_of_the_field(solve) result(energy)
    interface
      subroutine solve(n, a, desca, w, z, descz, info)
        import :: dp
        integer, intent(in) :: n, desca(9), descz(9)
        real(dp), intent(in) :: a(:, :)
        real(dp), intent(inout) :: w(:), z(:, :)
        integer, intent(out) :: info
      end subroutine
    end interface
    real(dp) :: energy, before, w(n), density(n), new_density(n)
    real(dp), allocatable :: h(:, :), z(:, :), p(:, :)
    integer :: step, i, j, li, lj, info
    allocate (h(max(1, mine_rows), max(1, mine_cols)))
    allocate (z, p, mold=h)
    h = 0
    z = 0
    p = 0
    density = real(occupied, dp) / n
    energy = huge(1.0_dp)
    do step = 1, 200
      do lj = 1, mine_cols
        j = whole(lj, my_col, grid_cols)
        do li = 1, mine_rows
          i = whole(li, my_row, grid_rows)
          h(li, lj) = merge(-1.0_dp, 0.0_dp, abs(i - j) == 1)
          if (i == j) h(li, lj) = merge(-3.0_dp, 0.1_dp * cos(real(i, dp)), mod(i, 4) == 0) + repulsion * density(i)
        end do
      end do
      call solve(n, h, desc, w, z, desc, info)
      if (info /= 0) then
        print '(a, i0, 2a)', "info ", info, ": ", tessera_message()
        error stop 2
      end if
      call pdgemm("N", "T", n, n, occupied, 1.0_dp, z, 1, 1, desc, z, 1, 1, desc, 0.0_dp, p, 1, 1, desc)
      new_density = 0
      do lj = 1, mine_cols
        j = whole(lj, my_col, grid_cols)
        do li = 1, mine_rows
          if (whole(li, my_row, grid_rows) == j) new_density(j) = p(li, lj)
        end do
      end do
      call MPI_Allreduce(MPI_IN_PLACE, new_density, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
      density = 0.2_dp * density + 0.8_dp * new_density
      before = energy
      energy = sum(w(:occupied))
      if (abs(energy - before) < 1e-7_dp) return
    end do
    error stop 3
  end function

  integer function whole(local, process, processes)
    integer, intent(in) :: local, process, processes
    whole = ((local - 1) / block * processes + process) * block + mod(local - 1, block) + 1
  end function
end program
