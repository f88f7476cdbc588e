! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> What LOBPCG is told and tells.
module tessera_lobpcg_options
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_ptr, c_loc, c_funloc, c_f_pointer
  use tessera_base
  use tessera_objects, only: kept_object
  use tessera_block_matrices, only: known_type
  use tessera_operators
  use tessera_lobpcg_bindings
  implicit none
  private
  public :: lobpcg_options, lobpcg_step, lobpcg_monitor, lobpcg_result, lobpcg_holder, submitted_lobpcg, in_c, fits
  public :: result_of

  integer, parameter, public :: norm_backward = 0, norm_relative = 1, norm_absolute = 2
  integer, parameter, public :: method_lobpcg = 0, method_generalized_davidson = 1, method_automatic = 2, &
    method_lanczos = 3

  type :: lobpcg_step
    integer(tessera_index) :: iteration, converged, active
    real(dp) :: largest_residual                       !< over the tolerance
    real(dp), allocatable :: values(:), residuals(:)   !< Ritz values of the block
    real(dp) :: seconds                                !< since the start
  end type

  abstract interface
    !> Called after each iteration, on every rank. stop=.true. stops.
    subroutine lobpcg_monitor(step, stop)
      import :: lobpcg_step
      type(lobpcg_step), intent(in) :: step
      logical, intent(inout) :: stop                   !< comes as .false.
    end subroutine
  end interface

  !> What is not set is the library's choice.
  type :: lobpcg_options
    integer, allocatable :: method                     !< one of the constants method_*
    integer, allocatable :: block
    integer, allocatable :: basis                      !< not LOBPCG: columns of the basis
    logical, allocatable :: largest                    !< the wanted end
    real(dp), allocatable :: tolerance
    integer, allocatable :: norm                       !< one of the constants norm_*
    logical, allocatable :: basic                      !< the basic variant, not the orthonormal one
    integer, allocatable :: iterations                 !< at most
    logical, allocatable :: lock
    integer(tessera_index), allocatable :: seed
    procedure(lobpcg_monitor), pointer, nopass :: monitor => null()
    character(:), allocatable :: checkpoint            !< file (HDF5) to go on from later
    integer, allocatable :: checkpoint_iterations      !< written after so many
    real(dp), allocatable :: checkpoint_seconds        !< or after so many
    character(:), allocatable :: checkpoint_label      !< must be equal when the file is read
    character(:), allocatable :: resume                !< checkpoint of the same problem to go on from
  end type

  type :: lobpcg_result
    integer(tessera_index) :: converged = 0, iterations = 0, restarts = 0, columns_multiplied = 0, multiplications = 0
    real(dp) :: seconds = 0
    integer(tessera_index) :: iterations_before = 0    !< of the iterations, those before the resumed checkpoint
    integer(tessera_index) :: checkpoints = 0          !< written
    logical :: checkpoint_failed = .false.             !< the last one could not be written: the log has the reason
  end type

  type :: lobpcg_holder
    procedure(lobpcg_monitor), pointer, nopass :: monitor => null()
    character(kind=c_char), allocatable :: checkpoint(:), label(:), resume(:)
  end type

  !> What stays until a submitted solve is over.
  type, extends(kept_object) :: submitted_lobpcg
    type(lobpcg_holder) :: holder
    type(c_lobpcg_result) :: found
  end type

contains

  subroutine in_c(options, count, holder, chosen)
    type(lobpcg_options), optional, intent(in) :: options
    integer, intent(in) :: count
    type(lobpcg_holder), target, intent(inout) :: holder
    type(c_lobpcg_options), intent(out) :: chosen
    call c_lobpcg_options_init(chosen)
    chosen%count = count
    if (.not. present(options)) return
    if (allocated(options%method)) chosen%method = int(options%method, c_int)
    if (allocated(options%block)) chosen%block = options%block
    if (allocated(options%basis)) chosen%basis = options%basis
    call set_flag(options%largest, chosen%largest)
    if (allocated(options%tolerance)) chosen%tolerance = options%tolerance
    if (allocated(options%norm)) chosen%norm = int(options%norm, c_int)
    call set_flag(options%basic, chosen%basic)
    if (allocated(options%iterations)) chosen%iterations = options%iterations
    call set_flag(options%lock, chosen%lock)
    if (allocated(options%seed)) chosen%seed = options%seed
    if (allocated(options%checkpoint_iterations)) chosen%checkpoint_iterations = options%checkpoint_iterations
    if (allocated(options%checkpoint_seconds)) chosen%checkpoint_seconds = options%checkpoint_seconds
    call set_text(options%checkpoint, holder%checkpoint, chosen%checkpoint)
    call set_text(options%checkpoint_label, holder%label, chosen%checkpoint_label)
    call set_text(options%resume, holder%resume, chosen%resume)
    if (.not. associated(options%monitor)) return
    holder%monitor => options%monitor
    chosen%monitor = c_funloc(pass_step)
    chosen%monitor_user = c_loc(holder)
  end subroutine

  !> Takes a string over if it is set; `kept` holds it.
  subroutine set_text(given, kept, pointer)
    character(:), allocatable, intent(in) :: given
    character(kind=c_char), allocatable, target, intent(inout) :: kept(:)
    type(c_ptr), intent(inout) :: pointer
    if (.not. allocated(given)) return
    kept = c_text(given)
    pointer = c_loc(kept)
  end subroutine

  recursive function pass_step(step, user) result(code) bind(c, name="")
    type(c_lobpcg_step), intent(in) :: step
    type(c_ptr), value :: user
    integer(c_int) :: code
    type(lobpcg_holder), pointer :: holder
    real(dp), pointer :: values(:), residuals(:)
    logical :: stop
    call c_f_pointer(user, holder)
    call c_f_pointer(step%values, values, [step%block])
    call c_f_pointer(step%residuals, residuals, [step%block])
    stop = .false.
    call holder%monitor(lobpcg_step(step%iteration, step%converged, step%active, step%largest_residual, values, &
      residuals, step%seconds), stop)
    code = merge(1_c_int, 0_c_int, stop)
  end function

  elemental function result_of(found) result(result)
    type(c_lobpcg_result), intent(in) :: found
    type(lobpcg_result) :: result
    result = lobpcg_result(found%converged, found%iterations, found%restarts, found%columns_multiplied, &
      found%multiplications, found%seconds, found%iterations_before, found%checkpoints, found%checkpoint_failed /= 0)
  end function

  !> Whether an array has so many vectors at least, of the kind and the order of the operator.
  function fits(a, scalar_type, name, count, extents, status) result(good)
    type(linear_operator), intent(in) :: a
    character, intent(in) :: scalar_type
    character(*), intent(in) :: name
    integer, intent(in) :: count, extents(2)
    integer, optional, intent(out) :: status
    logical :: good
    integer :: order, code
    order = 0
    good = .true.
    if (.not. a%exists()) return      ! for the library to say
    good = known_type(a%scalar_type, scalar_type, name, status)
    if (.not. good) return
    order = a%order(code)
    good = extents(1) >= count .and. extents(2) == order
    if (.not. good) call refuse(name // ": expected a vector in each row, as long as the order of the operator", status)
  end function
end module
