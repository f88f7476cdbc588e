// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/lobpcg/small_dense.hpp>

/// The small matrices of block Lanczos, in double (S: double or std::complex<double>) and on one rank: Wu and Simon,
/// SIAM J. Matrix Anal. Appl. 22 (2000) 602.
namespace tessera::detail {

/// Eigenpairs of a projected matrix.
template <class S>
struct LanczosRitz {
  Index finite = 1;
  std::vector<double> values;     ///< ascending, of the matrix with the sign of what is minimised
  std::vector<double> residuals;  ///< norms, by the rest of the last block
  SmallMatrixOf<S> coefficients;  ///< Ritz vectors V coefficients

  /// Without the coefficients, which are sent when they are needed.
  template <class Visit>
  void each_field(const Visit& visit) {
    visit(finite), visit(values), visit(residuals);
  }
};
/// @param matrix V^H A V
/// @param rest F^H F of A V = V (V^H A V) + F E^T, E the last columns of V
/// @param sign 1 where the smallest values are wanted, -1 for the largest
template <class S>
LanczosRitz<S> lanczos_ritz(const SmallMatrixOf<S>& matrix, const SmallMatrixOf<S>& rest, double sign);

/// [old, h; h^H], h the last columns of V^H A V.
template <class S>
SmallMatrixOf<S> with_last_columns(const SmallMatrixOf<S>& old, const SmallMatrixOf<S>& h);

/// A Ritz pair of a basis with locked vectors.
struct LanczosPair {
  double value = 0;     ///< with the sign of A
  double residual = 0;  ///< norm
  Index place = 0;      ///< among the locked vectors, or the others
  bool locked = false;
};
/// All pairs from the wanted end on.
template <class S>
std::vector<LanczosPair> in_order(const std::vector<LanczosPair>& locked, const LanczosRitz<S>& active,
                                  double sign);

/// Whether A W was, to rounding, in span(V): how W goes on from there is chance.
/// @param rest as above @param norm of A
enum class BlockEnd { none, some_columns, all_columns };
template <class S>
BlockEnd block_end(const SmallMatrixOf<S>& rest, double norm, double rounding);

}  // namespace tessera::detail
