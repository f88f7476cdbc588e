! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What programs with arrays on GPUs need of the Fortran module, as far as it can be tested without one: matrices that
!> are pointers, here to memory of the host; streams and events; an operator's and a preconditioner's procedures for
!> GPUs.
program test_streams
  use, intrinsic :: iso_c_binding, only: sp => c_float, dp => c_double, c_loc, c_ptr, c_null_ptr, c_associated
  use checks
  use tessera
  implicit none
  integer, parameter :: n = 50
  type(tessera_runtime) :: runtime

  call repeat_random_numbers()
  call runtime%create(cores=2, gpus=0)
  call test_s()
  call test_d()
  call test_c()
  call test_z()
  call test_refused()
  call test_streams_and_events()
  call test_operators()
  call runtime%free()
  call end_checks()

contains

#define PASTE(a) a
#define OF_KIND(name) PASTE(name)_s
#define LETTER "s"
#define NUMBER real(sp)
#define REAL_NUMBER real(sp)
#define ELEMENT(x, y) real(x, sp)
#define ROUNDING 1e-4
#include "pointer_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_d
#define LETTER "d"
#define NUMBER real(dp)
#define REAL_NUMBER real(dp)
#define ELEMENT(x, y) real(x, dp)
#define ROUNDING 1e-11
#include "pointer_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_c
#define LETTER "c"
#define NUMBER complex(sp)
#define REAL_NUMBER real(sp)
#define ELEMENT(x, y) cmplx(x, y, sp)
#define ROUNDING 1e-4
#include "pointer_tests.inc"
#undef OF_KIND
#undef LETTER
#undef NUMBER
#undef REAL_NUMBER
#undef ELEMENT
#undef ROUNDING

