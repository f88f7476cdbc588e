! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Self-consistent fields.
module tessera_fields
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr, c_null_ptr, c_loc, c_funloc, c_f_pointer, c_double
  use tessera_base
  use tessera_runtimes
  use tessera_block_matrices
  use tessera_iterations
  use tessera_iteration_bindings
  use tessera_density
  implicit none
  private
  public :: scf, scf_functional, scf_channel, scf_options, scf_state, scf_result

  integer, parameter, public :: scf_simple = 0, scf_linear = 1, scf_pulay = 2, scf_direct = 3

  abstract interface
    !> The energy functional: from the density matrices of all channels (the library's; they are gone when it has
    !> returned) the Hamiltonian of each, as new matrices, and the energy. Called on every rank. A status other than
    !> 0, as which it comes, ends the computation: tessera_callback_failed.
    subroutine scf_functional(densities, hamiltonians, energy, status)
      import :: block_matrix, dp
      type(block_matrix), intent(in) :: densities(:)
      type(block_matrix), intent(inout) :: hamiltonians(:)
      real(dp), intent(out) :: energy
      integer, intent(inout) :: status
    end subroutine
  end interface

  !> Pointers are to variables with the attribute target. The field begins from a density or a Hamiltonian.
  type :: scf_channel
    real(dp) :: electrons = 0
    real(dp) :: occupation = 2                             !< 2 for closed shells, 1 for a spin channel
    type(block_matrix), pointer :: density => null()
    type(block_matrix), pointer :: hamiltonian => null()
  end type

  !> What is not set is the library's choice.
  type :: scf_options
    integer, allocatable :: method                !< one of the constants scf_*
    real(dp), allocatable :: mixing               !< of simple and linear
    integer, allocatable :: history               !< of pulay
    integer, allocatable :: inner_steps
    real(dp), allocatable :: tolerance            !< of the commutator
    real(dp), allocatable :: energy_tolerance     !< for each electron
    integer, allocatable :: iterations            !< at most
    type(density_options) :: density
    procedure(iteration_monitor), pointer, nopass :: monitor => null()     !< of the steps of the field
  end type

  !> What a channel has come to.
  type :: scf_state
    type(block_matrix) :: density, hamiltonian, energy_weighted
    real(dp) :: electrons = 0, chemical_potential = 0, idempotency = 0
    type(density_gap) :: gap = density_gap(0, 0, 0, 0)
  end type

  type :: scf_result
    type(block_matrix) :: inverse_factor
    real(dp) :: energy = 0, band_energy = 0
    integer(tessera_index) :: evaluations = 0     !< of the functional
    type(iteration_report) :: report
  end type

  type :: functional_holder
    procedure(scf_functional), pointer, nopass :: functional => null()
    character :: scalar_type = " "
  end type

