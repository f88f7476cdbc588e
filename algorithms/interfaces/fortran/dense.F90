! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Dense Hermitian eigenproblems A x = lambda x and A x = lambda B x.
module tessera_dense
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_null_ptr, c_loc, c_associated
  use tessera_base
  use tessera_eigen_bindings
  use tessera_runtimes
  use tessera_streams
  implicit none
  private
  public :: eigensolve, submit_eigensolve, block_cyclic, cholesky_factor, eigen_options, eigen_used, set_eigen_options
  public :: eigen_options_of

  integer, parameter, public :: solver_automatic = 0, solver_two_stage = 1, solver_one_stage = 2, solver_vendor = 3

  !> A 2-D block-cyclic distribution as ScaLAPACK has it, of a whole matrix.
  type :: block_cyclic
    integer :: block_rows = 64, block_cols = 64      !< of a block
    !> of the process grid; their product is at most the number of ranks
    integer :: grid_rows = 1, grid_cols = 1
    !> ranks go down the columns of the grid (BLACS 'C'), not along its rows
    logical :: column_major = .false.
    integer :: first_row = 0, first_col = 0          !< the process that has the first block (RSRC, CSRC)
  end type

  !> What is not set is the library's choice.
  type :: eigen_options
    integer, allocatable :: solver                   !< one of the constants solver_*
    integer, allocatable :: tile, band, update_width, slab_width, column_groups
    !> large products on GPUs in faster ways: of single precision from operands split into halves, of complex(8) by
    !> three real products; else .true.
    logical, allocatable :: split_products
  end type

  !> What a solve has done.
  type :: eigen_used
    integer :: first = 0                             !< number of the first eigenvalue in the whole spectrum, from 1
    real(dp) :: seconds = 0                          !< from the submission to the end
    type(eigen_options) :: options                   !< with everything resolved
  end type

  !> The Cholesky factor of B, kept for several problems. Freed by free or with the variable's scope.
  type :: cholesky_factor
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure, private :: create_s, create_d, create_c, create_z, create_pointer, factor_assign
    !> create(b, uplo, distribution, n, factorized, runtime, status): factorises b, of which the triangle `uplo` ('L',
    !> the default,
    !> or 'U') counts; with factorized=.true. that triangle holds the factor already. Collective.
    !> create(scalar_type, n, b, ldb, uplo, factorized, runtime, status): of a matrix that is a pointer, as in
    !> eigensolve.
    generic :: create => create_s, create_d, create_c, create_z, create_pointer
    procedure :: free => factor_free
    generic :: assignment(=) => factor_assign
    final :: factor_final
  end type

  !> eigensolve(a, w, z, b, uplo, lo, hi, above, upto, count, solver, factor, distribution, n, runtime, status,
  !>   options, used, stream, wait_event, done_event)
  !>
  !> Solves, and waits; collective. One of real(4), real(8), complex(4), complex(8) for all matrices.
  !> a(n, n) (more rows are allowed): Hermitian, of which the triangle `uplo` counts: 'L', the default, or 'U'. Not
  !> changed.
  !> w: the eigenvalues, ascending; as many as the range has, by value n.
  !> z: absent, or the eigenvectors, in its first columns; at least n rows, and as many columns as w has eigenvalues.
  !> b(n, n): absent, or Hermitian positive definite (A x = lambda B x); or `factor`, its kept Cholesky factor.
  !> lo, hi: eigenvalues number lo to hi, from 1, both included. above, upto: eigenvalues in (above, upto]. Not both.
  !> count: how many were found. solver: one of the constants solver_*. options: sizes of tiles and more. used: what the
  !> solve has done.
  !> distribution: a, b and z are the rank's parts of block-cyclic matrices of order n, which must be given then.
  !> stream, wait_event, done_event: a cudaStream_t and cudaEvent_t's. What was enqueued in `stream`, which may be a
  !> null pointer, and before `wait_event` was recorded is over before arrays are read; `done_event` is recorded in
  !> `stream` when the results are complete. On a machine without GPUs, and in a build without CUDA:
  !> tessera_runtime_error.
  !>
  !> eigensolve(scalar_type, n, a, w, z, b, lda, ldz, ldb, uplo, lo, hi, above, upto, count, solver, factor, runtime,
  !>   status, options, used, stream, wait_event, done_event)
  !>
  !> The same for matrices in the memory of a GPU in use, or of the host, as type(c_ptr), of one process. scalar_type:
  !> 's' or 'c' with w of real(4), 'd' or 'z' with w of real(8). lda, ldz, ldb: elements from one column to the next;
  !> absent: n. w is an array of the host.
  interface eigensolve
    module procedure solve_s, solve_d, solve_c, solve_z, solve_pointers_s, solve_pointers_d
  end interface

  !> submit_eigensolve(done, a, w, ...), submit_eigensolve(done, scalar_type, n, a, w, ...): the same, but returns at
  !> once. w and z are complete when done%wait() has returned; arrays must be contiguous, have the attribute target or
  !> asynchronous, and stay until then.
  interface submit_eigensolve
    module procedure submit_s, submit_d, submit_c, submit_z, submit_pointers_s, submit_pointers_d
  end interface

  !> An array of the caller's.
  type :: local_array
    type(c_ptr) :: data = c_null_ptr
    integer :: extents(2) = -1          ! -1: it is absent
  end type

  type :: request
    integer :: type = 0
    type(local_array) :: a, w, z, b
    type(caller_streams) :: on
  end type

