// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

#include <tessera/types.hpp>

#include "report.hpp"

/// Flops by which a stage's rate is reported: those of the usual algorithm, whatever was computed besides.
namespace tessera::program {

/// In double precision terms for order n, `count` vectors and bandwidth b, times `factor` (4 in complex
/// arithmetic): cholesky n^3/3, to_standard n^3, reduce_to_band and tridiagonalize 4/3 n^3,
/// band_to_tridiagonal 6 n^2 b, back-transforms 2 n^2 count, to_general n^2 count, gemm 2 n^3. 0 where only
/// the tasks know (tridiagonal_eigen).
double nominal_flops(std::string_view stage, Index n, Index count, Index band, double factor);

/// Bytes that the usual algorithm must move at least, each matrix once (half of a Hermitian one), in
/// elements: cholesky n^2; to_standard 2 n^2; reduce_to_band the trailing matrix for each
/// panel of b columns, n^3/(6 b); band_to_tridiagonal n b + n^2/2 (the reflectors); back-transforms and
/// to_general n^2/2 + 2 n count; gemm 3 n^2. 0 for other stages.
double nominal_bytes(std::string_view stage, Index n, Index count, Index band, std::size_t element_bytes);

/// Puts the nominal flops into the stages that have them, and their sum into the run; where the tasks have
/// counted fewer, as for a band that is wide for the order, theirs: no rate is above what was computed.
void set_nominal_flops(RunRecord& run, Index n, Index count, Index band, double factor);
/// The same for the bytes of the stages.
void set_nominal_bytes(RunRecord& run, Index n, Index count, Index band, std::size_t element_bytes);

}  // namespace tessera::program
