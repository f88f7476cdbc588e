! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> A few of the smallest or largest eigenvalues of a real symmetric or complex Hermitian operator, in all kinds.
#define NUMBER real(sp)
#define LETTER 's'
module tessera_lobpcg_s
#include "lobpcg.inc"
end module
#undef NUMBER
#undef LETTER

#define NUMBER real(dp)
#define LETTER 'd'
module tessera_lobpcg_d
#include "lobpcg.inc"
end module

#undef NUMBER
#undef LETTER

#define NUMBER complex(sp)
#define LETTER 'c'
module tessera_lobpcg_c
#include "lobpcg.inc"
end module
#undef NUMBER
#undef LETTER

#define NUMBER complex(dp)
#define LETTER 'z'
module tessera_lobpcg_z
#include "lobpcg.inc"
end module

module tessera_lobpcg_solver
  use tessera_operators, only: linear_operator, preconditioner, preconditioner_options, operator_from_csr, &
    operator_from_coordinates, operator_from_matrix_market, preconditioner_jacobi, preconditioner_fom, &
    preconditioner_chebyshev, device_apply_procedure, device_precondition_procedure
  use tessera_lobpcg_options, only: lobpcg_options, lobpcg_step, lobpcg_monitor, lobpcg_result, norm_backward, &
    norm_relative, norm_absolute, method_lobpcg, method_generalized_davidson, method_automatic, method_lanczos
  use tessera_lobpcg_s, single_apply => apply_procedure, single_precondition => precondition_procedure, &
    operator_create_single => create_operator, preconditioner_create_single => create_preconditioner
  use tessera_lobpcg_d, operator_create => create_operator, preconditioner_create => create_preconditioner
  use tessera_lobpcg_c, single_complex_apply => apply_procedure, &
    single_complex_precondition => precondition_procedure, operator_create_single_complex => create_operator, &
    preconditioner_create_single_complex => create_preconditioner
  use tessera_lobpcg_z, complex_apply => apply_procedure, complex_precondition => precondition_procedure, &
    operator_create_complex => create_operator, preconditioner_create_complex => create_preconditioner
  implicit none
  public
end module
