! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Matrices in compressed columns of tessera_elsi. Each process holds the density matrix as a whole for a while.
module tessera_elsi_sparse
  use, intrinsic :: iso_c_binding, only: c_int
  use tessera_base
  use tessera_runtimes
  use tessera_block_matrices
  use tessera_block_arrays
  use tessera_density
  use tessera_elsi_handles
  use tessera_elsi_occupations
  implicit none
  private
  public :: elsi_dm_real_sparse, elsi_get_edm_real_sparse

  interface
    function c_sum(communicator, values, count) bind(c, name="tessera_fortran_sum_over_ranks") result(code)
      import
      integer(c_int), value :: communicator, count
      real(dp), intent(inout) :: values(*)
      integer(c_int) :: code
    end function
  end interface

contains

  !> The density matrix on the pattern of elsi_set_csc, by Fermi's occupations.
  subroutine elsi_dm_real_sparse(eh, ham, ovlp, dm, ebs)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(inout) :: ham(eh%nnz), ovlp(eh%nnz)
    real(dp), intent(out) :: dm(eh%nnz), ebs
    type(tessera_runtime), target :: runtime
    type(block_layout) :: layout
    type(block_matrix), target :: h, s
    type(density_problem) :: problem
    type(density_options) :: options
    type(density_result) :: result
    integer, allocatable :: columns(:)
    integer :: status
    call require_handle(eh, "elsi_dm_real_sparse")
    call require(eh%has_csc, "elsi_dm_real_sparse: expected elsi_set_csc before")
    call require(eh%broaden_scheme == broaden_fermi, &
      "elsi_dm_real_sparse: expected elsi_set_mu_broaden_scheme(eh, 1): " // &
      "occupations are Fermi's")
    call require(eh%n_spin * eh%n_kpt == 1, "elsi_dm_real_sparse: several spin channels or k-points are not supported")
    if (eh%mode == several_processes) then     ! else the default Runtime
      call require(eh%has_comm, "elsi_dm_real_sparse: several processes: expected elsi_set_mpi before")
      call tessera_end_default_runtime()       ! of dense matrices; it would be in the way
      call runtime%create(communicator=eh%comm, status=status)
      call require(status == tessera_success, "elsi_dm_real_sparse: " // tessera_message())
    end if
    call find_columns(eh, runtime, columns)
    call layout%create(block_sizes_of(eh%n_basis), symmetry="S", runtime=runtime)
    call take(ham, h)
    problem%hamiltonian => h
    if (.not. eh%unit_overlap) then
      call take(ovlp, s)
      problem%overlap => s
    end if
    problem%electrons = eh%n_electron
    problem%occupation = degeneracy_of(eh)
    problem%temperature = eh%broaden_width
    options%method = density_dense
    options%energy_weighted = .true.
    call density_matrix(problem, result, options, status)
    call require(status == tessera_success, "elsi_dm_real_sparse: " // tessera_message())
    if (.not. allocated(eh%weighted_csc)) allocate (eh%weighted_csc(eh%nnz))
    call give(result%density, dm)
    call give(result%energy_weighted, eh%weighted_csc)
    ebs = result%energy
    eh%mu = result%chemical_potential
    eh%entropy = result%energy - result%free_energy
    eh%has_density = .true.
    call result%free()
    call h%free()
    call s%free()
    call layout%free()
    call runtime%free()

  contains

    !> From columns to rows of the lower triangle: A is symmetric.
    subroutine take(values, matrix)
      real(dp), intent(in) :: values(:)
      type(block_matrix), intent(inout) :: matrix
      integer :: begin(size(columns) + 1), column(size(values)), j, k, taken
      real(dp) :: lower(size(values))
      taken = 0
      do j = 1, size(columns)
        begin(j) = taken + 1
        do k = eh%col_ptr(j), eh%col_ptr(j + 1) - 1
          if (eh%row_ind(k) > columns(j)) cycle
          taken = taken + 1
          column(taken) = eh%row_ind(k)
          lower(taken) = values(k)
        end do
      end do
      begin(size(columns) + 1) = taken + 1
      call block_matrix_from_csr(matrix, layout, begin, column, lower, columns, runtime)
    end subroutine

    subroutine give(matrix, values)
      type(block_matrix), intent(in) :: matrix
      real(dp), intent(out) :: values(:)
      real(dp), allocatable :: whole(:, :)
      integer :: j
      allocate (whole(eh%n_basis, eh%n_basis))
      call block_matrix_to_dense(matrix, whole)
      do j = 1, size(columns)
        associate (first => eh%col_ptr(j), last => eh%col_ptr(j + 1) - 1)
          values(first:last) = whole(eh%row_ind(first:last), columns(j))
        end associate
      end do
    end subroutine
  end subroutine

  !> The numbers of this process' columns in the whole matrix.
  subroutine find_columns(eh, runtime, columns)
    type(elsi_handle), intent(in) :: eh
    type(tessera_runtime), intent(in) :: runtime
    integer, allocatable, intent(out) :: columns(:)
    real(dp), allocatable :: counts(:)
    integer :: j, rank
    rank = runtime%rank()
    allocate (counts(runtime%size()), source=0.0_dp)
    counts(rank + 1) = eh%n_lcol_csc
    if (size(counts) > 1) then
      call require(c_sum(int(eh%comm, c_int), counts, size(counts, kind=c_int)) == 0, "elsi_dm_real_sparse: no MPI")
    end if
    call require(nint(sum(counts)) == eh%n_basis, "elsi_set_csc: n_lcol: expected n_basis columns of all processes")
    if (eh%matrix_format == csc_pexsi) then
      columns = [(nint(sum(counts(:rank))) + j, j=1, eh%n_lcol_csc)]
    else
      call require(eh%csc_block > 0, "elsi_dm_real_sparse: matrix_format 2: expected elsi_set_csc_blk before")
      columns = [(((j - 1) / eh%csc_block * size(counts) + rank) * eh%csc_block + mod(j - 1, eh%csc_block) + 1, &
        j=1, eh%n_lcol_csc)]
      call require(all(columns <= eh%n_basis), &
        "elsi_set_csc: n_lcol: expected the columns of the blocks of this process")
    end if
  end subroutine

  function block_sizes_of(n) result(sizes)
    integer, intent(in) :: n
    integer, parameter :: block = 32
    integer, allocatable :: sizes(:)
    integer :: i
    sizes = [(min(block, n - (i - 1) * block), i=1, (n + block - 1) / block)]
  end function

  !> The energy-weighted density matrix on the pattern, after elsi_dm_real_sparse.
  subroutine elsi_get_edm_real_sparse(eh, edm)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: edm(eh%nnz)
    call require(allocated(eh%weighted_csc), "elsi_get_edm_real_sparse: no density matrix was computed")
    edm = eh%weighted_csc
  end subroutine
end module
