// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tessera/algorithms/lobpcg/convergence.hpp>
#include <tessera/algorithms/lobpcg/projected_problem.hpp>
#include <tessera/algorithms/lobpcg/vector_tasks.hpp>

namespace tessera::detail {

/// Multiplications by A.
struct MultiplicationCounts {
  Index calls = 0;  ///< of A's apply
  Index columns = 0;
};

/// How often the solve has gone on after something went wrong.
struct LobpcgRetries {
  int random_directions = 0;  ///< iterations in a row in which W was made of random vectors alone
  int unconfirmed = 0;        ///< ends that A X computed afresh has not confirmed
  int stagnations = 0;
  int singular_bases = 0;
};

/// All that an iteration of LOBPCG starts from and changes. The basis is S = [X W P]; in the orthonormal
/// variant X and P are B-orthonormal, and W, unless the Rayleigh-Ritz step makes it so.
template <class T>
struct LobpcgState {
  // Vectors. X are the Ritz vectors, in order from the wanted end, W the preconditioned residuals, P the
  // conjugate directions (what the last step has changed of X).
  ProductBlock<T> x, w, p;
  BlockVectors<T> r;  ///< residuals of the columns of X from residuals_from on
  std::vector<ProductBlock<T>> constraints;

  // The Rayleigh-Ritz step.
  std::vector<double> ritz_values;  ///< of X, with the sign of A
  SmallOf<T> p_matrix;              ///< P^H A P
  std::vector<Index> p_owners;      ///< column of X that each column of P belongs to, ascending
  Index ritz_steps = 0;             ///< since the start or the last restart
  double asymmetry = 0;             ///< of W^H A W at the start, over the largest |w| |A w|
  double drift = 0;  ///< |X^H (A W) - (A X)^H W| when last measured, over the projected problem's norm

  // Directions.
  bool w_orthonormal = false;            ///< orthonormalise() was called for this W
  double w_independence = 0;             ///< of the last W, before it was orthonormal (OrthonormalRound)
  Index residuals_from = 0;              ///< R holds the residuals of columns from here on
  std::optional<Index> directions_from;  ///< W is made of the residuals of columns from here on
  std::uint64_t random_fills = 0;        ///< each has a seed of its own

  // Convergence. Columns before `locked` have converged and get neither W nor P (soft locking).
  Index locked = 0;
  ResidualNorms residuals;
  NormEstimates norms;
  double projected_norm = 0;  ///< the largest that a projected problem has had
  bool fresh = true;          ///< W is the start's or a restart's
  bool confirmed = false;     ///< the residual norms are those of A X computed afresh

  // Counters. A restart counts as an iteration.
  Index iteration = 0, restarts = 0;
  LobpcgRetries retries;
  MultiplicationCounts multiplications;

  BasisColumns columns() const { return {.x = x.columns, .w = w.columns, .p = p.columns}; }
};

}  // namespace tessera::detail
