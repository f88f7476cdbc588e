// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include <tessera/types.hpp>

#include "report.hpp"

/// Operation counts from which the rates of stages are computed: those of the standard algorithm,
/// without any additional operations that were executed.
namespace tessera::program {

/// Operation count for order n, `count` vectors and bandwidth b. In real arithmetic: cholesky
/// n^3/3, to_standard n^3, reduce_to_band and tridiagonalize 4/3 n^3, band_to_tridiagonal 6 n^2 b,
/// back-transforms 2 n^2 count, to_general n^2 count, gemm 2 n^3, a matrix of eigensolve_batch 4/3 n^3 +
/// 2 n^2 count (its reduction and back-transformation; what is between is not counted); all are multiplied by `factor` (4
/// in complex arithmetic). 0 for stages whose count only the tasks know (tridiagonal_eigen).
double nominal_flops(std::string_view stage, Index n, Index count, Index band, double factor);

/// Minimum number of bytes that the standard algorithm must move, if it moves each matrix once
/// (half of a Hermitian one). In elements: cholesky n^2; to_standard 2 n^2; reduce_to_band the
/// trailing matrix for each panel of b columns, n^3/(6 b); band_to_tridiagonal n b + n^2/2 (the
/// reflectors); back-transforms and to_general n^2/2 + 2 n count; gemm 3 n^2. 0 for other stages.
double nominal_bytes(std::string_view stage, Index n, Index count, Index band, std::size_t element_bytes);

/// Stores the nominal operation counts in the stages that have them, and their sum in the run. If
/// the tasks counted fewer operations (for example if the band is wide relative to the order), that
/// smaller count is stored, so that no rate exceeds the rate of the operations that were executed.
void set_nominal_flops(RunRecord& run, Index n, Index count, Index band, double factor);
/// The same for the bytes of the stages.
void set_nominal_bytes(RunRecord& run, Index n, Index count, Index band, std::size_t element_bytes);

}  // namespace tessera::program
