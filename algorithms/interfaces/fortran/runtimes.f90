! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The Runtime, and computations that were submitted.
module tessera_runtimes
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_char, c_null_ptr, c_null_funptr, c_funptr, c_funloc, c_loc, &
    c_f_pointer, &
    c_associated
  use tessera_base
  use tessera_objects, only: kept_object
  implicit none
  private
  public :: tessera_runtime, completion, log_procedure, runtime_handle, tessera_end_default_runtime

  !> Owns StarPU while it lives: one at a time in a process. Ended by free or with the variable's scope; a variable of
  !> the main
  !> program has no such end, so that free must be called. With MPI that must be before MPI_Finalize.
  type :: tessera_runtime
    private
    type(c_ptr) :: handle = c_null_ptr
    type(log_holder), pointer :: log => null()
  contains
    procedure :: create => runtime_create
    procedure :: free => runtime_free
    procedure :: rank => runtime_rank
    procedure :: size => runtime_size
    procedure :: workers => runtime_workers
    procedure :: text => runtime_text
    procedure, private :: runtime_assign
    generic :: assignment(=) => runtime_assign
    final :: runtime_final
  end type

  !> A computation that was submitted. Its arrays and matrices must stay, and hold what they held, until wait has
  !> returned.
  type :: completion
    type(c_ptr) :: handle = c_null_ptr   !< the library's own; not for programs
    class(kept_object), pointer :: kept => null()  !< what must stay until the computation is over; not for programs
  contains
    procedure :: test => completion_test
    procedure :: wait => completion_wait
    procedure :: free => completion_free
    procedure, private :: completion_assign
    generic :: assignment(=) => completion_assign
    final :: completion_final
  end type

  abstract interface
    !> Takes a message of the library. It may be called from any thread.
    subroutine log_procedure(level, message)
      integer, intent(in) :: level           !< 0 debug, 1 information, 2 warning, 3 error
      character(*), intent(in) :: message
    end subroutine
  end interface

  type :: log_holder
    procedure(log_procedure), pointer, nopass :: log => null()
  end type

  type, bind(c) :: c_runtime_options
    integer(c_int) :: cores, gpus, hybrid, synchronous, bind
    type(c_ptr) :: scheduler, trace_directory
    type(c_funptr) :: log
    type(c_ptr) :: log_user
  end type

  interface
    subroutine c_options_init(options) bind(c, name="tessera_runtime_options_init")
      import :: c_runtime_options
      type(c_runtime_options), intent(out) :: options
    end subroutine
    function c_create(options, runtime) bind(c, name="tessera_runtime_create") result(code)
      import :: c_runtime_options, c_ptr, c_int
      type(c_runtime_options), intent(in) :: options
      type(c_ptr), intent(out) :: runtime
      integer(c_int) :: code
    end function
    function c_create_on(communicator, options, runtime) bind(c, name="tessera_runtime_create_on") result(code)
      import :: c_runtime_options, c_ptr, c_int
      integer(c_int), value :: communicator
      type(c_runtime_options), intent(in) :: options
      type(c_ptr), intent(out) :: runtime
      integer(c_int) :: code
    end function
    subroutine c_free(runtime) bind(c, name="tessera_runtime_free")
      import :: c_ptr
      type(c_ptr), value :: runtime
    end subroutine
    subroutine c_end_default() bind(c, name="tessera_end_default_runtime")
    end subroutine
    function c_rank(runtime, rank, ranks) bind(c, name="tessera_runtime_rank") result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: runtime
      integer(c_int), intent(out) :: rank, ranks
      integer(c_int) :: code
    end function
    function c_workers(runtime, cpus, gpus) bind(c, name="tessera_runtime_workers") result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: runtime
      integer(c_int), intent(out) :: cpus, gpus
      integer(c_int) :: code
    end function
    function c_runtime_text(runtime, what, text) bind(c, name="tessera_runtime_text") result(code)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: runtime
      character(kind=c_char), intent(in) :: what(*)
      type(c_ptr), intent(out) :: text
      integer(c_int) :: code
    end function
    function c_test(handle, done) bind(c, name="tessera_test") result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: handle
      integer(c_int), intent(out) :: done
      integer(c_int) :: code
    end function
    function c_wait(handle) bind(c, name="tessera_wait") result(code)
      import :: c_ptr, c_int
      type(c_ptr), value :: handle
      integer(c_int) :: code
    end function
    subroutine c_completion_free(handle) bind(c, name="tessera_completion_free")
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
  end interface

