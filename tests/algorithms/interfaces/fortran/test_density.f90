! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Density matrices of the Fortran module against eigenvectors.
program test_density
  use, intrinsic :: iso_c_binding, only: dp => c_double
  use checks
  use tessera
  implicit none
  integer, parameter :: cells = 24, n = 2 * cells
  real(dp), parameter :: inner = -1, outer = -0.4_dp
  type(tessera_runtime) :: runtime
  type(block_layout) :: layout
  type(block_matrix), target :: hamiltonian, overlap
  real(dp) :: h(n, n), s(n, n), w(n), vectors(n, n), p(n, n)
  integer :: steps_seen = 0, i

  call runtime%create(cores=2, gpus=0)
  call layout%create([(2, i=1, cells)], symmetry="S", runtime=runtime)
  h = 0
  s = 0
  do i = 1, n
    s(i, i) = 1
    call couple(h, i, merge(inner, outer, mod(i, 2) == 1))
    call couple(s, i, 0.1_dp)
  end do
  call block_matrix_from_dense(hamiltonian, layout, h, 0.0_dp, runtime)
  call block_matrix_from_dense(overlap, layout, s, 0.0_dp, runtime)
  call eigensolve(h, w, vectors, s, runtime=runtime)
  p = 2 * matmul(vectors(:, :cells), transpose(vectors(:, :cells)))
  call test_methods()
  call test_again()
  call test_submitted()
  call test_several()
  call test_complex()
  call test_refused()
  call hamiltonian%free()
  call overlap%free()
  call layout%free()
  call runtime%free()
  call end_checks()

