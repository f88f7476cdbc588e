! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> The Runtime of the Fortran module: options, its end, messages of failures.
program test_runtime
  use checks
  use tessera
  implicit none
  type(tessera_runtime) :: runtime
  integer :: status, cpus, gpus

  call runtime%create(cores=2, gpus=0, log=keep_quiet)
  call check(runtime%rank() == 0, "rank")
  call check(runtime%size() == 1, "size")
  call runtime%workers(cpus, gpus)
  call check(cpus == 2 .and. gpus == 0, "workers")
  call check(len(runtime%text("version")) > 0, "text")
  call check(runtime%text("no such text", status) == "" .and. status == tessera_invalid_argument, "text refused")
  call check(index(tessera_message(), "no such text") > 0, "message")
  call runtime%free()
  call runtime%free()

  call runtime%create(cores=1, gpus=0, scheduler="no such policy", status=status)
  call check(status /= tessera_success, "scheduler refused")
  call check(len(tessera_message()) > 0, "message of the scheduler")

  call in_a_scope()
  call in_a_scope()
  call end_checks()
contains
  subroutine keep_quiet(level, message)
    integer, intent(in) :: level
    character(*), intent(in) :: message
    call check(level >= 0 .and. level <= 3 .and. len(message) >= 0, "level of a message")
  end subroutine
  !> Starts a Runtime that ends with the scope: a second one can start after it.
  subroutine in_a_scope()
    type(tessera_runtime) :: inner
    integer :: code
    call inner%create(cores=1, gpus=0, status=code)
    call check(code == tessera_success, "a Runtime in a scope")
  end subroutine
end program