#define OF_KIND(name) PASTE(name)_z
#define LETTER "z"
#define NUMBER complex(dp)
#define REAL_NUMBER real(dp)
#define ELEMENT(x, y) cmplx(x, y, dp)
#define ROUNDING 1e-11
#include "pointer_tests.inc"

  subroutine test_refused()
    real(dp), target :: a(4, 4), w(4)
    real(sp) :: single(4)
    type(cholesky_factor) :: factor
    integer :: status
    a = 0
    call eigensolve("c", 4, c_loc(a), w, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "scalar_type:", "values of another kind")
    call eigensolve("d", 4, c_loc(a), single, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "scalar_type:", "values in single precision")
    call eigensolve("d", 4, c_loc(a), w, lda=3, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "a:", "lda is too small")
    call eigensolve("d", 4, c_loc(a), w, c_loc(a), ldz=-1, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "z:", "ldz is negative")
    call eigensolve("d", -1, c_loc(a), w, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "n:", "n is negative")
    call eigensolve("d", 4, c_null_ptr, w, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "a", "no matrix")
    call factor%create("x", 4, c_loc(a), runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "type", "no type of a factor")
    call eigensolve_batch("x", 4, 1, c_loc(a), c_loc(w), runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "type", "no type of a batch")
    call eigensolve_batch("d", 4, 1, c_loc(a), c_loc(w), lda=3, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "a:", "lda of a batch is too small")
    call eigensolve_batch("d", 2, 2, c_loc(a), c_loc(w), stride_a=3, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "a", "matrices of a batch overlap")
  end subroutine

  subroutine expect(status, code, word, what)
    integer, intent(in) :: status, code
    character(*), intent(in) :: word, what
    call check(status == code .and. index(tessera_message(), word) > 0, what // ": " // tessera_message())
  end subroutine

  !> Where CUDA has no GPU, streams and events are errors that name them: so they have come to the library.
  subroutine test_streams_and_events()
    real(dp), target :: a(2, 2), w(2), batch(2, 2, 1), of_batch(2, 1), some
    type(completion) :: done
    integer :: status
    a = reshape([1.0_dp, 2.0_dp, 2.0_dp, 1.0_dp], [2, 2])
    batch(:, :, 1) = a
    if (there_is_a_gpu()) then    ! the default stream
      call eigensolve(a, w, runtime=runtime, stream=c_null_ptr)
      call check(all(abs(w - [-1.0_dp, 3.0_dp]) < 1e-12_dp), "arrays of the host, and a stream")
      return
    end if
    call eigensolve(a, w, runtime=runtime, status=status, stream=c_null_ptr)
    call expect(status, tessera_runtime_error, "stream", "the default stream")
    call eigensolve(a, w, runtime=runtime, status=status, wait_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "an event to wait for")
    w = 0
    call eigensolve(a, w, runtime=runtime, status=status, done_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "an event to record")
    call check(all(abs(w - [-1.0_dp, 3.0_dp]) < 1e-12_dp), "values before an event")
    call submit_eigensolve(done, a, w, runtime=runtime, status=status, stream=c_null_ptr)
    call expect(status, tessera_runtime_error, "stream", "submitted: the default stream")
    call submit_eigensolve(done, a, w, runtime=runtime, status=status, wait_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "submitted: an event to wait for")
    call submit_eigensolve(done, a, w, runtime=runtime, status=status, done_event=c_loc(some))
    call check(status == tessera_success, "submitted: an event to record")
    call done%wait(status)
    call expect(status, tessera_runtime_error, "event", "submitted: the event is recorded")
    call eigensolve("d", 2, c_loc(a), w, runtime=runtime, status=status, stream=c_null_ptr)
    call expect(status, tessera_runtime_error, "stream", "a pointer, and the default stream")
    call submit_eigensolve(done, "d", 2, c_loc(a), w, runtime=runtime, status=status, wait_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "a pointer, submitted: an event to wait for")
    call eigensolve_batch(batch, of_batch, runtime=runtime, status=status, stream=c_null_ptr)
    call expect(status, tessera_runtime_error, "stream", "a batch: the default stream")
    call eigensolve_batch(batch, of_batch, runtime=runtime, status=status, wait_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "a batch: an event to wait for")
    call submit_eigensolve_batch(done, batch, of_batch, runtime=runtime, status=status, done_event=c_loc(some))
    call check(status == tessera_success, "a batch, submitted: an event to record")
    call done%wait(status)
    call expect(status, tessera_runtime_error, "event", "a batch, submitted: the event is recorded")
    call eigensolve_batch("d", 2, 1, c_loc(a), c_loc(w), runtime=runtime, status=status, stream=c_null_ptr)
    call expect(status, tessera_runtime_error, "stream", "a batch of pointers: the default stream")
    call submit_eigensolve_batch(done, "d", 2, 1, c_loc(a), c_loc(w), runtime=runtime, status=status, &
      wait_event=c_loc(some))
    call expect(status, tessera_runtime_error, "event", "a batch of pointers, submitted: an event to wait for")
    call done%free()
  end subroutine

  logical function there_is_a_gpu()
#ifdef WITH_CUDA
    inquire (file="/dev/nvidiactl", exist=there_is_a_gpu)
#else
    there_is_a_gpu = .false.
#endif
  end function

  !> The Runtime has no GPU: procedures for GPUs are not called, and refused where they are the only ones.
  subroutine test_operators()
    type(linear_operator) :: a
    type(preconditioner) :: own
    type(lobpcg_options) :: options
    real(dp) :: values(2), vectors(2, n)
    integer :: status
    call operator_create(a, n, on_device=never_apply, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "GPU", "an operator for GPUs alone")
    call operator_create_single(a, n, on_device=never_apply, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "GPU", "an operator for GPUs alone, in single precision")
    call operator_create(a, n, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "host", "an operator without procedures")
    call preconditioner_create(own, on_device=never_precondition, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "GPU", "a preconditioner for GPUs alone")
    call preconditioner_create_single(own, on_device=never_precondition, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "GPU", "a preconditioner for GPUs alone, in single precision")
    call preconditioner_create(own, runtime=runtime, status=status)
    call expect(status, tessera_invalid_argument, "host", "a preconditioner without procedures")
    call operator_create(a, n, multiply_by_numbers, runtime=runtime, on_device=never_apply)
    call preconditioner_create(own, divide_by_numbers, runtime, on_device=never_precondition)
    options%iterations = 200
    call lobpcg(a, values, vectors, precondition=own, options=options)
    call check(all(abs(values - [1, 2]) < 1e-6_dp), "procedures for the host beside those for GPUs")
    call own%free()
    call a%free()
  end subroutine

  !> A = diag(1, 2, ..., n).
  recursive subroutine multiply_by_numbers(first_row, last_row, x, y, status)
    integer, intent(in) :: first_row, last_row
    real(dp), intent(in) :: x(:, :)
    real(dp), intent(inout) :: y(:, :)
    integer, intent(inout) :: status
    integer :: i
    do i = first_row, last_row
      y(:, i - first_row + 1) = i * x(:, i)
    end do
    if (size(x, 2) /= n) status = 1
  end subroutine

  recursive subroutine divide_by_numbers(first_row, r, w, status)
    integer, intent(in) :: first_row
    real(dp), intent(in) :: r(:, :)
    real(dp), intent(inout) :: w(:, :)
    integer, intent(inout) :: status
    integer :: i
    do i = 1, size(r, 2)
      w(:, i) = r(:, i) / (first_row + i - 1)
    end do
    if (first_row < 1) status = 1
  end subroutine

  recursive subroutine never_apply(first_row, last_row, columns, x, ldx, y, ldy, stream, status)
    integer, intent(in) :: first_row, last_row, columns, ldx, ldy
    type(c_ptr), intent(in) :: x, y, stream
    integer, intent(inout) :: status
    if (min(first_row, last_row, columns, ldx, ldy) > 0 .or. c_associated(x) .or. c_associated(y, stream)) status = 99
  end subroutine

  recursive subroutine never_precondition(first_row, rows, columns, r, ldr, w, ldw, stream, status)
    integer, intent(in) :: first_row, rows, columns, ldr, ldw
    type(c_ptr), intent(in) :: r, w, stream
    integer, intent(inout) :: status
    if (min(first_row, rows, columns, ldr, ldw) > 0 .or. c_associated(r) .or. c_associated(w, stream)) status = 99
  end subroutine
end program
