! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What iterations of products tell, and how they are told to stop.
module tessera_iterations
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_funptr, c_funloc, c_loc, c_f_pointer
  use tessera_base
  use tessera_iteration_bindings
  implicit none
  private
  public :: iteration_step, iteration_monitor, iteration_report, monitor_holder, set_monitor, report_of

  !> One line of an iteration's table.
  type :: iteration_step
    character(:), allocatable :: stage        !< which iteration
    integer(tessera_index) :: iteration       !< from 1
    real(dp) :: convergence                   !< what the stop compares
    real(dp) :: occupation                    !< of the iterate
    real(dp) :: threshold                     !< eps of the filter
    real(dp) :: seconds                       !< of this step
    integer(tessera_index) :: products        !< of matrices, in this step
    real(dp) :: flop                          !< of these
    real(dp) :: gpu_bytes                     !< held in the memories of this rank's GPUs
    real(dp) :: electrons, energy             !< density matrices only
  end type

  type :: iteration_report
    real(dp) :: error = 0                     !< reached; each procedure says of what
    integer(tessera_index) :: steps = 0       !< lines of the table
    integer(tessera_index) :: products = 0    !< of matrices
    real(dp) :: flop = 0                      !< of these, all ranks together
    real(dp) :: seconds = 0                   !< all
  end type

  abstract interface
    !> Called after each step, on every rank. stop=.true. on any stops: tessera_stopped.
    subroutine iteration_monitor(step, stop)
      import :: iteration_step
      type(iteration_step), intent(in) :: step
      logical, intent(inout) :: stop          !< comes as .false.
    end subroutine
  end interface

  !> Stays where it is until the computation is over.
  type :: monitor_holder
    procedure(iteration_monitor), pointer, nopass :: monitor => null()
  end type

contains

  subroutine set_monitor(monitor, holder, function, user)
    procedure(iteration_monitor), pointer, intent(in) :: monitor
    type(monitor_holder), target, intent(inout) :: holder
    type(c_funptr), intent(inout) :: function
    type(c_ptr), intent(inout) :: user
    if (.not. associated(monitor)) return
    holder%monitor => monitor
    function = c_funloc(pass_step)
    user = c_loc(holder)
  end subroutine

  recursive function pass_step(step, user) result(code) bind(c, name="")
    type(c_iteration_step), intent(in) :: step
    type(c_ptr), value :: user
    integer(c_int) :: code
    type(monitor_holder), pointer :: holder
    logical :: stop
    call c_f_pointer(user, holder)
    stop = .false.
    call holder%monitor(iteration_step(text_of(step%stage), step%iteration, step%convergence, step%occupation, &
      step%threshold, step%seconds, step%products, step%flop, step%gpu_bytes, step%electrons, step%energy), stop)
    code = merge(1_c_int, 0_c_int, stop)
  end function

  elemental function report_of(found) result(report)
    type(c_iteration_report), intent(in) :: found
    type(iteration_report) :: report
    report = iteration_report(found%error, found%steps, found%products, found%flop, found%seconds)
  end function
end module
