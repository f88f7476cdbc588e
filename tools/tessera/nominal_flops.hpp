// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <tessera/runtime/types.hpp>

#include "report.hpp"

/// Flops by which a stage's rate is reported: those of the usual algorithm, whatever was computed besides.
namespace tessera::program {

/// In double precision terms for order n, `count` vectors and bandwidth b, times `factor` (4 in complex
/// arithmetic): cholesky n^3/3, to_standard n^3, reduce_to_band and tridiagonalize 4/3 n^3,
/// band_to_tridiagonal 6 n^2 b, back-transforms 2 n^2 count, to_general n^2 count, gemm 2 n^3. 0 where only
/// the tasks know (tridiagonal_eigen).
double nominal_flops(std::string_view stage, Index n, Index count, Index band, double factor);

/// Puts the nominal flops into the stages that have them, and their sum into the run.
void set_nominal_flops(RunRecord& run, Index n, Index count, Index band, double factor);

}  // namespace tessera::program
