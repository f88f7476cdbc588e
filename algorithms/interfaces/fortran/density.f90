! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Density matrices without diagonalisation. Energies are in the unit of H.
module tessera_density
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr, c_null_ptr, c_loc, c_associated
  use tessera_base
  use tessera_runtimes
  use tessera_block_matrices
  use tessera_iterations
  use tessera_iteration_bindings
  implicit none
  private
  public :: density_matrix, submit_density_matrix, density_matrices, density_write_state, density_read_state
  public :: density_problem, density_options, density_result, density_sums, density_gap, density_completion
  public :: density_method_name, set_density_options, take_matrix, gap_of, pointer_to

  integer, parameter, public :: density_automatic = 0, density_sign = 1, density_trs4 = 2, density_tc2 = 3, &
    density_sp2 = 4, density_purification = 5, density_submatrix = 6, density_fermi = 7, density_curvy = 8, &
    density_dense = 9

  !> Intervals in which the highest occupied and the lowest unoccupied state lie. NaN: not known.
  type :: density_gap
    real(dp) :: homo_lower, homo_upper, lumo_lower, lumo_upper
  end type

  !> Pointers are to variables with the attribute target, which stay until the computation is over.
  type :: density_problem
    type(block_matrix), pointer :: hamiltonian => null()      !< half-stored Hermitian (real: symmetric)
    type(block_matrix), pointer :: overlap => null()          !< likewise, positive definite; null: the identity
    real(dp), allocatable :: electrons                        !< from 0 to occupation n
    real(dp), allocatable :: occupation                       !< electrons in an occupied state: 2 or 1
    real(dp), allocatable :: temperature                      !< kT
    real(dp), allocatable :: chemical_potential               !< if it is set it counts, not electrons
    type(block_matrix), pointer :: inverse_factor => null()   !< Z of a former computation
    type(block_matrix), pointer :: density => null()          !< P of a former computation, where curvy begins
    type(density_gap), allocatable :: gap                     !< of a former computation
  end type

  !> What is not set is the library's choice.
  type :: density_options
    integer, allocatable :: method                !< one of the constants density_*
    real(dp), allocatable :: filter_eps           !< of all products
    real(dp), allocatable :: tolerance            !< of the idempotency
    integer, allocatable :: iterations            !< of each iteration, at most
    integer, allocatable :: sign_order, factor_order
    logical, allocatable :: scaled
    logical, allocatable :: mixed_precision
    integer, allocatable :: group_order           !< of submatrix
    real(dp), allocatable :: electron_tolerance
    logical, allocatable :: energy_weighted       !< W, too
    logical, allocatable :: check                 !< idempotency and commutator are measured
    procedure(iteration_monitor), pointer, nopass :: monitor => null()
  end type

  type :: density_result
    type(block_matrix) :: density             !< P
    type(block_matrix) :: energy_weighted     !< W, if it was asked for
    type(block_matrix) :: inverse_factor      !< Z, to begin the next computation with
    integer :: method = density_automatic     !< that was used
    real(dp) :: chemical_potential = 0, energy = 0, electrons = 0, entropy = 0, free_energy = 0
    type(density_gap) :: gap = density_gap(0, 0, 0, 0)
    real(dp) :: idempotency = 0, commutator = 0
    type(iteration_report) :: report
  contains
    procedure :: free => result_free
  end type

  !> The weighted sums of several problems; a common chemical potential is one for all.
  type :: density_sums
    real(dp) :: energy = 0, electrons = 0, entropy = 0, free_energy = 0, chemical_potential = 0
    type(density_gap) :: gap = density_gap(0, 0, 0, 0)
  end type

  !> What C reads and writes until a computation is over.
  type :: pending_density
    type(c_density_result) :: found
    type(c_gap) :: gap
    type(monitor_holder) :: holder
    character :: scalar_type = " "
  end type

  !> A density matrix that was submitted: get waits, and gives the result, once.
  type, extends(completion) :: density_completion
    type(pending_density), pointer, private :: pending => null()
  contains
    procedure :: get => density_get
    procedure :: free => density_completion_free
    final :: density_completion_final
  end type