contains

  !> Computes, and waits. Matrices are there with success, and with tessera_iterations_exhausted and tessera_stopped.
  !> Collective.
  !> @param states one for each channel
  !> @param overlap absent: the identity
  !> @param inverse_factor of a former computation
  subroutine scf(functional, channels, states, result, overlap, inverse_factor, options, runtime, status)
    procedure(scf_functional) :: functional
    type(scf_channel), intent(in) :: channels(:)
    type(scf_state), intent(inout) :: states(:)
    type(scf_result), intent(inout) :: result
    type(block_matrix), optional, intent(in) :: overlap, inverse_factor
    type(scf_options), optional, intent(in) :: options
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(functional_holder), target :: holder
    type(monitor_holder), target :: of_field, of_density
    type(c_scf_problem) :: problem
    type(c_scf_options) :: chosen
    type(c_scf_channel), target :: channel(size(channels) + 1)
    type(c_scf_state), target :: state(size(channels) + 1)
    type(c_scf_result) :: found
    integer(c_int) :: code
    integer :: k
    if (size(states) /= size(channels) .or. size(channels) == 0) then
      call refuse("channels, states: expected at least one channel, and a state for each", status)
      return
    end if
    if (associated(channels(1)%density)) holder%scalar_type = channels(1)%density%scalar_type
    if (associated(channels(1)%hamiltonian)) holder%scalar_type = channels(1)%hamiltonian%scalar_type
    holder%functional => functional
    do k = 1, size(channels)
      channel(k) = c_scf_channel(channels(k)%electrons, channels(k)%occupation, pointer_to(channels(k)%density), &
        pointer_to(channels(k)%hamiltonian))
    end do
    call c_scf_problem_init(problem)
    problem%type = iachar(holder%scalar_type, c_int)
    problem%functional = c_funloc(pass_densities)
    problem%functional_user = c_loc(holder)
    if (present(overlap)) problem%overlap = overlap%handle
    problem%channels = size(channels)
    problem%channel = c_loc(channel)
    if (present(inverse_factor)) problem%inverse_factor = inverse_factor%handle
    call in_c(options, of_field, of_density, chosen)
    code = c_scf(runtime_handle(runtime), problem, chosen, c_loc(state), found)
    do k = 1, size(channels)
      call take_matrix(state(k)%density, holder%scalar_type, states(k)%density)
      call take_matrix(state(k)%hamiltonian, holder%scalar_type, states(k)%hamiltonian)
      call take_matrix(state(k)%energy_weighted, holder%scalar_type, states(k)%energy_weighted)
      states(k)%electrons = state(k)%electrons
      states(k)%chemical_potential = state(k)%chemical_potential
      states(k)%idempotency = state(k)%idempotency
      states(k)%gap = gap_of(state(k)%gap)
    end do
    call take_matrix(found%inverse_factor, holder%scalar_type, result%inverse_factor)
    result%energy = found%energy
    result%band_energy = found%band_energy
    result%evaluations = found%evaluations
    result%report = report_of(found%report)
    call finish(code, status)
  end subroutine

  !> Densities are borrowed, Hamiltonians are given to the library: neither is freed here.
  recursive function pass_densities(channels, densities, hamiltonians, energy, user) result(code) bind(c, name="")
    integer(c_int64_t), value :: channels
    type(c_ptr), value :: densities, hamiltonians, user
    real(c_double), intent(out) :: energy
    integer(c_int) :: code
    type(functional_holder), pointer :: holder
    type(c_ptr), pointer :: given(:), made(:)
    type(block_matrix) :: density(channels), hamiltonian(channels)
    integer :: k, status
    call c_f_pointer(user, holder)
    call c_f_pointer(densities, given, [channels])
    call c_f_pointer(hamiltonians, made, [channels])
    do k = 1, int(channels)
      call new_matrix(density(k), holder%scalar_type)
      density(k)%handle = given(k)
      call new_matrix(hamiltonian(k), holder%scalar_type)
    end do
    status = 0
    energy = 0
    call holder%functional(density, hamiltonian, energy, status)
    do k = 1, int(channels)
      made(k) = hamiltonian(k)%handle
      hamiltonian(k)%handle = c_null_ptr
      density(k)%handle = c_null_ptr
    end do
    code = int(status, c_int)
  end function

  subroutine in_c(options, of_field, of_density, chosen)
    type(scf_options), optional, intent(in) :: options
    type(monitor_holder), target, intent(inout) :: of_field, of_density
    type(c_scf_options), intent(out) :: chosen
    call c_scf_options_init(chosen)
    if (.not. present(options)) return
    if (allocated(options%method)) chosen%method = int(options%method, c_int)
    if (allocated(options%mixing)) chosen%mixing = options%mixing
    if (allocated(options%history)) chosen%history = options%history
    if (allocated(options%inner_steps)) chosen%inner_steps = options%inner_steps
    if (allocated(options%tolerance)) chosen%tolerance = options%tolerance
    if (allocated(options%energy_tolerance)) chosen%energy_tolerance = options%energy_tolerance
    if (allocated(options%iterations)) chosen%iterations = options%iterations
    call set_density_options(options%density, of_density, chosen%density)
    call set_monitor(options%monitor, of_field, chosen%monitor, chosen%monitor_user)
  end subroutine
end module
