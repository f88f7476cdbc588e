// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/lobpcg.hpp>
#include <tessera/sparse_matrix.hpp>

#include "report.hpp"

/// Checks of a few eigenpairs, independent of the solver: products by plain loops over the rows, in
/// double precision.
namespace tessera::program {

struct SparsePair {
  const SymmetricRows& a;
  const SymmetricRows* b;  ///< null: the identity
  double norm_a, norm_b;   ///< upper bounds of the norms
};

/// Bytes of the host's memory that check_pairs takes at least, for vectors of elements of so many bytes.
double check_memory(double order, Index count, std::size_t element_bytes) noexcept;

/// residual: largest ||A x - lambda B x|| / ||x||, divided by the bound that the tolerance stands
/// for; at most 1 if the pair has converged to the tolerance.
/// orthogonality: max |I - X^H B X| / (sqrt(n) eps).
/// values: largest |lambda - reference|, divided by the sum of the residual's bound and of the
/// rounding errors of the values (V) and of the vectors. For a generalized problem, where ||x||_B =
/// 1, this sum is multiplied by the largest ||x||^2.
/// Collective; rows are distributed over ranks and threads.
template <class V, class T>
CheckRecord check_pairs(Runtime& runtime, const SparsePair& pair, const LobpcgOptions& options,
                        const LobpcgResult<T>& result, const std::vector<double>& reference,
                        const std::string& against);

/// Which eigenvalues of two solves to the same tolerance differ by more than it allows; empty: none. Of A x = lambda x.
/// @param rounding  relative, of the matrix's values
std::string different_values(const std::vector<double>& ours, const std::vector<double>& theirs,
                             const LobpcgOptions& options, double norm_a, double rounding);

}  // namespace tessera::program
