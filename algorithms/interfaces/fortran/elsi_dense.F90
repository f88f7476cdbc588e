! SPDX-FileCopyrightText: 2026 The Tessera authors
! SPDX-License-Identifier: BSD-3-Clause
!> Dense matrices of tessera_elsi, real and complex.
#define NUMBER real(dp)
#define VECTORS vectors
#define EVD tessera_pdsyevd_partial_spectrum
#define GVD tessera_pdsygvd_partial_spectrum
#define GEMM "dgemm_"
#define PGEMM "pdgemm_"
#define LOCAL_GEMM real_gemm
#define PARALLEL_GEMM real_parallel_gemm
module tessera_elsi_real
#include "elsi_dense.inc"
end module
#undef NUMBER
#undef VECTORS
#undef EVD
#undef GVD
#undef GEMM
#undef PGEMM
#undef LOCAL_GEMM
#undef PARALLEL_GEMM

#define NUMBER complex(dp)
#define VECTORS complex_vectors
#define EVD tessera_pzheevd_partial_spectrum
#define GVD tessera_pzhegvd_partial_spectrum
#define GEMM "zgemm_"
#define PGEMM "pzgemm_"
#define LOCAL_GEMM complex_gemm
#define PARALLEL_GEMM complex_parallel_gemm
module tessera_elsi_complex
#include "elsi_dense.inc"
end module
