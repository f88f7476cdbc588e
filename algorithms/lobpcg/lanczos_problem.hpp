// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/lobpcg/small_dense.hpp>

/// The small matrices of block Lanczos, in double and on one rank: Wu and Simon, SIAM J. Matrix Anal. Appl. 22
/// (2000) 602.
namespace tessera::detail {

/// Eigenpairs of a projected matrix.
struct LanczosRitz {
  Index finite = 1;
  std::vector<double> values;     ///< ascending, of the matrix with the sign of what is minimised
  std::vector<double> residuals;  ///< norms, by the rest of the last block
  SmallMatrix coefficients;       ///< Ritz vectors V coefficients

  /// Without the coefficients, which are sent when they are needed.
  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(values), visit(residuals);
  }
};
/// @param matrix V^T A V
/// @param rest F^T F of A V = V (V^T A V) + F E^T, E the last columns of V
/// @param sign 1 where the smallest values are wanted, -1 for the largest
LanczosRitz lanczos_ritz(const SmallMatrix& matrix, const SmallMatrix& rest, double sign);

/// [old, h; h^T], h the last columns of V^T A V.
SmallMatrix with_last_columns(const SmallMatrix& old, const SmallMatrix& h);

/// A Ritz pair of a basis with locked vectors.
struct LanczosPair {
  double value = 0;     ///< with the sign of A
  double residual = 0;  ///< norm
  Index place = 0;      ///< among the locked vectors, or the others
  bool locked = false;
};
/// All pairs from the wanted end on.
std::vector<LanczosPair> in_order(const std::vector<LanczosPair>& locked, const LanczosRitz& active,
                                  double sign);

/// Whether A W was, to rounding, in span(V): how W goes on from there is chance.
/// @param rest as above @param norm of A
enum class BlockEnd { none, some_columns, all_columns };
BlockEnd block_end(const SmallMatrix& rest, double norm, double rounding);

}  // namespace tessera::detail
