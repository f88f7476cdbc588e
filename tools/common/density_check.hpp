// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/density_matrix.hpp>

#include "report.hpp"

/// Checks of a density matrix.
namespace tessera::program {

/// How far P is from a density matrix, by products with a tenth of the filter, those of the idempotency with a
/// thousandth. NaN: not measured.
struct DensityErrors {
  /// ||P S P / occupation - P||_F / ||P||_F, at most: with the bound of what the filter of the products has left
  /// out; NaN at a temperature
  double idempotency = unknown;
  double commutator = unknown;           ///< ||S P H - H P S||_F / sqrt(n)
  double relative_commutator = unknown;  ///< ||S P H - H P S||_F / ||S P H||_F
};

/// Measures them; collective.
template <class T>
DensityErrors density_errors(Runtime& runtime, const DensityProblem<T>& problem,
                             const BlockSparseMatrix<T>& p, double filter);

/// What rounding and the filter may change, relative: the larger of the filter and 100 eps.
template <class T>
double density_unit(double filter);

/// In words, for the help and the documentation's reader.
inline constexpr const char* density_gates =
    "Bounds: idempotency 10 u, relative commutator 100 u, electrons 10 u of their number and half a state; u "
    "is "
    "the filter, or 100 eps if that is more";

/// The checks with their bounds; at a temperature that of idempotency is none. @param wanted  electrons
std::vector<CheckGate> density_checks(const DensityErrors& errors, double unit, double found, double wanted,
                                      double occupation, double temperature);

/// Against another density matrix of the same problem.
struct DensityDifference {
  double energy = unknown;    ///< theirs subtracted from ours
  double elements = unknown;  ///< the largest of |P - theirs|
};
/// Largest |P - theirs|; collective.
template <class T>
double largest_difference(Runtime& runtime, const BlockSparseMatrix<T>& p,
                          const BlockSparseMatrix<T>& theirs);

}  // namespace tessera::program
