! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/eigensolve_batch.h, for the module tessera_dense_batch.
module tessera_batch_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double

  type, bind(c) :: c_batch_in
    type(c_ptr) :: data
    integer(c_int64_t) :: order, count, ld, stride
    integer(c_int) :: uplo
  end type

  type, bind(c) :: c_batch_out
    type(c_ptr) :: data
    integer(c_int64_t) :: ld, stride
  end type

  type, bind(c) :: c_batch_problem
    integer(c_int) :: type
    type(c_batch_in) :: a
    type(c_ptr) :: values
    type(c_batch_out) :: vectors
    type(c_ptr) :: info, stream, wait_event, done_event
    integer(c_int) :: use_stream
  end type

  interface
    subroutine c_batch_problem_init(problem) bind(c, name="tessera_eigen_batch_problem_init")
      import :: c_batch_problem
      type(c_batch_problem), intent(out) :: problem
    end subroutine
    function c_solve_batch(runtime, problem, options, found) bind(c, name="tessera_eigensolve_batch") result(code)
      import :: c_ptr, c_batch_problem, c_int
      type(c_ptr), value :: runtime
      type(c_batch_problem), intent(in) :: problem
      type(c_ptr), value :: options, found
      integer(c_int) :: code
    end function
    function c_submit_batch(runtime, problem, options, found, done) bind(c, name="tessera_submit_eigensolve_batch") &
      result(code)
      import :: c_ptr, c_batch_problem, c_int
      type(c_ptr), value :: runtime
      type(c_batch_problem), intent(in) :: problem
      type(c_ptr), value :: options, found
      type(c_ptr), intent(out) :: done
      integer(c_int) :: code
    end function
  end interface
end module