contains

  !> Neighbours on the ring.
  subroutine couple(matrix, i, value)
    real(dp), intent(inout) :: matrix(n, n)
    integer, intent(in) :: i
    real(dp), intent(in) :: value
    matrix(i, mod(i, n) + 1) = value
    matrix(mod(i, n) + 1, i) = value
  end subroutine

  function the_problem() result(problem)
    type(density_problem) :: problem
    problem%hamiltonian => hamiltonian
    problem%overlap => overlap
    problem%electrons = n
    problem%occupation = 2
  end function

  logical function is_density(result)
    type(density_result), intent(in) :: result
    real(dp) :: found(n, n)
    call block_matrix_to_dense(result%density, found)
    is_density = maxval(abs(found - p)) < 1e-6_dp .and. abs(result%energy - 2 * sum(w(:cells))) < 1e-7_dp
  end function

  subroutine test_methods()
    integer, parameter :: methods(5) = [density_automatic, density_trs4, density_sign, density_purification, &
      density_dense]
    type(density_result) :: result
    type(density_options) :: options
    real(dp) :: weighted(n, n)
    integer :: k
    options%filter_eps = 1e-10_dp
    options%energy_weighted = .true.
    options%check = .true.
    options%monitor => count_steps
    do k = 1, size(methods)
      options%method = methods(k)
      call density_matrix(the_problem(), result, options)
      call check(is_density(result), density_method_name(methods(k)))
      call block_matrix_to_dense(result%energy_weighted, weighted)
      call check(maxval(abs(weighted - 2 * matmul(vectors(:, :cells) * spread(w(:cells), 1, n), &
        transpose(vectors(:, :cells))))) < 1e-6_dp, "energy-weighted: " // density_method_name(methods(k)))
      call check(abs(result%electrons - n) < 1e-6_dp .and. result%idempotency < 1e-6_dp .and. &
        result%chemical_potential > w(cells) .and. result%chemical_potential < w(cells + 1), "what the result says")
    end do
    call check(steps_seen > 5 .and. density_method_name(density_trs4) == "trs4", "steps")
    call check(density_method_name(77) == "", "name of no method")
  end subroutine

  subroutine count_steps(step, stop)
    type(iteration_step), intent(in) :: step
    logical, intent(inout) :: stop
    steps_seen = steps_seen + 1
    if (step%iteration < 1) stop = .true.
  end subroutine

  !> From what a former computation has left, also in a file.
  subroutine test_again()
    type(density_problem) :: problem
    type(density_result), target :: first, again
    type(density_options) :: options
    real(dp) :: occupation, temperature
    integer :: unit, status
    options%filter_eps = 1e-10_dp
    options%method = density_trs4
    problem = the_problem()
    call density_matrix(problem, first, options)
    call density_write_state("fortran_state.h5", problem, first)
    call density_read_state("fortran_state.h5", "d", again, occupation, temperature, runtime)
    call check(is_density(again) .and. abs(occupation - 2) < 1e-12_dp .and. abs(temperature) < 1e-12_dp, &
      "state of a file")
    problem%inverse_factor => again%inverse_factor
    problem%gap = again%gap
    call density_matrix(problem, first, options)
    call check(is_density(first), "from a state")
    problem%density => again%density
    options%method = density_curvy
    call density_matrix(problem, first, options)
    call check(is_density(first) .and. first%method == density_curvy, "curvy")
    open (newunit=unit, file="fortran_state.h5")
    close (unit, status="delete")
    call density_read_state("fortran_state.h5", "d", first, runtime=runtime, status=status)
    call check(status == tessera_input_error .and. .not. first%density%exists(), "no file")
  end subroutine

  subroutine test_submitted()
    type(density_completion) :: done(2), forgotten
    type(density_result) :: results(2)
    type(density_problem) :: problem
    type(density_options) :: options
    integer :: k, status
    options%filter_eps = 1e-10_dp
    do k = 1, 2
      problem = the_problem()
      call submit_density_matrix(done(k), problem, options)
    end do
    call submit_density_matrix(forgotten, problem, options)
    do k = 1, 2
      call done(k)%get(results(k))
      call check(is_density(results(k)) .and. done(k)%test(), "submitted")
      call done(k)%free()
    end do
    call forgotten%free()
    call done(1)%get(results(1), status)
    call check(status == tessera_invalid_argument, "nothing was submitted")
  end subroutine

  !> Two k-points with one chemical potential, at a temperature.
  subroutine test_several()
    real(dp), parameter :: kt = 0.1_dp, weights(2) = [0.25_dp, 0.75_dp]
    type(block_matrix), target :: other
    type(density_problem) :: problems(2)
    type(density_result) :: results(2)
    type(density_options) :: options
    type(density_sums) :: sums
    real(dp) :: v(n), lower, upper, mu, f(n), g(n)
    integer :: k, step, status
    call block_matrix_from_dense(other, layout, 0.9_dp * h, 0.0_dp, runtime)
    call eigensolve(0.9_dp * h, v, b=s, runtime=runtime)
    do k = 1, 2
      problems(k) = the_problem()
      problems(k)%temperature = kt
      problems(k)%electrons = 0.8_dp * n
    end do
    problems(2)%hamiltonian => other
    options%filter_eps = 1e-12_dp
    call density_matrices(problems, results, weights, .true., options, sums)
    lower = w(1)
    upper = w(n)
    do step = 1, 80
      mu = (lower + upper) / 2
      f = 2 / (exp((w - mu) / kt) + 1)
      g = 2 / (exp((v - mu) / kt) + 1)
      if (weights(1) * sum(f) + weights(2) * sum(g) < 0.8_dp * n) then
        lower = mu
      else
        upper = mu
      end if
    end do
    call check(abs(sums%chemical_potential - mu) < 1e-5_dp, "common chemical potential")
    call check(abs(sums%electrons - 0.8_dp * n) < 1e-6_dp, "electrons of all")
    call check(abs(sums%energy - weights(1) * sum(f * w) - weights(2) * sum(g * v)) < 1e-4_dp, "energy of all")
    call check(sums%entropy > 0 .and. abs(results(1)%electrons - sum(f)) < 1e-4_dp, "entropy, and electrons of one")
    call density_matrices(problems, results(:1), status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "results:") == 1, "few results")
    call density_matrices(problems, results, weights(:1), status=status)
    call check(status == tessera_invalid_argument .and. index(tessera_message(), "weights:") == 1, "few weights")
  end subroutine

  subroutine test_complex()
    type(block_layout) :: hermitian
    type(block_matrix), target :: turned
    type(density_problem) :: problem
    type(density_result) :: result
    type(density_options) :: options
    complex(dp) :: phases(n), found(n, n)
    phases = [(exp(cmplx(0, 0.3_dp * i, dp)), i=1, n)]
    call hermitian%create([(2, i=1, cells)], symmetry="H", runtime=runtime)
    call block_matrix_from_dense(turned, hermitian, spread(phases, 2, n) * h * spread(conjg(phases), 1, n), 0.0_dp, &
      runtime)
    call eigensolve(h, w, vectors, runtime=runtime)
    problem%hamiltonian => turned
    problem%electrons = cells
    problem%occupation = 1
    options%filter_eps = 1e-10_dp
    call density_matrix(problem, result, options)
    call block_matrix_to_dense(result%density, found)
    call check(maxval(abs(found - spread(phases, 2, n) * matmul(vectors(:, :cells), transpose(vectors(:, :cells))) * &
      spread(conjg(phases), 1, n))) < 1e-6_dp, "complex")
  end subroutine

  subroutine test_refused()
    type(density_problem) :: problem
    type(density_result) :: result
    type(density_options) :: options
    integer :: status
    call density_matrix(problem, result, status=status)
    call check(status == tessera_invalid_argument, "no H")
    problem = the_problem()
    problem%electrons = 3 * n
    call density_matrix(problem, result, status=status)
    call check(status == tessera_invalid_argument .and. .not. result%density%exists(), "too many electrons")
    problem%electrons = n
    options%method = 99
    call density_matrix(problem, result, options, status)
    call check(status == tessera_invalid_argument, "no method")
    options%method = density_trs4
    options%monitor => stop_at_once
    call density_matrix(problem, result, options, status)
    call check(status == tessera_stopped, "stopped")
  end subroutine

  subroutine stop_at_once(step, stop)
    type(iteration_step), intent(in) :: step
    logical, intent(inout) :: stop
    stop = step%iteration > 0
  end subroutine
end program
