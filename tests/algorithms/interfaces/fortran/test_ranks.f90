! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The Runtime on the ranks of a communicator, and what runs on it: block-sparse matrices, density matrices,
!> self-consistent fields, LOBPCG, the tuner.
program test_ranks
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use mpi
  use checks
  use tessera
  implicit none
  integer, parameter :: n = 40, blocks = 10
  type(tessera_runtime) :: runtime
  type(block_layout) :: layout, half
  integer :: provided, ierr, rank, ranks, turned, i, status
  real(dp) :: h(n, n), x(n, n)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  ! ranks in the other order: the communicator counts
  call MPI_Comm_split(MPI_COMM_WORLD, 0, ranks - rank, turned, ierr)
  call runtime%create(cores=1, gpus=0, communicator=turned)
  call MPI_Comm_free(turned, ierr)
  call check(runtime%rank() == ranks - 1 - rank .and. runtime%size() == ranks, "rank and size")
  call layout%create([(4, i=1, blocks)], runtime=runtime)
  call half%create([(4, i=1, blocks)], symmetry="S", runtime=runtime)
  h = 0
  do i = 1, n
    h(i, i) = merge(-1, 1, i <= n / 2) + 0.2_dp * cos(0.3_dp * i)
    if (i < n) h(i, i + 1) = 0.2_dp
    if (i < n) h(i + 1, i) = 0.2_dp
  end do
  x = reshape([(sin(1.0_dp * i), i=1, n * n)], [n, n])
  call test_blocks()
  call test_density()
  call test_field()
  call test_lobpcg()
  call test_dense()
  call layout%free()
  call half%free()
  call runtime%free()
  call runtime%create(gpus=0, cores=1, communicator=MPI_COMM_SELF, status=status)
  call check(status == 0 .and. runtime%size() == 1, "each rank alone")
  call runtime%free()
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  call end_checks()

