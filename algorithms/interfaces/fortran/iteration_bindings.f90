! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> tessera/c/matrix_functions.h, density.h and scf.h.
module tessera_iteration_bindings
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr, c_null_ptr
  implicit none
  public
  private :: c_int, c_ptr, c_int64_t, c_double, c_char, c_funptr, c_null_ptr

  type, bind(c) :: c_iteration_step
    type(c_ptr) :: stage
    integer(c_int64_t) :: iteration
    real(c_double) :: convergence, occupation, threshold, seconds
    integer(c_int64_t) :: products
    real(c_double) :: flop, gpu_bytes, electrons, energy
  end type

  type, bind(c) :: c_iteration_report
    real(c_double) :: error = 0
    integer(c_int64_t) :: steps = 0, products = 0
    real(c_double) :: flop = 0, seconds = 0
  end type

  type, bind(c) :: c_function_options
    real(c_double) :: filter_eps
    integer(c_int) :: order
    real(c_double) :: tolerance
    integer(c_int64_t) :: iterations
    integer(c_int) :: scaled, check, root
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type

  type, bind(c) :: c_gap
    real(c_double) :: homo_lower, homo_upper, lumo_lower, lumo_upper
  end type

  type, bind(c) :: c_density_problem
    type(c_ptr) :: hamiltonian, overlap
    real(c_double) :: electrons, occupation, temperature
    integer(c_int) :: use_chemical_potential
    real(c_double) :: chemical_potential
    type(c_ptr) :: inverse_factor, density, gap
  end type

  type, bind(c) :: c_density_options
    integer(c_int) :: method
    real(c_double) :: filter_eps, tolerance
    integer(c_int64_t) :: iterations
    integer(c_int) :: sign_order, factor_order, scaled, mixed_precision
    integer(c_int64_t) :: group_order
    real(c_double) :: electron_tolerance
    integer(c_int) :: energy_weighted, check
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type

  type, bind(c) :: c_density_result
    type(c_ptr) :: density = c_null_ptr, energy_weighted = c_null_ptr, inverse_factor = c_null_ptr
    integer(c_int) :: method = 0
    real(c_double) :: chemical_potential = 0, energy = 0, electrons = 0, entropy = 0, free_energy = 0
    type(c_gap) :: gap
    real(c_double) :: idempotency = 0, commutator = 0
    type(c_iteration_report) :: report
  end type

  type, bind(c) :: c_density_sums
    real(c_double) :: energy = 0, electrons = 0, entropy = 0, free_energy = 0, chemical_potential = 0
    type(c_gap) :: gap
  end type

  type, bind(c) :: c_scf_channel
    real(c_double) :: electrons, occupation
    type(c_ptr) :: density, hamiltonian
  end type

  type, bind(c) :: c_scf_problem
    integer(c_int) :: type
    type(c_funptr) :: functional
    type(c_ptr) :: functional_user, overlap
    integer(c_int64_t) :: channels
    type(c_ptr) :: channel, inverse_factor
  end type

  type, bind(c) :: c_scf_options
    integer(c_int) :: method
    real(c_double) :: mixing
    integer(c_int64_t) :: history, inner_steps
    real(c_double) :: tolerance, energy_tolerance
    integer(c_int64_t) :: iterations
    type(c_density_options) :: density
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_user
  end type

  type, bind(c) :: c_scf_state
    type(c_ptr) :: density = c_null_ptr, hamiltonian = c_null_ptr, energy_weighted = c_null_ptr
    real(c_double) :: electrons = 0, chemical_potential = 0, idempotency = 0
    type(c_gap) :: gap
  end type

  type, bind(c) :: c_scf_result
    type(c_ptr) :: inverse_factor = c_null_ptr
    real(c_double) :: energy = 0, band_energy = 0
    integer(c_int64_t) :: evaluations = 0
    type(c_iteration_report) :: report
  end type

  interface
    subroutine c_function_options_init(options) bind(c, name="tessera_function_options_init")
      import
      type(c_function_options), intent(inout) :: options
    end subroutine
    function c_matrix_sign(a, options, report, result) bind(c, name="tessera_matrix_sign") result(code)
      import
      type(c_ptr), value :: a
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_inverse_factor(a, start, options, report, result) bind(c, &
      name="tessera_inverse_factor") result(code)
      import
      type(c_ptr), value :: a, start
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_matrix_inverse(a, start, options, report, result) bind(c, &
      name="tessera_matrix_inverse") result(code)
      import
      type(c_ptr), value :: a, start
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_matrix_square_roots(a, options, report, root, inverse_root) bind(c, &
      name="tessera_matrix_square_roots") result(code)
      import
      type(c_ptr), value :: a
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: root, inverse_root
      integer(c_int) :: code
    end function
    function c_matrix_inverse_root(a, options, report, result) bind(c, &
      name="tessera_matrix_inverse_root") result(code)
      import
      type(c_ptr), value :: a
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_matrix_exponential(a, options, report, result) bind(c, &
      name="tessera_matrix_exponential") result(code)
      import
      type(c_ptr), value :: a
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_log_determinant(a, options, report, value) bind(c, name="tessera_log_determinant") result(code)
      import
      type(c_ptr), value :: a
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      real(c_double), intent(inout) :: value
      integer(c_int) :: code
    end function
    function c_purify(density, overlap, options, report, result) bind(c, name="tessera_purify") result(code)
      import
      type(c_ptr), value :: density, overlap
      type(c_function_options), intent(in) :: options
      type(c_iteration_report), intent(inout) :: report
      type(c_ptr), intent(out) :: result
      integer(c_int) :: code
    end function
    function c_density_method_name(method) bind(c, name="tessera_density_method_name") result(code)
      import
      integer(c_int), value :: method
      type(c_ptr) :: code
    end function
    subroutine c_density_problem_init(problem) bind(c, name="tessera_density_problem_init")
      import
      type(c_density_problem), intent(inout) :: problem
    end subroutine
    subroutine c_density_options_init(options) bind(c, name="tessera_density_options_init")
      import
      type(c_density_options), intent(inout) :: options
    end subroutine
    subroutine c_density_result_free(result) bind(c, name="tessera_density_result_free")
      import
      type(c_density_result), intent(inout) :: result
    end subroutine
    function c_density_matrix(problem, options, result) bind(c, name="tessera_density_matrix") result(code)
      import
      type(c_density_problem), intent(in) :: problem
      type(c_density_options), intent(in) :: options
      type(c_density_result), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_submit_density_matrix(problem, options, result, completion) bind(c, &
      name="tessera_submit_density_matrix") result(code)
      import
      type(c_density_problem), intent(in) :: problem
      type(c_density_options), intent(in) :: options
      type(c_ptr), value :: result
      type(c_ptr), intent(out) :: completion
      integer(c_int) :: code
    end function
    function c_density_matrices(count, problems, weights, common_chemical_potential, options, results, &
      sums) bind(c, name="tessera_density_matrices") result(code)
      import
      integer(c_int64_t), value :: count
      type(c_ptr), value :: problems, weights, results
      integer(c_int), value :: common_chemical_potential
      type(c_density_options), intent(in) :: options
      type(c_density_sums), intent(inout) :: sums
      integer(c_int) :: code
    end function
    function c_density_write_state(path, problem, result) bind(c, &
      name="tessera_density_write_state") result(code)
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_density_problem), intent(in) :: problem
      type(c_density_result), intent(in) :: result
      integer(c_int) :: code
    end function
    function c_density_read_state(runtime, type, path, occupation, temperature, result) bind(c, &
      name="tessera_density_read_state") result(code)
      import
      type(c_ptr), value :: runtime
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: path(*)
      real(c_double), intent(inout) :: occupation, temperature
      type(c_density_result), intent(inout) :: result
      integer(c_int) :: code
    end function
    subroutine c_scf_problem_init(problem) bind(c, name="tessera_scf_problem_init")
      import
      type(c_scf_problem), intent(inout) :: problem
    end subroutine
    subroutine c_scf_options_init(options) bind(c, name="tessera_scf_options_init")
      import
      type(c_scf_options), intent(inout) :: options
    end subroutine
    function c_scf(runtime, problem, options, states, result) bind(c, name="tessera_scf") result(code)
      import
      type(c_ptr), value :: runtime, states
      type(c_scf_problem), intent(in) :: problem
      type(c_scf_options), intent(in) :: options
      type(c_scf_result), intent(inout) :: result
      integer(c_int) :: code
    end function
  end interface
end module
