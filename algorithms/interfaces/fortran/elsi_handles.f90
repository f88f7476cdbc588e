! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What the routines of tessera_elsi are told: the handle, and the routines that set it.
!>
!> As in ELSI no routine has a status: what is wrong ends the program, with a message.
module tessera_elsi_handles
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_funptr, c_null_ptr, c_associated, c_char, &
    c_f_procpointer
  use, intrinsic :: iso_fortran_env, only: i4 => int32, i8 => int64
  use tessera_base
  implicit none
  private
  public :: elsi_handle, elsi_init, elsi_reinit, elsi_finalize, elsi_set_mpi, elsi_set_mpi_global, elsi_set_blacs
  public :: elsi_set_csc, elsi_set_csc_blk, elsi_set_spin, elsi_set_kpoint, elsi_set_spin_degeneracy, elsi_set_unit_ovlp
  public :: elsi_set_output, elsi_set_output_unit, elsi_set_output_log, elsi_set_save_ovlp, elsi_set_zero_def
  public :: elsi_set_illcond_check, elsi_set_illcond_tol, elsi_set_mu_broaden_scheme, elsi_set_mu_broaden_width
  public :: elsi_set_mu_tol, elsi_get_initialized, elsi_get_mu, elsi_get_entropy, elsi_get_n_illcond
  public :: elsi_get_ovlp_ev_min, elsi_get_ovlp_ev_max, elsi_get_eval, elsi_get_occ
  public :: require, require_handle, library_routine, local_extent

  integer, parameter, public :: single_process = 0, several_processes = 1
  integer, parameter, public :: dense_blacs = 0, csc_pexsi = 1, csc_siesta = 2
  integer, parameter, public :: broaden_gaussian = 0, broaden_fermi = 1

  !> A series of problems of one size. Its components are not for programs.
  type :: elsi_handle
    logical :: ready = .false.
    integer :: mode = single_process, matrix_format = dense_blacs, n_basis = 0, n_state = 0
    real(dp) :: n_electron = 0
    logical :: has_comm = .false., has_comm_all = .false., has_blacs = .false., has_csc = .false.
    integer :: comm = 0, comm_all = 0
    ! dense: the BLACS context, its grid, the place of this process in it, and what it has of a matrix
    integer :: context = 0, block = 1, grid_rows = 1, grid_cols = 1, my_row = 0, my_col = 0, n_lrow = 0, n_lcol = 0
    ! compressed columns
    integer :: nnz = 0, n_lcol_csc = 0, csc_block = 0
    integer, allocatable :: row_ind(:), col_ptr(:)
    integer :: n_spin = 1, i_spin = 1, n_kpt = 1, i_kpt = 1
    real(dp) :: weight = 1, spin_degeneracy = -1
    logical :: unit_overlap = .false., check_overlap = .false.
    real(dp) :: overlap_tolerance = 1e-5_dp, overlap_lowest = 0, overlap_highest = 0
    integer :: broaden_scheme = broaden_gaussian
    real(dp) :: broaden_width = 1e-2_dp, mu_tolerance = 1e-13_dp
    ! of the last density matrix
    logical :: has_density = .false.
    real(dp) :: mu = 0, entropy = 0
    real(dp), allocatable :: eval(:), occ(:), vectors(:, :), weighted_csc(:)
    complex(dp), allocatable :: complex_vectors(:, :)
  end type

  !> elsi_set_csc(eh, nnz_g, nnz_l, n_lcol, row_ind, col_ptr): numbers of entries may be integer(4) or integer(8).
  interface elsi_set_csc
    module procedure set_csc_i4, set_csc_i8
  end interface

  interface
    function c_dlsym(library, name) bind(c, name="dlsym") result(found)
      import
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: found
    end function
  end interface

  abstract interface
    subroutine grid_info(context, rows, cols, row, col) bind(c)
      import
      integer(c_int), value :: context
      integer(c_int), intent(out) :: rows, cols, row, col
    end subroutine
  end interface

