! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Many small dense Hermitian eigenproblems of one order at once.
module tessera_dense_batch
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_null_ptr, c_loc
  use tessera_base
  use tessera_batch_bindings
  use tessera_runtimes
  use tessera_streams
  implicit none
  private
  public :: eigensolve_batch, submit_eigensolve_batch

  !> The largest order of the matrices of a batch: larger ones are for eigensolve.
  integer, parameter, public :: max_batch_order = 2048

  !> eigensolve_batch(a, w, z, uplo, info, runtime, status, stream, wait_event, done_event)
  !>
  !> Solves, and waits; for a process of one rank. One of real(4), real(8), complex(4), complex(8) for all matrices.
  !> a(n, n, count) (more rows are allowed): Hermitian matrices, of which the triangle `uplo` counts: 'L', the default,
  !> or 'U'. Not changed.
  !> w(n, count): the eigenvalues of each matrix, ascending; NaN of a matrix that has failed.
  !> z(n, n, count) (more rows are allowed): absent, or the eigenvectors: z(:, j, k) belongs to w(j, k).
  !> info(count): absent, or what has become of each matrix: 0; -j: its column j has a NaN or an infinity; +j: its
  !> eigenvalue number j has not converged.
  !> A matrix fails by itself: `status` is that of the first one that has, tessera_index_of_failure() its number, and
  !> the others have their results all the same.
  !> stream, wait_event, done_event: as in eigensolve.
  !>
  !> eigensolve_batch(scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, uplo, info, runtime, status, stream,
  !>   wait_event, done_event)
  !>
  !> The same for arrays in the memory of a GPU in use, or of the host, as type(c_ptr), w too; info is an array of the
  !> host. scalar_type: 's', 'd', 'c' or 'z'. lda, ldz: elements from one column to the next; absent: n. stride_a,
  !> stride_z: from one matrix to the next; absent: n lda, n ldz.
  interface eigensolve_batch
    module procedure solve_s, solve_d, solve_c, solve_z, solve_pointers
  end interface

  !> submit_eigensolve_batch(done, a, w, ...), submit_eigensolve_batch(done, scalar_type, n, count, a, w, ...): the
  !> same, but returns at once. w, z and info are complete when done%wait() has returned; arrays must be contiguous,
  !> have the attribute target or asynchronous, and stay until then.
  interface submit_eigensolve_batch
    module procedure submit_s, submit_d, submit_c, submit_z, submit_pointers
  end interface

  !> Arrays of the caller's, and their extents; -1: it is absent.
  type :: request
    integer :: type = 0
    type(c_ptr) :: a = c_null_ptr, w = c_null_ptr, z = c_null_ptr, info = c_null_ptr
    integer :: of_a(3) = -1, of_w(2) = -1, of_z(3) = -1, of_info = -1
    integer :: stride_a = -1, stride_z = -1    ! -1: one matrix is directly after the other
    type(caller_streams) :: on
  end type

