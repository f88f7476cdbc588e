! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The calls of a code that has ELSI: density matrix, energy-weighted density matrix, chemical potential and entropy of
!> block-cyclic matrices. It said "use elsi". The bands of a ring of n atoms with overlapping neighbours are known:
!> (e + 2 t cos k) / (1 + 2 s cos k), k = 2 pi j / n.
program fortran_elsi
  use, intrinsic :: iso_fortran_env, only: dp => real64
  use mpi
  use tessera_elsi
  implicit none
  integer, parameter :: n = 60, block = 8
  real(dp), parameter :: t = -0.5_dp, s = 0.1_dp, electrons = 50, width = 0.02_dp
  type(elsi_handle) :: handle
  real(dp), allocatable :: ham(:, :), ovlp(:, :), dm(:, :), edm(:, :)
  real(dp) :: energy, mu, entropy, band(n), sums(2), exact
  integer :: provided, ierr, rank, ranks, context, rows, cols, my_row, my_col, mine_rows, mine_cols, i, j
  integer, external :: numroc
  external :: blacs_get, blacs_gridinit, blacs_gridinfo, blacs_gridexit

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  rows = merge(2, 1, mod(ranks, 2) == 0)
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, "R", rows, ranks / rows)
  call blacs_gridinfo(context, rows, cols, my_row, my_col)
  mine_rows = numroc(n, block, my_row, 0, rows)
  mine_cols = numroc(n, block, my_col, 0, cols)
  allocate (ham(mine_rows, mine_cols), ovlp(mine_rows, mine_cols), dm(mine_rows, mine_cols), edm(mine_rows, mine_cols))
  do j = 1, mine_cols
    do i = 1, mine_rows
      ham(i, j) = element(whole(i, my_row, rows), whole(j, my_col, cols), 0.0_dp, t)
      ovlp(i, j) = element(whole(i, my_row, rows), whole(j, my_col, cols), 1.0_dp, s)
    end do
  end do

  call elsi_init(handle, 1, 1, 0, n, electrons, n)        ! the solver is Tessera's; several processes; dense
  call elsi_set_mpi(handle, MPI_COMM_WORLD)
  call elsi_set_blacs(handle, context, block)
  call elsi_set_mu_broaden_scheme(handle, 1)              ! Fermi
  call elsi_set_mu_broaden_width(handle, width)
  call elsi_dm_real(handle, ham, ovlp, dm, energy)
  call elsi_get_edm_real(handle, edm)
  call elsi_get_mu(handle, mu)
  call elsi_get_entropy(handle, entropy)
  call elsi_finalize(handle)

  sums = [sum(dm * ovlp), sum(dm * ham) - sum(edm * ovlp)]
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  band = [(2 * cos(2 * acos(-1.0_dp) * j / n), j=1, n)]
  band = t * band / (1 + s * band)
  exact = sum(2 * band / (1 + exp((band - mu) / width)))
  if (rank == 0) print '(4(a, f0.9))', "energy ", energy, ", exact ", exact, ", electrons ", sums(1), ", entropy ", &
    entropy
  call blacs_gridexit(context)
  call MPI_Finalize(ierr)
  if (abs(energy - exact) > 1e-9_dp .or. abs(sums(1) - electrons) > 1e-9_dp .or. abs(sums(2)) > 1e-9_dp) error stop 1

contains

  !> Of a matrix with one number on the diagonal, and another one between neighbours.
  real(dp) function element(i, j, diagonal, between)
    integer, intent(in) :: i, j
    real(dp), intent(in) :: diagonal, between
    element = 0
    if (i == j) element = diagonal
    if (modulo(i - j, n) == 1 .or. modulo(j - i, n) == 1) element = between
  end function

  integer function whole(local, process, processes)
    integer, intent(in) :: local, process, processes
    whole = ((local - 1) / block * processes + process) * block + mod(local - 1, block) + 1
  end function
end program