contains

  !> What eigensolve and submit_eigensolve (with `done`) have in common.
  subroutine carry_out(call, uplo, lo, hi, above, upto, count, solver, factor, distribution, n, runtime, status, &
    options, used, done)
    type(request), intent(in) :: call
    character, optional, intent(in) :: uplo
    integer, optional, intent(in) :: lo, hi, solver, n
    real(dp), optional, intent(in) :: above, upto
    integer, optional, intent(out) :: count, status
    type(cholesky_factor), optional, intent(in) :: factor
    type(block_cyclic), optional, intent(in) :: distribution
    type(tessera_runtime), optional, intent(in) :: runtime
    type(eigen_options), optional, intent(in) :: options
    type(eigen_used), optional, intent(out) :: used
    type(completion), optional, intent(inout) :: done
    type(c_problem) :: problem
    type(c_options) :: chosen
    type(c_result) :: found
    type(c_distribution), target :: spread
    integer :: order, wanted
    integer(c_int) :: code
    if (present(count)) count = 0
    call c_options_init(chosen)
    call set_eigen_options(options, chosen)
    if (present(solver)) chosen%solver = int(solver, c_int)
    if (.not. order_of(call%a, "a", distribution, n, order, status)) return
    wanted = order
    if (present(lo) .or. present(hi)) then
      if (present(above) .or. present(upto)) then
        call refuse("lo or hi, and above or upto: expected one kind of range", status)
        return
      end if
      chosen%range = 1
      chosen%lo = 0
      chosen%hi = order
      if (present(lo)) chosen%lo = int(lo, c_int64_t) - 1
      if (present(hi)) chosen%hi = hi
      wanted = int(chosen%hi - chosen%lo)
    else if (present(above) .or. present(upto)) then
      chosen%range = 2
      chosen%above = -huge(1.0_dp)
      chosen%upto = huge(1.0_dp)
      if (present(above)) chosen%above = above
      if (present(upto)) chosen%upto = upto
    end if
    if (call%w%extents(1) < wanted) then
      call refuse("w: expected an element for each eigenvalue of the range", status)
      return
    end if
    call c_problem_init(problem)
    problem%type = int(call%type, c_int)
    if (present(distribution)) spread = in_c(distribution)
    problem%a = matrix_in(call%a, order, uplo)
    if (call%b%extents(1) >= 0) then
      if (.not. fits(call%b, "b", order, order, distribution, status)) return
      problem%b = matrix_in(call%b, order, uplo)
    end if
    if (present(factor)) problem%b_factor = factor%handle
    problem%values = call%w%data
    if (call%z%extents(1) >= 0) then
      if (.not. fits(call%z, "z", order, wanted, distribution, status)) return
      problem%vectors%data = call%z%data
      problem%vectors%ld = max(1, call%z%extents(1))
      problem%vectors%array_rows = order
      problem%vectors%array_cols = order
    end if
    if (present(distribution)) then
      problem%a%distribution = c_loc(spread)
      if (call%b%extents(1) >= 0) problem%b%distribution = c_loc(spread)
      if (call%z%extents(1) >= 0) problem%vectors%distribution = c_loc(spread)
    end if
    problem%stream = call%on%stream
    problem%use_stream = call%on%use_stream
    problem%wait_event = call%on%wait_event
    problem%done_event = call%on%done_event
    if (present(done)) then
      call done%free()
      code = c_submit(runtime_handle(runtime), problem, chosen, c_null_ptr, done%handle)
    else
      found%count = 0
      code = c_solve(runtime_handle(runtime), problem, chosen, found)
      if (present(count)) count = int(found%count)
      if (present(used) .and. code == 0) &
        used = eigen_used(int(found%first) + 1, found%seconds, eigen_options_of(found%used))
    end if
    call finish(code, status)
  end subroutine

  subroutine set_eigen_options(options, chosen)
    type(eigen_options), optional, intent(in) :: options
    type(c_options), intent(inout) :: chosen
    if (.not. present(options)) return
    if (allocated(options%solver)) chosen%solver = int(options%solver, c_int)
    if (allocated(options%tile)) chosen%tile = options%tile
    if (allocated(options%band)) chosen%band = options%band
    if (allocated(options%update_width)) chosen%update_width = options%update_width
    if (allocated(options%slab_width)) chosen%slab_width = options%slab_width
    if (allocated(options%column_groups)) chosen%column_groups = options%column_groups
    if (allocated(options%split_products)) chosen%split_products = merge(1, 0, options%split_products)
  end subroutine

  function eigen_options_of(chosen) result(options)
    type(c_options), intent(in) :: chosen
    type(eigen_options) :: options
    options%solver = int(chosen%solver)
    options%tile = int(chosen%tile)
    options%band = int(chosen%band)
    options%update_width = int(chosen%update_width)
    options%slab_width = int(chosen%slab_width)
    options%column_groups = int(chosen%column_groups)
    options%split_products = chosen%split_products /= 0
  end function

  subroutine factorise(self, type, b, uplo, distribution, n, factorized, runtime, status)
    class(cholesky_factor), intent(inout) :: self
    integer, intent(in) :: type
    type(local_array), intent(in) :: b
    character, optional, intent(in) :: uplo
    type(block_cyclic), optional, intent(in) :: distribution
    integer, optional, intent(in) :: n
    logical, optional, intent(in) :: factorized
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(c_matrix_in) :: matrix
    type(c_distribution), target :: spread
    logical :: given
    integer :: order
    call self%free()
    if (.not. order_of(b, "b", distribution, n, order, status)) return
    matrix = matrix_in(b, order, uplo)
    if (present(distribution)) then
      spread = in_c(distribution)
      matrix%distribution = c_loc(spread)
    end if
    given = .false.
    if (present(factorized)) given = factorized
    if (given) then
      call finish(c_factor_from(runtime_handle(runtime), int(type, c_int), matrix, self%handle), status)
    else
      call finish(c_factor_create(runtime_handle(runtime), int(type, c_int), matrix, self%handle), status)
    end if
  end subroutine

  !> As `create` has it for matrices that are pointers.
  subroutine create_pointer(self, scalar_type, n, b, ldb, uplo, factorized, runtime, status)
    class(cholesky_factor), intent(inout) :: self
    character, intent(in) :: scalar_type
    integer, intent(in) :: n
    type(c_ptr), intent(in) :: b
    integer, optional, intent(in) :: ldb
    character, optional, intent(in) :: uplo
    logical, optional, intent(in) :: factorized
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    call factorise(self, iachar(scalar_type), array_at(b, n, ldb), uplo, n=n, factorized=factorized, &
      runtime=runtime, status=status)
  end subroutine

  function request_at(scalar_type, n, a, z, b, lda, ldz, ldb) result(call)
    character, intent(in) :: scalar_type
    integer, intent(in) :: n
    type(c_ptr), intent(in) :: a
    type(c_ptr), optional, intent(in) :: z, b
    integer, optional, intent(in) :: lda, ldz, ldb
    type(request) :: call
    call%type = iachar(scalar_type)
    call%a = array_at(a, n, lda)
    call%z = array_at(z, n, ldz)
    call%b = array_at(b, n, ldb)
  end function

  !> Columns of n rows; how many there are nobody knows.
  function array_at(data, n, ld) result(array)
    type(c_ptr), optional, intent(in) :: data
    integer, intent(in) :: n
    integer, optional, intent(in) :: ld
    type(local_array) :: array
    if (.not. present(data)) return
    array = local_array(data, [n, huge(n)])
    if (present(ld)) array%extents(1) = max(0, ld)
  end function

  function is_one_of(scalar_type, letters, status) result(good)
    character, intent(in) :: scalar_type
    character(*), intent(in) :: letters
    integer, optional, intent(out) :: status
    logical :: good
    good = index(letters, scalar_type) > 0
    if (.not. good) call refuse("scalar_type: " // scalar_type // ", expected, with w of this kind, one of " // &
      letters, status)
  end function

  !> Finds the order of a matrix; false, with `status`, if it has none.
  function order_of(array, name, distribution, n, order, status) result(good)
    type(local_array), intent(in) :: array
    character(*), intent(in) :: name
    type(block_cyclic), optional, intent(in) :: distribution
    integer, optional, intent(in) :: n
    integer, intent(out) :: order
    integer, optional, intent(out) :: status
    logical :: good
    order = array%extents(2)
    if (present(n)) order = n
    good = order >= 0 .and. (present(n) .or. .not. present(distribution))
    if (.not. good) then
      call refuse("n: expected the order of the matrices", status)
    else
      good = fits(array, name, order, order, distribution, status)
    end if
  end function

  !> Whether an array of one process is large enough; block-cyclic ones are for the library to check.
  function fits(array, name, rows, cols, distribution, status) result(good)
    type(local_array), intent(in) :: array
    character(*), intent(in) :: name
    integer, intent(in) :: rows, cols
    type(block_cyclic), optional, intent(in) :: distribution
    integer, optional, intent(out) :: status
    logical :: good
    good = present(distribution) .or. (array%extents(1) >= rows .and. array%extents(2) >= cols)
    if (.not. good) call refuse(name // ": expected more rows or columns", status)
  end function

  function matrix_in(array, order, uplo) result(matrix)
    type(local_array), intent(in) :: array
    integer, intent(in) :: order
    character, optional, intent(in) :: uplo
    type(c_matrix_in) :: matrix
    matrix%data = array%data
    matrix%order = order
    matrix%ld = max(1, array%extents(1))
    if (present(uplo)) matrix%uplo = iachar(uplo)
    matrix%array_rows = order
    matrix%array_cols = order
  end function

  function in_c(distribution) result(spread)
    type(block_cyclic), intent(in) :: distribution
    type(c_distribution) :: spread
    spread%block_rows = distribution%block_rows
    spread%block_cols = distribution%block_cols
    spread%grid_rows = int(distribution%grid_rows, c_int)
    spread%grid_cols = int(distribution%grid_cols, c_int)
    spread%column_major = merge(1_c_int, 0_c_int, distribution%column_major)
    spread%first_row = int(distribution%first_row, c_int)
    spread%first_col = int(distribution%first_col, c_int)
  end function

  !> Frees it. Nothing happens if there is none.
  subroutine factor_free(self)
    class(cholesky_factor), intent(inout) :: self
    if (c_associated(self%handle)) call c_factor_free(self%handle)
    self%handle = c_null_ptr
  end subroutine

  subroutine factor_final(self)
    type(cholesky_factor), intent(inout) :: self
    call self%free()
  end subroutine

  subroutine factor_assign(self, other)
    class(cholesky_factor), intent(inout) :: self
    class(cholesky_factor), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) call refuse("a Cholesky factor cannot be copied")
  end subroutine

#define PASTE(a) a
#define OF_KIND(name) PASTE(name)_s
#define NUMBER real(sp)
#define REAL_NUMBER real(sp)
#define LETTER "s"
#include "dense.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_d
#define NUMBER real(dp)
#define REAL_NUMBER real(dp)
#define LETTER "d"
#include "dense.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_c
#define NUMBER complex(sp)
#define REAL_NUMBER real(sp)
#define LETTER "c"
#include "dense.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_z
#define NUMBER complex(dp)
#define REAL_NUMBER real(dp)
#define LETTER "z"
#include "dense.inc"
#undef OF_KIND
#undef REAL_NUMBER

#define OF_KIND(name) PASTE(name)_s
#define REAL_NUMBER real(sp)
#define LETTERS "sc"
#include "dense_pointers.inc"
#undef OF_KIND
#undef REAL_NUMBER
#undef LETTERS

#define OF_KIND(name) PASTE(name)_d
#define REAL_NUMBER real(dp)
#define LETTERS "dz"
#include "dense_pointers.inc"
end module