contains

  !> What eigensolve_batch and submit_eigensolve_batch (with `done`) have in common.
  subroutine carry_out(call, uplo, runtime, status, done)
    type(request), intent(in) :: call
    character, optional, intent(in) :: uplo
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(completion), optional, intent(inout) :: done
    type(c_batch_problem) :: problem
    integer :: n, count
    integer(c_int) :: code
    n = call%of_a(2)
    count = call%of_a(3)
    if (call%of_a(1) < n) then
      call refuse("a: expected a(n, n, count)", status)
      return
    end if
    if (call%of_w(1) /= n .or. call%of_w(2) < count) then
      call refuse("w: expected w(n, count)", status)
      return
    end if
    if (call%of_z(1) >= 0 .and. (call%of_z(1) < n .or. call%of_z(2) /= n .or. call%of_z(3) < count)) then
      call refuse("z: expected z(n, n, count)", status)
      return
    end if
    if (call%of_info >= 0 .and. call%of_info < count) then
      call refuse("info: expected info(count)", status)
      return
    end if
    call c_batch_problem_init(problem)
    problem%type = int(call%type, c_int)
    problem%a%data = call%a
    problem%a%order = n
    problem%a%count = count
    problem%a%ld = max(1, call%of_a(1))
    problem%a%stride = problem%a%ld * n
    if (call%stride_a >= 0) problem%a%stride = call%stride_a
    if (present(uplo)) problem%a%uplo = iachar(uplo)
    problem%values = call%w
    if (call%of_z(1) >= 0) then
      problem%vectors%data = call%z
      problem%vectors%ld = max(1, call%of_z(1))
      problem%vectors%stride = problem%vectors%ld * n
      if (call%stride_z >= 0) problem%vectors%stride = call%stride_z
    end if
    if (call%of_info >= 0) problem%info = call%info
    problem%stream = call%on%stream
    problem%use_stream = call%on%use_stream
    problem%wait_event = call%on%wait_event
    problem%done_event = call%on%done_event
    if (present(done)) then
      call done%free()
      code = c_submit_batch(runtime_handle(runtime), problem, c_null_ptr, c_null_ptr, done%handle)
    else
      code = c_solve_batch(runtime_handle(runtime), problem, c_null_ptr, c_null_ptr)
    end if
    call finish(code, status)
  end subroutine

  subroutine solve_pointers(scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, uplo, info, runtime, status, &
    stream, wait_event, done_event)
    character, intent(in) :: scalar_type
    integer, intent(in) :: n, count
    type(c_ptr), intent(in) :: a, w
    type(c_ptr), optional, intent(in) :: z
    integer, optional, intent(in) :: lda, stride_a, ldz, stride_z
    character, optional, intent(in) :: uplo
    integer(c_int), contiguous, target, optional, intent(inout) :: info(:)
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(c_ptr), optional, intent(in) :: stream, wait_event, done_event
    type(request) :: call
    call = request_at(scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, info)
    call%on = streams_of(stream, wait_event, done_event)
    call carry_out(call, uplo, runtime, status)
  end subroutine

  subroutine submit_pointers(done, scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, uplo, info, runtime, &
    status, stream, wait_event, done_event)
    type(completion), intent(inout) :: done
    character, intent(in) :: scalar_type
    integer, intent(in) :: n, count
    type(c_ptr), intent(in) :: a, w
    type(c_ptr), optional, intent(in) :: z
    integer, optional, intent(in) :: lda, stride_a, ldz, stride_z
    character, optional, intent(in) :: uplo
    integer(c_int), contiguous, target, asynchronous, optional, intent(inout) :: info(:)
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(c_ptr), optional, intent(in) :: stream, wait_event, done_event
    type(request) :: call
    call = request_at(scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, info)
    call%on = streams_of(stream, wait_event, done_event)
    call carry_out(call, uplo, runtime, status, done)
  end subroutine

  function request_at(scalar_type, n, count, a, w, z, lda, stride_a, ldz, stride_z, info) result(call)
    character, intent(in) :: scalar_type
    integer, intent(in) :: n, count
    type(c_ptr), intent(in) :: a, w
    type(c_ptr), optional, intent(in) :: z
    integer, optional, intent(in) :: lda, stride_a, ldz, stride_z
    integer(c_int), contiguous, target, optional, intent(in) :: info(:)
    type(request) :: call
    call%type = iachar(scalar_type)
    call%a = a
    call%of_a = [n, n, count]
    if (present(lda)) call%of_a(1) = lda
    if (present(stride_a)) call%stride_a = max(0, stride_a)
    call%w = w
    call%of_w = [n, count]
    if (present(z)) then
      call%z = z
      call%of_z = [n, n, count]
      if (present(ldz)) call%of_z(1) = max(0, ldz)
      if (present(stride_z)) call%stride_z = max(0, stride_z)
    end if
    if (present(info)) then
      call%info = c_loc(info)
      call%of_info = size(info)
    end if
  end function

#define PASTE(a) a
#define OF_KIND(name) PASTE(name)_s
#define NUMBER real(sp)
#define REAL_NUMBER real(sp)
#define LETTER "s"
#include "dense_batch.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_d
#define NUMBER real(dp)
#define REAL_NUMBER real(dp)
#define LETTER "d"
#include "dense_batch.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_c
#define NUMBER complex(sp)
#define REAL_NUMBER real(sp)
#define LETTER "c"
#include "dense_batch.inc"
#undef OF_KIND
#undef NUMBER
#undef REAL_NUMBER
#undef LETTER

#define OF_KIND(name) PASTE(name)_z
#define NUMBER complex(dp)
#define REAL_NUMBER real(dp)
#define LETTER "z"
#include "dense_batch.inc"
end module
