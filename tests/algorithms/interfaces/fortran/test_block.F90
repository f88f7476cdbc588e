! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Block-sparse matrices of the Fortran module, in all kinds.
#define CONJUGATE(a) a
#define A_FACTOR 0.5_sp
#define SELF_ADJOINT "S"
#define NUMBER real(sp)
#define REAL_KIND sp
#define LETTER "s"
#define ROUNDING 1e-4_dp
#define IN_KIND(re, im) real(re + 0 * im, sp)
module block_tests_s
#include "block_tests.inc"
end module

#undef NUMBER
#undef REAL_KIND
#undef LETTER
#undef ROUNDING
#undef IN_KIND
#define NUMBER real(dp)
#define REAL_KIND dp
#define LETTER "d"
#define ROUNDING 1e-12_dp
#define IN_KIND(re, im) re + 0 * im
module block_tests_d
#include "block_tests.inc"
end module

#undef CONJUGATE
#undef A_FACTOR
#undef SELF_ADJOINT
#undef NUMBER
#undef REAL_KIND
#undef LETTER
#undef ROUNDING
#undef IN_KIND
#define CONJUGATE(a) conjg(a)
#define A_FACTOR (0.5_sp, -2.0_sp)
#define SELF_ADJOINT "H"
#define NUMBER complex(sp)
#define REAL_KIND sp
#define LETTER "c"
#define ROUNDING 1e-4_dp
#define IN_KIND(re, im) cmplx(re, im, sp)
module block_tests_c
#include "block_tests.inc"
end module

#undef NUMBER
#undef REAL_KIND
#undef LETTER
#undef ROUNDING
#undef IN_KIND
#define NUMBER complex(dp)
#define REAL_KIND dp
#define LETTER "z"
#define ROUNDING 1e-12_dp
#define IN_KIND(re, im) cmplx(re, im, dp)
module block_tests_z
#include "block_tests.inc"
end module

program test_block
  use checks
  use tessera
  use block_tests_s, only: test_s => test_blocks
  use block_tests_d, only: test_d => test_blocks
  use block_tests_c, only: test_c => test_blocks
  use block_tests_z, only: test_z => test_blocks
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
