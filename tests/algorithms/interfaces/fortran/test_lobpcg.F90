! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> LOBPCG of the Fortran module, in all kinds.
#define NUMBER real(sp)
#define LETTER "s"
#define ROUNDING 1e-4_dp
#define CREATE operator_create_single
#define CREATE_PRECONDITIONER preconditioner_create_single
module lobpcg_tests_s
#include "lobpcg_tests.inc"
end module

#undef NUMBER
#undef LETTER
#undef ROUNDING
#undef CREATE
#undef CREATE_PRECONDITIONER
#define NUMBER real(dp)
#define LETTER "d"
#define ROUNDING 1e-8_dp
#define CREATE operator_create
#define CREATE_PRECONDITIONER preconditioner_create
module lobpcg_tests_d
#include "lobpcg_tests.inc"
end module

#undef LETTER
#undef ROUNDING
#undef CREATE
#undef CREATE_PRECONDITIONER
#define PRECISION sp
#define LETTER "c"
#define ROUNDING 1e-4_dp
#define CREATE operator_create_single_complex
#define CREATE_PRECONDITIONER preconditioner_create_single_complex
module lobpcg_tests_c
#include "hermitian_tests.inc"
end module

#undef PRECISION
#undef LETTER
#undef ROUNDING
#undef CREATE
#undef CREATE_PRECONDITIONER
#define PRECISION dp
#define LETTER "z"
#define ROUNDING 1e-8_dp
#define CREATE operator_create_complex
#define CREATE_PRECONDITIONER preconditioner_create_complex
module lobpcg_tests_z
#include "hermitian_tests.inc"
end module

program test_all_lobpcg
  use checks
  use tessera
  use lobpcg_tests_s, only: test_s => test_lobpcg
  use lobpcg_tests_d, only: test_d => test_lobpcg
  use lobpcg_tests_c, only: test_c => test_hermitian
  use lobpcg_tests_z, only: test_z => test_hermitian
  implicit none
  type(tessera_runtime) :: runtime
  call repeat_random_numbers()
  call runtime%create(cores=2, gpus=0)
  call test_s(runtime)
  call test_d(runtime)
  call test_c(runtime)
  call test_z(runtime)
  call runtime%free()
  call end_checks()
end program
