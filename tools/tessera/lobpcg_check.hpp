// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/lobpcg.hpp>
#include <tessera/sparse_matrix.hpp>

#include "report.hpp"

/// Checks of a few eigenpairs that use nothing of the solver's: products by plain loops over the rows, in
/// double.
namespace tessera::program {

struct SparsePair {
  const SymmetricRows& a;
  const SymmetricRows* b;  ///< null: the identity
  double norm_a, norm_b;   ///< bounds
};

/// residual:      largest ||A x - lambda B x|| / ||x|| over what the tolerance stands for: 1 is as converged
/// as asked orthogonality: max |I - X^T B X| / (sqrt(n) eps) values:        largest |lambda - reference| over
/// the residual's bound and the rounding of the values (V) and of the
///                vectors; of a generalized problem times the largest ||x||^2, ||x||_B = 1
/// Ranks and threads take rows in turn; collective.
template <class V, class T>
CheckRecord check_pairs(Runtime& runtime, const SparsePair& pair, const LobpcgOptions& options,
                        const LobpcgResult<T>& result, const std::vector<double>& reference,
                        const std::string& against);

}  // namespace tessera::program