contains

  !> Computes, and waits. Collective, on H's Runtime.
  subroutine density_matrix(problem, result, options, status)
    type(density_problem), intent(in) :: problem
    type(density_result), intent(inout) :: result
    type(density_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(pending_density), target :: pending
    type(c_density_options) :: chosen
    integer(c_int) :: code
    call result%free()
    call set_density_options(options, pending%holder, chosen)
    code = c_density_matrix(in_c(problem, pending%gap), chosen, pending%found)
    call take_result(pending%found, type_of(problem), result)
    call finish(code, status)
  end subroutine

  !> Submits, and returns at once; done%get(result) waits. On one rank many may be in flight: spin channels, k-points.
  subroutine submit_density_matrix(done, problem, options, status)
    type(density_completion), intent(inout) :: done
    type(density_problem), intent(in) :: problem
    type(density_options), optional, intent(in) :: options
    integer, optional, intent(out) :: status
    type(c_density_options) :: chosen
    call done%free()
    allocate (done%pending)
    done%pending%scalar_type = type_of(problem)
    call set_density_options(options, done%pending%holder, chosen)
    call finish(c_submit_density_matrix(in_c(problem, done%pending%gap), chosen, c_loc(done%pending%found), &
      done%handle), status)
  end subroutine

  !> Waits, and gives the result; `status` is how the computation has ended. Collective.
  subroutine density_get(self, result, status)
    class(density_completion), intent(inout) :: self
    type(density_result), intent(inout) :: result
    integer, optional, intent(out) :: status
    integer :: code
    call result%free()
    if (.not. c_associated(self%handle)) then
      call refuse("the completion has no computation", status)
      return
    end if
    call self%wait(code)
    call take_result(self%pending%found, self%pending%scalar_type, result)
    call finish(int(code, c_int), status)
  end subroutine

  subroutine density_completion_free(self)
    class(density_completion), intent(inout) :: self
    call self%completion%free()
    if (.not. associated(self%pending)) return
    call c_density_result_free(self%pending%found)
    deallocate (self%pending)
  end subroutine

  subroutine density_completion_final(self)
    type(density_completion), intent(inout) :: self
    call self%free()
  end subroutine

  !> Problems of k-points and spin channels, in flight together.
  !> @param weights absent: 1 each
  !> @param common_chemical_potential one for all, at a temperature
  subroutine density_matrices(problems, results, weights, common_chemical_potential, options, sums, status)
    type(density_problem), intent(in) :: problems(:)
    type(density_result), intent(inout) :: results(:)
    real(dp), optional, intent(in) :: weights(:)
    logical, optional, intent(in) :: common_chemical_potential
    type(density_options), optional, intent(in) :: options
    type(density_sums), optional, intent(out) :: sums
    integer, optional, intent(out) :: status
    type(c_density_problem), target :: given(size(problems) + 1)
    type(c_density_result), target :: found(size(problems) + 1)
    type(c_gap), target :: gaps(size(problems))
    real(dp), target :: weight(size(problems) + 1)
    type(monitor_holder), target :: holder
    type(c_density_options) :: chosen
    type(c_density_sums) :: total
    integer(c_int) :: code, common
    integer :: k
    do k = 1, size(results)
      call results(k)%free()
    end do
    weight = 1
    if (present(weights)) then
      if (size(weights) /= size(problems)) then
        call refuse("weights: expected one for each problem", status)
        return
      end if
      weight(:size(weights)) = weights
    end if
    if (size(results) /= size(problems)) then
      call refuse("results: expected one for each problem", status)
      return
    end if
    do k = 1, size(problems)
      given(k) = in_c(problems(k), gaps(k))
    end do
    common = 0
    if (present(common_chemical_potential)) common = merge(1_c_int, 0_c_int, common_chemical_potential)
    call set_density_options(options, holder, chosen)
    code = c_density_matrices(size(problems, kind=c_int64_t), c_loc(given), c_loc(weight), common, chosen, &
      c_loc(found), &
      total)
    do k = 1, size(problems)
      call take_result(found(k), type_of(problems(k)), results(k))
    end do
    if (present(sums)) sums = density_sums(total%energy, total%electrons, total%entropy, total%free_energy, &
      total%chemical_potential, gap_of(total%gap))
    call finish(code, status)
  end subroutine

  !> Writes an HDF5 file of what the next computation can begin with: matrices, occupation and temperature of `problem`,
  !> chemical potential, energy and gap. Collective.
  subroutine density_write_state(path, problem, result, status)
    character(*), intent(in) :: path
    type(density_problem), intent(in) :: problem
    type(density_result), intent(in) :: result
    integer, optional, intent(out) :: status
    type(c_density_result) :: found
    type(c_gap), target :: gap
    found%density = result%density%handle
    found%inverse_factor = result%inverse_factor%handle
    found%chemical_potential = result%chemical_potential
    found%energy = result%energy
    found%gap = c_gap(result%gap%homo_lower, result%gap%homo_upper, result%gap%lumo_lower, result%gap%lumo_upper)
    call finish(c_density_write_state(c_text(path), in_c(problem, gap), found), status)
  end subroutine

  !> Reads it. Collective.
  subroutine density_read_state(path, scalar_type, result, occupation, temperature, runtime, status)
    character(*), intent(in) :: path
    character, intent(in) :: scalar_type
    type(density_result), intent(inout) :: result
    real(dp), optional, intent(out) :: occupation, temperature
    type(tessera_runtime), optional, intent(in) :: runtime
    integer, optional, intent(out) :: status
    type(c_density_result) :: found
    real(dp) :: electrons_of_a_state, kt
    integer(c_int) :: code
    call result%free()
    found%gap = c_gap(0, 0, 0, 0)
    electrons_of_a_state = 0
    kt = 0
    code = c_density_read_state(runtime_handle(runtime), iachar(scalar_type, c_int), c_text(path), &
      electrons_of_a_state, kt, found)
    call take_result(found, scalar_type, result)
    if (present(occupation)) occupation = electrons_of_a_state
    if (present(temperature)) temperature = kt
    call finish(code, status)
  end subroutine

  !> "trs4", ...; empty for what is no method.
  function density_method_name(method) result(name)
    integer, intent(in) :: method
    character(:), allocatable :: name
    name = text_of(c_density_method_name(int(method, c_int)))
  end function

  subroutine result_free(self)
    class(density_result), intent(inout) :: self
    call self%density%free()
    call self%energy_weighted%free()
    call self%inverse_factor%free()
  end subroutine

  function in_c(problem, gap) result(given)
    type(density_problem), intent(in) :: problem
    type(c_gap), target, intent(inout) :: gap
    type(c_density_problem) :: given
    call c_density_problem_init(given)
    given%hamiltonian = pointer_to(problem%hamiltonian)
    given%overlap = pointer_to(problem%overlap)
    if (allocated(problem%electrons)) given%electrons = problem%electrons
    if (allocated(problem%occupation)) given%occupation = problem%occupation
    if (allocated(problem%temperature)) given%temperature = problem%temperature
    if (allocated(problem%chemical_potential)) then
      given%use_chemical_potential = 1
      given%chemical_potential = problem%chemical_potential
    end if
    given%inverse_factor = pointer_to(problem%inverse_factor)
    given%density = pointer_to(problem%density)
    if (allocated(problem%gap)) then
      gap = c_gap(problem%gap%homo_lower, problem%gap%homo_upper, problem%gap%lumo_lower, problem%gap%lumo_upper)
      given%gap = c_loc(gap)
    end if
  end function

  subroutine set_density_options(options, holder, chosen)
    type(density_options), optional, intent(in) :: options
    type(monitor_holder), target, intent(inout) :: holder
    type(c_density_options), intent(out) :: chosen
    call c_density_options_init(chosen)
    if (.not. present(options)) return
    if (allocated(options%method)) chosen%method = int(options%method, c_int)
    if (allocated(options%filter_eps)) chosen%filter_eps = options%filter_eps
    if (allocated(options%tolerance)) chosen%tolerance = options%tolerance
    if (allocated(options%iterations)) chosen%iterations = options%iterations
    if (allocated(options%sign_order)) chosen%sign_order = int(options%sign_order, c_int)
    if (allocated(options%factor_order)) chosen%factor_order = int(options%factor_order, c_int)
    call set_flag(options%scaled, chosen%scaled)
    call set_flag(options%mixed_precision, chosen%mixed_precision)
    if (allocated(options%group_order)) chosen%group_order = options%group_order
    if (allocated(options%electron_tolerance)) chosen%electron_tolerance = options%electron_tolerance
    call set_flag(options%energy_weighted, chosen%energy_weighted)
    call set_flag(options%check, chosen%check)
    call set_monitor(options%monitor, holder, chosen%monitor, chosen%monitor_user)
  end subroutine

  !> Takes the matrices over: found has none then.
  subroutine take_result(found, scalar_type, result)
    type(c_density_result), intent(inout) :: found
    character, intent(in) :: scalar_type
    type(density_result), intent(inout) :: result
    call take_matrix(found%density, scalar_type, result%density)
    call take_matrix(found%energy_weighted, scalar_type, result%energy_weighted)
    call take_matrix(found%inverse_factor, scalar_type, result%inverse_factor)
    result%method = int(found%method)
    result%chemical_potential = found%chemical_potential
    result%energy = found%energy
    result%electrons = found%electrons
    result%entropy = found%entropy
    result%free_energy = found%free_energy
    result%gap = gap_of(found%gap)
    result%idempotency = found%idempotency
    result%commutator = found%commutator
    result%report = report_of(found%report)
  end subroutine

  subroutine take_matrix(handle, scalar_type, matrix)
    type(c_ptr), intent(inout) :: handle
    character, intent(in) :: scalar_type
    type(block_matrix), intent(inout) :: matrix
    call new_matrix(matrix, scalar_type)
    matrix%handle = handle
    handle = c_null_ptr
  end subroutine

  elemental function gap_of(found) result(gap)
    type(c_gap), intent(in) :: found
    type(density_gap) :: gap
    gap = density_gap(found%homo_lower, found%homo_upper, found%lumo_lower, found%lumo_upper)
  end function

  function pointer_to(matrix) result(handle)
    type(block_matrix), pointer, intent(in) :: matrix
    type(c_ptr) :: handle
    handle = c_null_ptr
    if (associated(matrix)) handle = matrix%handle
  end function

  character function type_of(problem)
    type(density_problem), intent(in) :: problem
    type_of = " "
    if (associated(problem%hamiltonian)) type_of = problem%hamiltonian%scalar_type
  end function
end module
