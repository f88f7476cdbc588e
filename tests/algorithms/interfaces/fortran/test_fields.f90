! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Self-consistent fields of the Fortran module: H(P) = H0 + U diag(P), against a loop of dense eigenproblems.
program test_fields
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use checks
  use tessera
  implicit none
  integer, parameter :: sizes(6) = [4, 3, 5, 4, 4, 4], n = 24, occupied = 8
  real(dp), parameter :: repulsion = 0.05_dp
  type(tessera_runtime) :: runtime
  type(block_layout) :: layout
  type(block_matrix), target :: start
  type(scf_channel) :: channels(1)
  real(dp) :: h0(n, n), density(n), band, w(n), vectors(n, n), h(n, n), energy
  integer :: i, step, calls, monitored

  call runtime%create(cores=2, gpus=0)
  call layout%create(sizes, symmetry="S", runtime=runtime)
  h0 = 0
  do i = 1, n
    h0(i, i) = 0.3_dp * cos(0.7_dp * i) + merge(-1, 1, i <= occupied)
    if (i < n) h0(i, i + 1) = -0.4_dp
    if (i < n) h0(i + 1, i) = -0.4_dp
  end do
  call block_matrix_from_dense(start, layout, h0, 0.0_dp, runtime)
  channels(1)%electrons = 2 * occupied
  channels(1)%hamiltonian => start
  ! the same by dense eigenproblems
  density = 0
  do step = 1, 60
    h = h0
    do i = 1, n
      h(i, i) = h0(i, i) + repulsion * density(i)
    end do
    call eigensolve(h, w, vectors, runtime=runtime)
    density = 0.5_dp * density + 0.5_dp * 2 * sum(vectors(:, :occupied)**2, 2)
  end do
  band = 2 * sum(w(:occupied))
  energy = band - repulsion / 2 * sum(density**2)

  call test_methods()
  call test_ended()
  call start%free()
  call layout%free()
  call runtime%free()
  call end_checks()

contains

  subroutine functional(densities, hamiltonians, energy, status)
    type(block_matrix), intent(in) :: densities(:)
    type(block_matrix), intent(inout) :: hamiltonians(:)
    real(dp), intent(out) :: energy
    integer, intent(inout) :: status
    real(dp) :: diagonal(n), value
    type(block_matrix) :: bare
    calls = calls + 1
    call block_copy(start, bare)
    call block_matrix_from_dense(hamiltonians(1), layout, h0, 0.0_dp, runtime)
    call block_get_diagonal(densities(1), diagonal)
    call block_dot(bare, densities(1), value)
    energy = value + repulsion / 2 * sum(diagonal**2)
    call block_get_diagonal(bare, diagonal)
    call add_repulsion(densities(1), diagonal)
    call block_set_diagonal(diagonal, hamiltonians(1))
    if (size(densities) /= 1) status = 1
  end subroutine

  subroutine add_repulsion(density, diagonal)
    type(block_matrix), intent(in) :: density
    real(dp), intent(inout) :: diagonal(n)
    real(dp) :: of_density(n)
    call block_get_diagonal(density, of_density)
    diagonal = diagonal + repulsion * of_density
  end subroutine

  subroutine test_methods()
    integer, parameter :: methods(4) = [scf_simple, scf_linear, scf_pulay, scf_direct]
    character(6), parameter :: names(4) = ["simple", "linear", "pulay ", "direct"]
    type(scf_options) :: options
    type(scf_state) :: states(1)
    type(scf_result) :: result
    real(dp) :: diagonal(n)
    integer :: k
    options%density%filter_eps = 1e-12_dp
    options%tolerance = 1e-7_dp
    options%mixing = 0.8_dp
    options%iterations = 60
    options%monitor => count_steps
    do k = 1, 4
      options%method = methods(k)
      calls = 0
      monitored = 0
      call scf(functional, channels, states, result, options=options, runtime=runtime)
      call check(abs(result%energy - energy) < 1e-7_dp, trim(names(k)) // ": energy")
      call block_get_diagonal(states(1)%density, diagonal)
      call check(maxval(abs(diagonal - density)) < 1e-5_dp, trim(names(k)) // ": density")
      call check(result%evaluations == calls .and. calls > 1 .and. monitored > 1, trim(names(k)) // ": calls")
      call check(states(1)%hamiltonian%exists() .and. abs(states(1)%electrons - 2 * occupied) < 1e-7_dp, &
        trim(names(k)) // ": state")
    end do
  end subroutine

  subroutine count_steps(step, stop)
    type(iteration_step), intent(in) :: step
    logical, intent(inout) :: stop
    monitored = monitored + 1
    if (step%iteration < 1) stop = .true.
  end subroutine

  subroutine test_ended()
    type(scf_options) :: options
    type(scf_state) :: states(1), two(2)
    type(scf_result) :: result
    type(scf_channel) :: nothing(1)
    integer :: status
    call scf(failing, channels, states, result, runtime=runtime, status=status)
    call check(status == tessera_callback_failed .and. tessera_callback_code() == 42, "a functional that fails")
    call scf(silent, channels, states, result, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "a functional without a Hamiltonian")
    options%iterations = 1
    options%method = scf_simple
    call scf(functional, channels, states, result, options=options, runtime=runtime, status=status)
    call check(status == tessera_iterations_exhausted .and. states(1)%density%exists(), "one iteration")
    call scf(functional, channels, two, result, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "a state too many")
    call scf(functional, nothing, states, result, runtime=runtime, status=status)
    call check(status == tessera_invalid_argument, "nothing to begin with")
  end subroutine

  subroutine failing(densities, hamiltonians, energy, status)
    type(block_matrix), intent(in) :: densities(:)
    type(block_matrix), intent(inout) :: hamiltonians(:)
    real(dp), intent(out) :: energy
    integer, intent(inout) :: status
    call functional(densities, hamiltonians, energy, status)
    status = 42
  end subroutine

  subroutine silent(densities, hamiltonians, energy, status)
    type(block_matrix), intent(in) :: densities(:)
    type(block_matrix), intent(inout) :: hamiltonians(:)
    real(dp), intent(out) :: energy
    integer, intent(inout) :: status
    energy = 0
    if (size(densities) /= size(hamiltonians)) status = 1
  end subroutine
end program