contains

  !> Each rank gives the blocks that it owns.
  subroutine test_blocks()
    type(block_builder) :: builder
    type(block_layout) :: dealt
    type(block_matrix) :: a, b, c
    type(task_sequence) :: sequence
    real(dp) :: values(n, n), trace, v(n, 2), y(n, 2)
    real(dp), allocatable :: entries(:)
    integer, allocatable :: begin(:), column(:), row(:), block_rows(:), block_cols(:)
    integer :: j, counts(2)
    call builder%create("d", layout, runtime)
    do j = 1, blocks
      do i = 1, blocks
        if (layout%owner(i, j) /= runtime%rank()) cycle
        call block_builder_put(builder, i, j, x(4 * i - 3:4 * i, 4 * j - 3:4 * j))
      end do
    end do
    call builder%finalize(a)
    call block_matrix_to_dense(a, values)
    call check(maxval(abs(values - x)) <= 0, "blocks of all ranks")
    call block_matrix_stored(a, block_rows, block_cols)
    call check(all([(layout%owner(block_rows(i), block_cols(i)) == runtime%rank(), i=1, size(block_rows))]), &
      "stored here")
    counts(1) = size(block_rows)
    call MPI_Allreduce(MPI_IN_PLACE, counts, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(counts(1) == blocks**2, "stored on all ranks")
    ! a layout with owners: all on the last rank's column of the grid
    call dealt%create([(4, i=1, blocks)], row_owners=[(0, i=1, blocks)], col_owners=[(ranks - 1, i=1, blocks)], &
      grid_rows=1, grid_cols=ranks, runtime=runtime)
    call check(dealt%owner(3, 7) == ranks - 1, "owners")
    call block_redistribute(a, dealt, b)
    call block_matrix_stored(b, block_rows, block_cols)
    call check(size(block_rows) == merge(blocks**2, 0, runtime%rank() == ranks - 1), "redistributed")
    call dealt%create([(4, i=1, blocks)], row_owners=[0], runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "owners of rows alone")
    call block_copy(a, c)
    call multiply(a, a, c, op_b="T")
    call block_matrix_to_dense(c, values)
    call check(maxval(abs(values - matmul(x, transpose(x)))) < 1e-11_dp, "product")
    call sequence%create(runtime)
    call block_scale(2, c, sequence)
    call block_add(c, a, beta=-1, sequence=sequence)
    call sequence%wait()
    call block_trace(c, trace)
    call check(abs(trace - 2 * sum(x**2) + sum([(x(i, i), i=1, n)])) < 1e-10_dp, "trace of a sequence")
    v = x(:, 3:4)
    call block_multiply_vectors(a, v, y)
    call check(maxval(abs(y - matmul(x, v))) < 1e-12_dp, "times vectors")
    ! rows of each rank, and back
    call block_matrix_to_csr(a, begin, column, entries, row, threshold=-1.0_dp, on_root=.false.)
    call block_matrix_from_csr(c, layout, begin, column, entries, row, runtime)
    call block_matrix_to_dense(c, values)
    call check(maxval(abs(values - x)) <= 0, "compressed rows")
    call sequence%free()
  end subroutine

  subroutine test_density()
    type(block_matrix), target :: hamiltonian
    type(density_problem) :: problem
    type(density_result) :: result
    type(density_options) :: options
    type(density_completion) :: done
    real(dp) :: w(n), vectors(n, n), p(n, n), work(1 + 6 * n + 2 * n * n)
    integer :: iwork(3 + 5 * n), info
    external :: dsyevd
    vectors = h
    call dsyevd("V", "L", n, vectors, n, w, work, size(work), iwork, size(iwork), info)
    call block_matrix_from_dense(hamiltonian, half, h, 0.0_dp, runtime)
    problem%hamiltonian => hamiltonian
    problem%electrons = n
    options%filter_eps = 1e-10_dp
    call density_matrix(problem, result, options)
    call block_matrix_to_dense(result%density, p)
    call check(maxval(abs(p - 2 * matmul(vectors(:, :n / 2), transpose(vectors(:, :n / 2))))) < 1e-6_dp, "density")
    call submit_density_matrix(done, problem, options)
    call done%get(result)
    call check(abs(result%energy - 2 * sum(w(:n / 2))) < 1e-7_dp, "submitted density")
    call done%free()
    problem%electrons = -1
    call density_matrix(problem, result, options, status)
    call check(status == tessera_invalid_argument, "too few electrons")
  end subroutine

  !> Without interaction: the field is that of the density matrix.
  subroutine test_field()
    type(block_matrix), target :: start
    type(scf_channel) :: channels(1)
    type(scf_state) :: states(1)
    type(scf_result) :: result
    real(dp) :: diagonal(n)
    call block_matrix_from_dense(start, half, h, 0.0_dp, runtime)
    channels(1)%electrons = n
    channels(1)%hamiltonian => start
    call scf(without_interaction, channels, states, result, runtime=runtime)
    call block_get_diagonal(states(1)%density, diagonal)
    call check(abs(sum(diagonal) - n) < 1e-6_dp .and. result%energy < 0, "field")
    call scf(fails_on_one, channels, states, result, runtime=runtime, status=status)
    if (runtime%rank() == ranks - 1) then
      call check(status == tessera_callback_failed .and. tessera_callback_code() == 5, &
        "a functional that fails: " // tessera_message())
    else
      call check(status == tessera_remote_error, "one that fails on another rank: " // tessera_message())
    end if
  end subroutine

  subroutine without_interaction(densities, hamiltonians, energy, status)
    type(block_matrix), intent(in) :: densities(:)
    type(block_matrix), intent(inout) :: hamiltonians(:)
    real(dp), intent(out) :: energy
    integer, intent(inout) :: status
    call block_matrix_from_dense(hamiltonians(1), half, h, 0.0_dp, runtime)
    call block_dot(hamiltonians(1), densities(1), energy, status)
  end subroutine

  subroutine fails_on_one(densities, hamiltonians, energy, status)
    type(block_matrix), intent(in) :: densities(:)
    type(block_matrix), intent(inout) :: hamiltonians(:)
    real(dp), intent(out) :: energy
    integer, intent(inout) :: status
    call without_interaction(densities, hamiltonians, energy, status)
    if (runtime%rank() == ranks - 1) status = 5
  end subroutine

  subroutine test_lobpcg()
    integer, parameter :: order = 120
    type(linear_operator) :: a, own
    type(preconditioner) :: fom
    type(lobpcg_options) :: options
    real(dp) :: values(3), vectors(3, order), expected(3), y(3, order)
    integer :: begin(order + 1), column(2 * order)
    real(dp) :: entries(2 * order)
    begin = [(2 * i, i=1, order + 1)] - 1
    column(1::2) = [(i, i=1, order)]
    column(2::2) = [(i + 1, i=1, order)]
    entries(1::2) = 2
    entries(2::2) = -1
    begin(order + 1) = 2 * order
    expected = [(4 * sin(i * acos(-1.0_dp) / (2 * order + 2))**2, i=1, 3)]
    call operator_from_csr(a, begin, column, entries, "U", runtime=runtime)
    call preconditioner_fom(fom, a)
    options%tolerance = 1e-8_dp
    options%norm = norm_absolute
    options%iterations = 1000
    call lobpcg(a, values, vectors, precondition=fom, options=options)
    call check(maxval(abs(values - expected)) < 1e-8_dp, "lobpcg")
    call operator_create(own, order, chain, segments=ranks, norm_bound=4.0_dp, runtime=runtime)
    call operator_apply(own, vectors, y)
    call check(maxval(abs(y - spread(values, 2, order) * vectors)) < 1e-6_dp, "an operator of the caller's")
  end subroutine

  recursive subroutine chain(first_row, last_row, x, y, status)
    integer, intent(in) :: first_row, last_row
    real(dp), intent(in) :: x(:, :)
    real(dp), intent(inout) :: y(:, :)
    integer, intent(inout) :: status
    integer :: k
    do k = first_row, last_row
      y(:, k - first_row + 1) = 2 * x(:, k)
      if (k > 1) y(:, k - first_row + 1) = y(:, k - first_row + 1) - x(:, k - 1)
      if (k < size(x, 2)) y(:, k - first_row + 1) = y(:, k - first_row + 1) - x(:, k + 1)
    end do
    if (last_row < first_row) status = 1
  end subroutine

  subroutine test_dense()
    type(block_cyclic) :: distribution
    type(eigen_tuner) :: tuner
    type(eigen_options) :: options
    type(eigen_used) :: used
    real(dp) :: w(n)
    real(dp), allocatable :: local(:, :), z(:, :)
    integer :: k
    distribution%block_rows = n
    distribution%block_cols = 4
    distribution%grid_cols = ranks
    allocate (local(n, count([(mod((k - 1) / 4, ranks) == runtime%rank(), k=1, n)])))
    local = h(:, pack([(k, k=1, n)], [(mod((k - 1) / 4, ranks) == runtime%rank(), k=1, n)]))
    allocate (z, mold=local)
    call tuner%create("d", n, runtime=runtime)
    call tuner%next(options)
    call eigensolve(local, w, z, distribution=distribution, n=n, options=options, used=used, runtime=runtime)
    call tuner%record(used%seconds)
    call check(abs(sum(w) - sum([(h(k, k), k=1, n)])) < 1e-11_dp .and. w(1) < w(n), "block-cyclic, tuned")
    call tuner%best(tried=k)
    call check(k == 1, "tried")
  end subroutine
end program
