// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "lobpcg_problem.hpp"
#include "options.hpp"

/// `tessera bench spmm`: products of a half-stored sparse symmetric matrix and blocks of vectors.
namespace tessera::program {

int run_bench_spmm(const BenchProgramOptions& options);

/// Seconds of Y := A X by cuSPARSE on the first GPU: full rows (CSR), row-major X and Y, the algorithm
/// CSR_ALG3 after its preprocessing; the median of `repeat`, the data on the GPU before. `y`: the result, n x
/// columns, row-major.
/// @throws RuntimeError without CUDA or a GPU, and where cuSPARSE fails
template <class T>
double time_cusparse_spmm(const FullRows<T>& a, Index columns, const std::vector<T>& x, int repeat,
                          std::vector<T>& y);

}  // namespace tessera::program
