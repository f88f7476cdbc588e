! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Tessera for Fortran: dense Hermitian eigenproblems, eigensolvers in ScaLAPACK's manner, block-sparse matrices, their
!> functions, density matrices, self-consistent fields, LOBPCG.
!>
!>     use tessera
!>     call eigensolve(a, w, z)              ! real(4), real(8), complex(4), complex(8)
!>     call eigensolve(a, w, z, b, hi=10, status=code)
!>
!> Over the C interface (tessera.h): what is tessera_block_add there is block_add here.
module tessera
  use tessera_base, only: tessera_index, tessera_message, tessera_stage, tessera_index_of_failure, &
    tessera_callback_code, &
    tessera_success, tessera_not_positive_definite, tessera_not_finite, tessera_no_convergence, tessera_task_failed, &
    tessera_iterations_exhausted, tessera_stagnated, tessera_breakdown, tessera_stopped, &
      tessera_block_not_positive_definite, &
    tessera_block_singular, tessera_no_gap, tessera_invalid_argument, tessera_input_error, tessera_runtime_error, &
    tessera_out_of_memory, tessera_remote_error, tessera_callback_failed, tessera_other_error
  use tessera_runtimes, only: tessera_runtime, completion, log_procedure, tessera_end_default_runtime
  use tessera_dense, only: eigensolve, submit_eigensolve, block_cyclic, cholesky_factor, eigen_options, eigen_used, &
    solver_automatic, solver_two_stage, solver_one_stage, solver_vendor
  use tessera_dense_batch
  use tessera_tuner
  use tessera_scalapack
  use tessera_block_matrices, only: block_layout, block_builder, block_matrix, block_matrix_info, task_sequence, &
    block_matrix_read_matrix_market, block_matrix_write_matrix_market, block_matrix_read_hdf5, block_matrix_write_hdf5
  use tessera_block_arrays
  use tessera_block_operations
  use tessera_products
  use tessera_iterations, only: iteration_step, iteration_monitor, iteration_report
  use tessera_matrix_functions
  use tessera_density, only: density_matrix, submit_density_matrix, density_matrices, density_write_state, &
    density_read_state, density_problem, density_options, density_result, density_sums, density_gap, &
    density_completion, density_method_name, density_automatic, density_sign, density_trs4, density_tc2, density_sp2, &
    density_purification, density_submatrix, density_fermi, density_curvy, density_dense
  use tessera_fields
  use tessera_lobpcg_solver
  implicit none
  public
end module