contains

  !> Starts StarPU. One that `self` owned before is ended first. Collective over the communicator.
  !> @param cores CPU workers; absent: chosen
  !> @param gpus GPUs; absent: all visible ones, 0: none
  !> @param communicator the caller's MPI communicator (of module mpi; with mpi_f08 comm%MPI_VAL); absent: this process
  !> alone
  !> @param hybrid CPUs run, too, what GPUs can
  !> @param scheduler a policy of StarPU's
  !> @param trace_directory where traces go
  !> @param log takes messages; absent: the library prints nothing
  subroutine runtime_create(self, cores, gpus, communicator, hybrid, scheduler, trace_directory, log, status)
    class(tessera_runtime), intent(inout) :: self
    integer, optional, intent(in) :: cores, gpus, communicator
    logical, optional, intent(in) :: hybrid
    character(*), optional, intent(in) :: scheduler, trace_directory
    procedure(log_procedure), optional :: log
    integer, optional, intent(out) :: status
    type(c_runtime_options) :: options
    character(kind=c_char), allocatable, target :: policy(:), directory(:)
    integer(c_int) :: code
    call self%free()
    call c_options_init(options)
    if (present(cores)) options%cores = int(cores, c_int)
    if (present(gpus)) options%gpus = int(gpus, c_int)
    if (present(hybrid)) options%hybrid = merge(1_c_int, 0_c_int, hybrid)
    if (present(scheduler)) then
      policy = c_text(scheduler)
      options%scheduler = c_loc(policy)
    end if
    if (present(trace_directory)) then
      directory = c_text(trace_directory)
      options%trace_directory = c_loc(directory)
    end if
    if (present(log)) then
      allocate (self%log)
      self%log%log => log
      options%log = c_funloc(pass_message)
      options%log_user = c_loc(self%log)
    end if
    if (present(communicator)) then
      code = c_create_on(int(communicator, c_int), options, self%handle)
    else
      code = c_create(options, self%handle)
    end if
    call finish(code, status)
  end subroutine

  recursive subroutine pass_message(level, message, user) bind(c, name="")
    integer(c_int), value :: level
    type(c_ptr), value :: message, user
    type(log_holder), pointer :: holder
    call c_f_pointer(user, holder)
    call holder%log(int(level), text_of(message))
  end subroutine

  !> Ends it; collective. Matrices and completions must have been freed.
  subroutine runtime_free(self)
    class(tessera_runtime), intent(inout) :: self
    if (c_associated(self%handle)) call c_free(self%handle)
    self%handle = c_null_ptr
    if (associated(self%log)) deallocate (self%log)
  end subroutine

  subroutine runtime_final(self)
    type(tessera_runtime), intent(inout) :: self
    call self%free()
  end subroutine

  subroutine runtime_assign(self, other)
    class(tessera_runtime), intent(inout) :: self
    class(tessera_runtime), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) call refuse("a Runtime cannot be copied")
  end subroutine

  !> Ends the Runtime that procedures without one have started, if there is one.
  subroutine tessera_end_default_runtime()
    call c_end_default()
  end subroutine

  !> Of this process, from 0.
  function runtime_rank(self) result(rank)
    class(tessera_runtime), intent(in) :: self
    integer :: rank
    integer(c_int) :: mine, all
    call finish(c_rank(self%handle, mine, all))
    rank = int(mine)
  end function

  !> The number of ranks.
  function runtime_size(self) result(ranks)
    class(tessera_runtime), intent(in) :: self
    integer :: ranks
    integer(c_int) :: mine, all
    call finish(c_rank(self%handle, mine, all))
    ranks = int(all)
  end function

  !> Workers of this rank.
  subroutine runtime_workers(self, cpus, gpus, status)
    class(tessera_runtime), intent(in) :: self
    integer, intent(out) :: cpus, gpus
    integer, optional, intent(out) :: status
    integer(c_int) :: on_cpus, on_gpus, code
    on_cpus = 0
    on_gpus = 0
    code = c_workers(self%handle, on_cpus, on_gpus)
    cpus = int(on_cpus)
    gpus = int(on_gpus)
    call finish(code, status)
  end subroutine

  !> What was found and decided: "version", "commit", "starpu_version", "mpi_version", "blas", "scheduler", "host",
  !> "cpu_model",
  !> "gpu_model", "performance_models". With a failure empty.
  function runtime_text(self, what, status) result(text)
    class(tessera_runtime), intent(in) :: self
    character(*), intent(in) :: what
    integer, optional, intent(out) :: status
    character(:), allocatable :: text
    type(c_ptr) :: found
    integer(c_int) :: code
    found = c_null_ptr
    code = c_runtime_text(self%handle, c_text(what), found)
    text = ""
    if (code == 0) text = text_of(found)
    call finish(code, status)
  end function

  !> What the C interface takes: a null pointer for an absent Runtime.
  function runtime_handle(runtime) result(handle)
    type(tessera_runtime), optional, intent(in) :: runtime
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (present(runtime)) handle = runtime%handle
  end function

  !> Whether the computation is over on this rank; does not wait.
  function completion_test(self, status) result(done)
    class(completion), intent(in) :: self
    integer, optional, intent(out) :: status
    logical :: done
    integer(c_int) :: answer, code
    answer = 0
    code = c_test(self%handle, answer)
    done = answer /= 0
    call finish(code, status)
  end function

  !> Waits; results are there then. `status` is how the computation has ended. Collective.
  subroutine completion_wait(self, status)
    class(completion), intent(inout) :: self
    integer, optional, intent(out) :: status
    call finish(c_wait(self%handle), status)
  end subroutine

  !> Waits, if that was not done, and frees.
  subroutine completion_free(self)
    class(completion), intent(inout) :: self
    if (c_associated(self%handle)) call c_completion_free(self%handle)
    self%handle = c_null_ptr
    if (associated(self%kept)) deallocate (self%kept)
  end subroutine

  subroutine completion_final(self)
    type(completion), intent(inout) :: self
    call self%free()
  end subroutine

  subroutine completion_assign(self, other)
    class(completion), intent(inout) :: self
    class(completion), intent(in) :: other
    if (c_associated(self%handle) .or. c_associated(other%handle)) call refuse("a completion cannot be copied")
  end subroutine
end module
