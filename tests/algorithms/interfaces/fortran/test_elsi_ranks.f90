! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The routines with ELSI's argument lists on several processes: block-cyclic matrices, spin channels and k-points,
!> compressed columns; against the same on one process.
program test_elsi_ranks
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use mpi
  use checks
  use tessera_elsi
  use tessera, only: tessera_end_default_runtime
  implicit none
  integer, parameter :: n = 30, states = 22, block = 4
  real(dp), parameter :: electrons = 18, width = 0.1_dp
  integer :: provided, ierr, rank, ranks, context, rows, cols, row, col, lrow, lcol, i
  integer, external :: numroc
  external :: blacs_get, blacs_gridinit, blacs_gridinfo, blacs_gridexit
  integer, allocatable :: my_rows(:), my_cols(:)
  real(dp) :: h(n, n), s(n, n)
  complex(dp) :: phases(n)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  rows = merge(2, 1, mod(ranks, 2) == 0)
  cols = ranks / rows
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, "R", rows, cols)
  call blacs_gridinfo(context, rows, cols, row, col)
  lrow = numroc(n, block, row, 0, rows)
  lcol = numroc(n, block, col, 0, cols)
  my_rows = [(whole(i, row, rows), i=1, lrow)]
  my_cols = [(whole(i, col, cols), i=1, lcol)]
  call repeat_random_numbers()
  call random_number(h)
  call random_number(s)
  call MPI_Bcast(h, n * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(s, n * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  h = h + transpose(h)
  s = 0.1_dp * matmul(s, transpose(s))
  do i = 1, n
    s(i, i) = s(i, i) + 1
    phases(i) = exp(cmplx(0, 0.7_dp * i, dp))
  end do
  call test_block_cyclic()
  call test_block_cyclic_complex()
  call tessera_end_default_runtime()
  call test_channels()
  call test_compressed(1)
  call test_compressed(2)
  call test_block_cyclic()      ! the Runtime that this starts ends with MPI
  call blacs_gridexit(context)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  call end_checks()

contains

  integer function whole(local, process, processes)
    integer, intent(in) :: local, process, processes
    whole = ((local - 1) / block * processes + process) * block + mod(local - 1, block) + 1
  end function

  !> The whole of the matrices on this process: occupations and vectors by LAPACK, the sums by loops.
  subroutine expect(a, b, p, edm, energy, mu)
    real(dp), intent(in) :: a(n, n), b(n, n)
    real(dp), intent(out) :: p(n, n), edm(n, n), energy, mu
    real(dp) :: x(n, n), w(n), copy(n, n), work(1 + 6 * n + 2 * n * n), f(states), lower, upper
    integer :: iwork(3 + 5 * n), info, step
    external :: dsygvd
    x = a
    copy = b
    call dsygvd(1, "V", "L", n, x, n, copy, n, w, work, size(work), iwork, size(iwork), info)
    if (info /= 0) error stop 7
    lower = w(1) - 10
    upper = w(n) + 10
    do step = 1, 100
      mu = (lower + upper) / 2
      f = 2 / (1 + exp((w(:states) - mu) / width))
      if (sum(f) < electrons) then
        lower = mu
      else
        upper = mu
      end if
    end do
    energy = sum(f * w(:states))
    p = matmul(x(:, :states) * spread(f, 1, n), transpose(x(:, :states)))
    edm = matmul(x(:, :states) * spread(f * w(:states), 1, n), transpose(x(:, :states)))
  end subroutine

  subroutine test_block_cyclic()
    type(elsi_handle) :: eh
    real(dp) :: p(n, n), edm(n, n), energy, mu, other, lowest
    real(dp), allocatable :: a(:, :), b(:, :), c(:, :)
    call expect(h, s, p, edm, energy, mu)
    call elsi_init(eh, 1, 1, 0, n, electrons, states)
    call elsi_set_mpi(eh, MPI_COMM_WORLD)
    call elsi_set_blacs(eh, context, block)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_set_illcond_check(eh, 1)
    allocate (a(lrow, lcol), b(lrow, lcol), c(lrow, lcol))
    a = h(my_rows, my_cols)
    b = s(my_rows, my_cols)
    call elsi_dm_real(eh, a, b, c, other)
    call check(maxval(abs(c - p(my_rows, my_cols))) < 1e-9_dp .and. abs(other - energy) < 1e-9_dp, &
      "block-cyclic density")
    call elsi_get_edm_real(eh, c)
    call check(maxval(abs(c - edm(my_rows, my_cols))) < 1e-9_dp, "block-cyclic energy-weighted density")
    call elsi_get_mu(eh, other)
    call elsi_get_ovlp_ev_min(eh, lowest)
    call check(abs(other - mu) < 1e-9_dp .and. lowest > 1 .and. lowest < 1.5_dp, "block-cyclic: mu")
    call check(maxval(abs(a - h(my_rows, my_cols))) <= 0, "H stays")
    call elsi_finalize(eh)
  end subroutine

  subroutine test_block_cyclic_complex()
    type(elsi_handle) :: eh
    real(dp) :: p(n, n), edm(n, n), energy, mu, other, values(n)
    complex(dp), allocatable :: a(:, :), b(:, :), c(:, :)
    complex(dp) :: turned(n, n)
    call expect(h, s, p, edm, energy, mu)
    call elsi_init(eh, 1, 1, 0, n, electrons, states)
    call elsi_set_mpi(eh, MPI_COMM_WORLD)
    call elsi_set_blacs(eh, context, block)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    turned = spread(phases, 2, n) * h * spread(conjg(phases), 1, n)
    allocate (a(lrow, lcol), b(lrow, lcol), c(lrow, lcol))
    a = turned(my_rows, my_cols)
    turned = spread(phases, 2, n) * s * spread(conjg(phases), 1, n)
    b = turned(my_rows, my_cols)
    call elsi_dm_complex(eh, a, b, c, other)
    turned = spread(phases, 2, n) * p * spread(conjg(phases), 1, n)
    call check(maxval(abs(c - turned(my_rows, my_cols))) < 1e-9_dp .and. abs(other - energy) < 1e-9_dp, &
      "block-cyclic complex density")
    call elsi_ev_complex(eh, a, b, values, c)
    call elsi_finalize(eh)
  end subroutine

  !> Each process has a problem of its own: two spin channels on two processes, else k-points.
  subroutine test_channels()
    type(elsi_handle) :: eh
    real(dp) :: a(n, n), b(n, n), c(n, n), w(n), all_w(n, 0:ranks - 1), weights(0:ranks - 1), energy, mu, lower, upper
    real(dp) :: degeneracy, entropy
    integer :: k, step
    a = h * (1 + 0.1_dp * rank)
    b = s
    degeneracy = merge(1, 2, ranks == 2)
    weights = 1
    call elsi_init(eh, 1, 0, 0, n, electrons, n)
    call elsi_set_mpi_global(eh, MPI_COMM_WORLD)
    if (ranks == 2) then
      call elsi_set_spin(eh, 2, rank + 1)
    else
      weights = [(k + 1, k=0, ranks - 1)]
      weights = weights / sum(weights)
      call elsi_set_kpoint(eh, ranks, rank + 1, weights(rank))
    end if
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_ev_real(eh, a, b, w, c)
    call MPI_Allgather(w, n, MPI_DOUBLE_PRECISION, all_w, n, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    lower = minval(all_w) - 10
    upper = maxval(all_w) + 10
    do step = 1, 100
      mu = (lower + upper) / 2
      if (degeneracy * sum(sum(1 / (1 + exp((all_w - mu) / width)), 1) * weights) < electrons) then
        lower = mu
      else
        upper = mu
      end if
    end do
    call elsi_dm_real(eh, a, b, c, energy)
    call check(abs(energy - degeneracy * sum(sum(all_w / (1 + exp((all_w - mu) / width)), 1) * weights)) < 1e-8_dp, &
      "energy of all channels")
    call check(abs(sum(c * s) - degeneracy * sum(1 / (1 + exp((w - mu) / width)))) < 1e-8_dp, "density of a channel")
    call elsi_get_mu(eh, lower)
    call elsi_get_entropy(eh, entropy)
    call check(abs(lower - mu) < 1e-8_dp .and. entropy > 0, "mu of all channels")
    call elsi_finalize(eh)
  end subroutine

  subroutine test_compressed(matrix_format)
    integer, intent(in) :: matrix_format
    type(elsi_handle) :: eh
    integer, parameter :: csc_block = 3
    real(dp) :: p(n, n), edm(n, n), energy, mu, other
    real(dp), allocatable :: a(:), b(:), c(:)
    integer, allocatable :: columns(:), row_ind(:), col_ptr(:)
    integer :: j
    if (matrix_format == 1) then
      columns = [(j, j=rank * (n / ranks) + 1, merge(n, (rank + 1) * (n / ranks), rank == ranks - 1))]
    else
      columns = pack([(j, j=1, n)], [(mod((j - 1) / csc_block, ranks) == rank, j=1, n)])
    end if
    row_ind = [((i, i=1, n), j=1, size(columns))]
    col_ptr = [(1 + n * j, j=0, size(columns))]
    a = [h(:, columns)]
    b = [s(:, columns)]
    allocate (c(size(a)))
    call elsi_init(eh, 1, 1, matrix_format, n, electrons, states)
    call elsi_set_mpi(eh, MPI_COMM_WORLD)
    call elsi_set_csc(eh, n * n, size(a), size(columns), row_ind, col_ptr)
    if (matrix_format == 2) call elsi_set_csc_blk(eh, csc_block)
    call elsi_set_mu_broaden_scheme(eh, 1)
    call elsi_set_mu_broaden_width(eh, width)
    call elsi_dm_real_sparse(eh, a, b, c, other)
    call expect(h, s, p, edm, energy, mu)      ! states above the highest of these are empty
    call check(abs(other - energy) < 1e-7_dp, "energy of compressed columns")
    call check(maxval(abs(c - [p(:, columns)])) < 1e-7_dp, "density in compressed columns")
    call elsi_get_edm_real_sparse(eh, c)
    call check(maxval(abs(c - [edm(:, columns)])) < 1e-7_dp, "energy-weighted in compressed columns")
    call elsi_finalize(eh)
  end subroutine
end program
