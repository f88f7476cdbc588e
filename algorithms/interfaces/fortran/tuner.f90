! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The fastest options of the dense solver, found while a program solves its own problems.
module tessera_tuner
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_double, c_ptr, c_char
  use tessera_base
  use tessera_objects
  use tessera_runtimes
  use tessera_eigen_bindings
  use tessera_dense
  implicit none
  private
  public :: eigen_tuner

  !> A loop solves with the options of next, and records the seconds that it took; when all candidates have been
  !> tried, next gives the fastest.
  type, extends(library_object) :: eigen_tuner
  contains
    procedure :: create => tuner_create
    procedure :: next => tuner_next
    procedure :: record => tuner_record
    procedure :: best => tuner_best
    procedure :: save => tuner_save
    procedure :: load => tuner_load
  end type

  interface
    function c_tuner_create(runtime, type, order, vectors, fixed, tuner) bind(c, name="tessera_eigen_tuner_create") &
      result(code)
      import
      type(c_ptr), value :: runtime
      integer(c_int), value :: type, vectors
      integer(c_int64_t), value :: order
      type(c_options), intent(in) :: fixed
      type(c_ptr), intent(out) :: tuner
      integer(c_int) :: code
    end function
    function c_tuner_next(tuner, options) bind(c, name="tessera_eigen_tuner_next") result(code)
      import
      type(c_ptr), value :: tuner
      type(c_options), intent(inout) :: options
      integer(c_int) :: code
    end function
    function c_tuner_record(tuner, seconds) bind(c, name="tessera_eigen_tuner_record") result(code)
      import
      type(c_ptr), value :: tuner
      real(c_double), value :: seconds
      integer(c_int) :: code
    end function
    function c_tuner_best(tuner, options, seconds, candidates, tried) bind(c, name="tessera_eigen_tuner_best") &
      result(code)
      import
      type(c_ptr), value :: tuner
      type(c_options), intent(inout) :: options
      real(c_double), intent(inout) :: seconds
      integer(c_int64_t), intent(inout) :: candidates, tried
      integer(c_int) :: code
    end function
    function c_tuner_save(tuner, path) bind(c, name="tessera_eigen_tuner_save") result(code)
      import
      type(c_ptr), value :: tuner
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function
    function c_tuner_load(tuner, path) bind(c, name="tessera_eigen_tuner_load") result(code)
      import
      type(c_ptr), value :: tuner
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int) :: code
    end function
    subroutine c_tuner_free(tuner) bind(c, name="tessera_eigen_tuner_free")
      import
      type(c_ptr), value :: tuner
    end subroutine
  end interface

contains

  !> For problems of a scalar type ('s', 'd', 'c', 'z') and an order.
  !> @param vectors with eigenvectors, the default
  !> @param fixed what is not tried
  subroutine tuner_create(self, scalar_type, order, vectors, fixed, runtime, status)
    class(eigen_tuner), intent(inout) :: self
    character, intent(in) :: scalar_type
    integer, intent(in) :: order
    logical, optional, intent(in) :: vectors
    type(eigen_options), optional, intent(in) :: fixed
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(c_options) :: chosen
    integer(c_int) :: with_vectors
    with_vectors = 1
    if (present(vectors)) with_vectors = merge(1_c_int, 0_c_int, vectors)
    call c_options_init(chosen)
    call set_eigen_options(fixed, chosen)
    call self%own(c_tuner_free)
    call finish(c_tuner_create(runtime_handle(runtime), iachar(scalar_type, c_int), int(order, c_int64_t), &
      with_vectors, &
      chosen, self%handle), status)
  end subroutine

  !> What the next solve is to take.
  subroutine tuner_next(self, options, status)
    class(eigen_tuner), intent(in) :: self
    type(eigen_options), intent(out) :: options
    integer, optional, intent(out) :: status
    type(c_options) :: chosen
    integer(c_int) :: code
    call c_options_init(chosen)
    code = c_tuner_next(self%handle, chosen)
    if (code == 0) options = eigen_options_of(chosen)
    call finish(code, status)
  end subroutine

  !> Collective.
  !> @param seconds those of a solve with the options of next; huge(seconds) where it has failed
  subroutine tuner_record(self, seconds, status)
    class(eigen_tuner), intent(inout) :: self
    real(dp), intent(in) :: seconds
    integer, optional, intent(out) :: status
    call finish(c_tuner_record(self%handle, seconds), status)
  end subroutine

  !> The fastest so far, its seconds (infinity before the first), how many candidates there are and were tried.
  subroutine tuner_best(self, options, seconds, candidates, tried, status)
    class(eigen_tuner), intent(in) :: self
    type(eigen_options), optional, intent(out) :: options
    real(dp), optional, intent(out) :: seconds
    integer, optional, intent(out) :: candidates, tried, status
    type(c_options) :: chosen
    real(c_double) :: fastest
    integer(c_int64_t) :: all, so_far
    integer(c_int) :: code
    call c_options_init(chosen)
    fastest = 0
    all = 0
    so_far = 0
    code = c_tuner_best(self%handle, chosen, fastest, all, so_far)
    if (present(options) .and. code == 0) options = eigen_options_of(chosen)
    if (present(seconds)) seconds = fastest
    if (present(candidates)) candidates = int(all)
    if (present(tried)) tried = int(so_far)
    call finish(code, status)
  end subroutine

  !> To a file. Collective.
  subroutine tuner_save(self, path, status)
    class(eigen_tuner), intent(in) :: self
    character(*), intent(in) :: path
    integer, optional, intent(out) :: status
    call finish(c_tuner_save(self%handle, c_text(path)), status)
  end subroutine

  !> On from a file. Collective.
  subroutine tuner_load(self, path, status)
    class(eigen_tuner), intent(inout) :: self
    character(*), intent(in) :: path
    integer, optional, intent(out) :: status
    call finish(c_tuner_load(self%handle, c_text(path)), status)
  end subroutine
end module
