! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Tessera for Fortran: dense Hermitian eigenproblems, eigensolvers in ScaLAPACK's manner.
!>
!>     use tessera
!>     call eigensolve(a, w, z)              ! real(4), real(8), complex(4), complex(8)
!>     call eigensolve(a, w, z, b, hi=10, status=code)
!>
!> Over the C interface (tessera.h), which has more: block-sparse matrices, density matrices, LOBPCG.
module tessera
  use tessera_base, only: tessera_index, tessera_message, tessera_stage, tessera_index_of_failure, &
    tessera_success, tessera_not_positive_definite, tessera_not_finite, tessera_no_convergence, tessera_task_failed, &
    tessera_iterations_exhausted, tessera_stagnated, tessera_breakdown, tessera_stopped, &
      tessera_block_not_positive_definite, &
    tessera_block_singular, tessera_no_gap, tessera_invalid_argument, tessera_input_error, tessera_runtime_error, &
    tessera_out_of_memory, tessera_remote_error, tessera_callback_failed, tessera_other_error
  use tessera_runtimes, only: tessera_runtime, completion, log_procedure, tessera_end_default_runtime
  use tessera_dense
  use tessera_scalapack
  implicit none
  public
end module