contains

  !> @param solver is not used: Tessera has its own
  !> @param parallel_mode 0: the arrays are whole, on this process; 1: several processes
  !> @param matrix_format 0: dense (with several processes block-cyclic), 1 and 2: compressed columns, dealt out in a
  !> piece each or block by block
  !> @param n_state the lowest states count
  subroutine elsi_init(eh, solver, parallel_mode, matrix_format, n_basis, n_electron, n_state)
    type(elsi_handle), intent(out) :: eh
    integer(i4), intent(in) :: solver, parallel_mode, matrix_format, n_basis, n_state
    real(dp), intent(in) :: n_electron
    call require(solver >= 0, "elsi_init: solver: expected a number from 0 on")
    call require(parallel_mode == 0 .or. parallel_mode == 1, "elsi_init: parallel_mode: expected 0 or 1")
    call require(matrix_format >= 0 .and. matrix_format <= 2, &
      "elsi_init: matrix_format: expected 0, 1 or 2 (coordinates, 3, are not supported)")
    call require(n_basis > 0, "elsi_init: n_basis: expected a number above 0")
    call require(n_state > 0 .and. n_state <= n_basis, "elsi_init: n_state: expected a number from 1 to n_basis")
    call require(n_electron >= 0, "elsi_init: n_electron: expected a number from 0 on")
    eh%ready = .true.
    eh%mode = parallel_mode
    eh%matrix_format = matrix_format
    eh%n_basis = n_basis
    eh%n_electron = n_electron
    eh%n_state = n_state
    eh%n_lrow = n_basis
    eh%n_lcol = n_basis
  end subroutine

  !> Begins with another geometry: nothing of the former problems is kept.
  subroutine elsi_reinit(eh)
    type(elsi_handle), intent(inout) :: eh
    call require_handle(eh, "elsi_reinit")
    call forget(eh)
    eh%has_csc = .false.
  end subroutine

  subroutine elsi_finalize(eh)
    type(elsi_handle), intent(inout) :: eh
    call require_handle(eh, "elsi_finalize")
    call forget(eh)
    eh%ready = .false.
  end subroutine

  subroutine forget(eh)
    type(elsi_handle), intent(inout) :: eh
    eh%has_density = .false.
    if (allocated(eh%eval)) deallocate (eh%eval)
    if (allocated(eh%occ)) deallocate (eh%occ)
    if (allocated(eh%vectors)) deallocate (eh%vectors)
    if (allocated(eh%complex_vectors)) deallocate (eh%complex_vectors)
    if (allocated(eh%weighted_csc)) deallocate (eh%weighted_csc)
  end subroutine

  !> The communicator (a handle of the module mpi) of the processes that share one problem.
  subroutine elsi_set_mpi(eh, comm)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: comm
    call require_handle(eh, "elsi_set_mpi")
    eh%comm = comm
    eh%has_comm = .true.
  end subroutine

  !> The communicator of all spin channels and k-points.
  subroutine elsi_set_mpi_global(eh, comm_all)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: comm_all
    call require_handle(eh, "elsi_set_mpi_global")
    eh%comm_all = comm_all
    eh%has_comm_all = .true.
  end subroutine

  subroutine elsi_set_spin(eh, n_spin, i_spin)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: n_spin, i_spin
    call require_handle(eh, "elsi_set_spin")
    call require(n_spin == 1 .or. n_spin == 2, "elsi_set_spin: n_spin: expected 1 or 2")
    call require(i_spin >= 1 .and. i_spin <= n_spin, "elsi_set_spin: i_spin: expected a number from 1 to n_spin")
    eh%n_spin = n_spin
    eh%i_spin = i_spin
  end subroutine

  subroutine elsi_set_kpoint(eh, n_kpt, i_kpt, i_wt)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: n_kpt, i_kpt
    real(dp), intent(in) :: i_wt
    call require_handle(eh, "elsi_set_kpoint")
    call require(i_kpt >= 1 .and. i_kpt <= n_kpt, "elsi_set_kpoint: i_kpt: expected a number from 1 to n_kpt")
    call require(i_wt >= 0, "elsi_set_kpoint: i_wt: expected a weight from 0 on")
    eh%n_kpt = n_kpt
    eh%i_kpt = i_kpt
    eh%weight = i_wt
  end subroutine

  !> The context of the dense matrices, which are block-cyclic with blocks of block_size rows and columns, the first
  !> one on process (0, 0).
  subroutine elsi_set_blacs(eh, blacs_ctxt, block_size)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: blacs_ctxt, block_size
    procedure(grid_info), pointer :: info
    integer(c_int) :: rows, cols, row, col
    call require_handle(eh, "elsi_set_blacs")
    call require(eh%mode == several_processes, "elsi_set_blacs: expected parallel_mode 1")
    call require(block_size > 0, "elsi_set_blacs: block_size: expected a number above 0")
    call c_f_procpointer(library_routine("Cblacs_gridinfo", "BLACS"), info)
    call info(int(blacs_ctxt, c_int), rows, cols, row, col)
    call require(row >= 0 .and. col >= 0, "elsi_set_blacs: this process is not in the BLACS context")
    eh%context = blacs_ctxt
    eh%block = block_size
    eh%grid_rows = rows
    eh%grid_cols = cols
    eh%my_row = row
    eh%my_col = col
    eh%n_lrow = local_extent(eh%n_basis, eh%block, eh%my_row, eh%grid_rows)
    eh%n_lcol = local_extent(eh%n_basis, eh%block, eh%my_col, eh%grid_cols)
    eh%has_blacs = .true.
  end subroutine

  !> How many of n rows a process has.
  pure integer function local_extent(n, block, process, processes)
    integer, intent(in) :: n, block, process, processes
    integer :: whole
    whole = n / block                                   ! blocks that are full
    local_extent = whole / processes * block
    if (process < mod(whole, processes)) local_extent = local_extent + block
    if (process == mod(whole, processes)) local_extent = local_extent + mod(n, block)
  end function

  !> The pattern of the matrices: the columns of this process, compressed, both halves, counted from 1.
  subroutine set_csc_i4(eh, nnz_g, nnz_l, n_lcol, row_ind, col_ptr)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: nnz_g, nnz_l, n_lcol
    integer(i4), intent(in) :: row_ind(nnz_l), col_ptr(n_lcol + 1)
    call set_csc_i8(eh, int(nnz_g, i8), int(nnz_l, i8), n_lcol, row_ind, int(col_ptr, i8))
  end subroutine

  subroutine set_csc_i8(eh, nnz_g, nnz_l, n_lcol, row_ind, col_ptr)
    type(elsi_handle), intent(inout) :: eh
    integer(i8), intent(in) :: nnz_g, nnz_l
    integer(i4), intent(in) :: n_lcol
    integer(i4), intent(in) :: row_ind(nnz_l)
    integer(i8), intent(in) :: col_ptr(n_lcol + 1)
    call require_handle(eh, "elsi_set_csc")
    call require(eh%matrix_format /= dense_blacs, "elsi_set_csc: expected matrix_format 1 or 2")
    call require(nnz_l >= 0 .and. nnz_l <= nnz_g .and. nnz_l < huge(eh%nnz), &
      "elsi_set_csc: nnz_l: expected at most nnz_g")
    call require(n_lcol >= 0 .and. n_lcol <= eh%n_basis, "elsi_set_csc: n_lcol: expected at most n_basis")
    call require(col_ptr(1) == 1 .and. col_ptr(n_lcol + 1) == nnz_l + 1 .and. all(col_ptr(:n_lcol) <= col_ptr(2:)), &
      "elsi_set_csc: col_ptr: expected ascending numbers from 1 to nnz_l + 1")
    call require(all(row_ind >= 1 .and. row_ind <= eh%n_basis), &
      "elsi_set_csc: row_ind: expected numbers from 1 to n_basis")
    eh%nnz = int(nnz_l)
    eh%n_lcol_csc = n_lcol
    eh%row_ind = row_ind
    eh%col_ptr = int(col_ptr)
    eh%has_csc = .true.
  end subroutine

  !> Columns of a block, for matrix_format 2.
  subroutine elsi_set_csc_blk(eh, blk)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: blk
    call require_handle(eh, "elsi_set_csc_blk")
    call require(blk > 0, "elsi_set_csc_blk: blk: expected a number above 0")
    eh%csc_block = blk
  end subroutine

  !> Electrons in an occupied state; not called: 2, with two spin channels 1.
  subroutine elsi_set_spin_degeneracy(eh, spin_degeneracy)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(in) :: spin_degeneracy
    call require_handle(eh, "elsi_set_spin_degeneracy")
    call require(spin_degeneracy > 0, "elsi_set_spin_degeneracy: expected a number above 0")
    eh%spin_degeneracy = spin_degeneracy
  end subroutine

  !> Other than 0: the overlap is the identity, and not looked at.
  subroutine elsi_set_unit_ovlp(eh, unit_ovlp)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: unit_ovlp
    call require_handle(eh, "elsi_set_unit_ovlp")
    eh%unit_overlap = unit_ovlp /= 0
  end subroutine

  !> Tessera prints nothing.
  subroutine elsi_set_output(eh, output)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: output
    call require_handle(eh, "elsi_set_output")
    call require(output >= 0, "elsi_set_output: output: expected a number from 0 on")
  end subroutine

  subroutine elsi_set_output_unit(eh, print_unit)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: print_unit
    call require_handle(eh, "elsi_set_output_unit")
    call require(print_unit /= -1, "elsi_set_output_unit: print_unit: expected a unit")
  end subroutine

  subroutine elsi_set_output_log(eh, output_log)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: output_log
    call require_handle(eh, "elsi_set_output_log")
    call require(output_log == 0, "elsi_set_output_log: there is no log: expected 0")
  end subroutine

  !> The overlap is never changed, so there is nothing to save.
  subroutine elsi_set_save_ovlp(eh, save_ovlp)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: save_ovlp
    call require_handle(eh, "elsi_set_save_ovlp")
    call require(save_ovlp >= 0, "elsi_set_save_ovlp: expected 0 or 1")
  end subroutine

  !> Dense matrices are taken as they are: what counts as zero is for conversions that Tessera does not make.
  subroutine elsi_set_zero_def(eh, zero_def)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(in) :: zero_def
    call require_handle(eh, "elsi_set_zero_def")
    call require(zero_def >= 0, "elsi_set_zero_def: expected a number from 0 on")
  end subroutine

  !> Other than 0: an eigenvalue of the overlap below the tolerance ends the program. (ELSI removes the combinations
  !> of basis functions that belong to it; Tessera does not.) Not called: an overlap that is not positive definite does.
  subroutine elsi_set_illcond_check(eh, illcond_check)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: illcond_check
    call require_handle(eh, "elsi_set_illcond_check")
    eh%check_overlap = illcond_check /= 0
  end subroutine

  subroutine elsi_set_illcond_tol(eh, illcond_tol)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(in) :: illcond_tol
    call require_handle(eh, "elsi_set_illcond_tol")
    call require(illcond_tol >= 0, "elsi_set_illcond_tol: expected a number from 0 on")
    eh%overlap_tolerance = illcond_tol
  end subroutine

  subroutine elsi_set_mu_broaden_scheme(eh, broaden_scheme)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(in) :: broaden_scheme
    call require_handle(eh, "elsi_set_mu_broaden_scheme")
    call require(broaden_scheme == broaden_gaussian .or. broaden_scheme == broaden_fermi, &
      "elsi_set_mu_broaden_scheme: " // &
      "expected 0 (Gaussian) or 1 (Fermi): Methfessel-Paxton, cubic and cold broadening are not supported")
    eh%broaden_scheme = broaden_scheme
  end subroutine

  subroutine elsi_set_mu_broaden_width(eh, broaden_width)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(in) :: broaden_width
    call require_handle(eh, "elsi_set_mu_broaden_width")
    call require(broaden_width > 0, "elsi_set_mu_broaden_width: expected a number above 0")
    eh%broaden_width = broaden_width
  end subroutine

  !> By how much the number of electrons may be off.
  subroutine elsi_set_mu_tol(eh, tol)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(in) :: tol
    call require_handle(eh, "elsi_set_mu_tol")
    call require(tol > 0, "elsi_set_mu_tol: expected a number above 0")
    eh%mu_tolerance = tol
  end subroutine

  subroutine elsi_get_initialized(eh, initialized)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(out) :: initialized
    initialized = merge(1_i4, 0_i4, eh%ready)
  end subroutine

  !> The chemical potential of the last density matrix.
  subroutine elsi_get_mu(eh, mu)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: mu
    call require_density(eh, "elsi_get_mu")
    mu = eh%mu
  end subroutine

  !> Broadening width times entropy, an energy, of all spin channels and k-points.
  subroutine elsi_get_entropy(eh, entropy)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: entropy
    call require_density(eh, "elsi_get_entropy")
    entropy = eh%entropy
  end subroutine

  !> Basis functions that were removed: none.
  subroutine elsi_get_n_illcond(eh, n_illcond)
    type(elsi_handle), intent(inout) :: eh
    integer(i4), intent(out) :: n_illcond
    call require_handle(eh, "elsi_get_n_illcond")
    n_illcond = 0
  end subroutine

  !> The extremal eigenvalues of the overlap, if they were checked.
  subroutine elsi_get_ovlp_ev_min(eh, ev_min)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: ev_min
    call require(eh%check_overlap .and. eh%overlap_highest > 0, "elsi_get_ovlp_ev_min: no overlap was checked")
    ev_min = eh%overlap_lowest
  end subroutine

  subroutine elsi_get_ovlp_ev_max(eh, ev_max)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: ev_max
    call require(eh%check_overlap .and. eh%overlap_highest > 0, "elsi_get_ovlp_ev_max: no overlap was checked")
    ev_max = eh%overlap_highest
  end subroutine

  !> The eigenvalues that the last density matrix was made of.
  subroutine elsi_get_eval(eh, eval)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: eval(eh%n_state)
    call require(allocated(eh%eval), "elsi_get_eval: no density matrix was computed from eigenvectors")
    eval = eh%eval
  end subroutine

  !> The occupation numbers of its states.
  subroutine elsi_get_occ(eh, occ)
    type(elsi_handle), intent(inout) :: eh
    real(dp), intent(out) :: occ(eh%n_state)
    call require(allocated(eh%occ), "elsi_get_occ: no density matrix was computed from eigenvectors")
    occ = eh%occ
  end subroutine

  subroutine require_density(eh, routine)
    type(elsi_handle), intent(in) :: eh
    character(*), intent(in) :: routine
    call require(eh%has_density, routine // ": no density matrix was computed")
  end subroutine

  subroutine require_handle(eh, routine)
    type(elsi_handle), intent(in) :: eh
    character(*), intent(in) :: routine
    call require(eh%ready, routine // ": the handle was not initialised by elsi_init")
  end subroutine

  subroutine require(good, message)
    logical, intent(in) :: good
    character(*), intent(in) :: message
    if (.not. good) call refuse(message)
  end subroutine

  !> A routine of the program or its libraries: ScaLAPACK is not linked.
  function library_routine(name, library) result(found)
    character(*), intent(in) :: name, library
    type(c_funptr) :: found
    found = c_dlsym(c_null_ptr, c_text(name))
    call require(c_associated(found), "the program has no " // library // " (" // name // &
      "): link it, as a shared library or with -rdynamic")
  end function
end module
