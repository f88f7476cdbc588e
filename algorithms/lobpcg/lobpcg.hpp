// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/algorithms/lobpcg/symmetric_operator.hpp>

/// The locally optimal block preconditioned conjugate gradient method (Knyazev, SIAM J. Sci. Comput. 23 (2001) 517):
/// a few of the smallest or largest eigenvalues of A x = lambda x or A x = lambda B x, A symmetric, B symmetric
/// positive definite.
namespace tessera {

enum class LobpcgVariant {
  orthonormal,  ///< [X W P] is kept orthonormal: a standard Rayleigh-Ritz problem (Hetmaniuk and Lehoucq, J. Comput.
                ///< Phys. 218 (2006) 324; Duersch et al., SIAM J. Sci. Comput. 40 (2018) C655)
  basic,        ///< the generalized Rayleigh-Ritz problem of the Gram matrices (Maris et al. 2022, Algorithm 1)
};
/// What the residual r = A x - theta B x of a vector is compared with.
enum class LobpcgNorm {
  backward,  ///< ||r|| <= tol (||A|| + |theta| ||B||) ||x||, norms estimated from above: a backward-stable stop
  relative,  ///< ||r|| <= tol |theta| ||x||
  absolute,  ///< ||r|| <= tol ||x||
};
enum class EigenEnd { smallest, largest };

/// One line of the history: the state before iteration `iteration` changes it (0: the start).
struct LobpcgStep {
  Index iteration = 0;
  Index converged = 0;  ///< in order from the wanted end
  Index active = 0;     ///< columns that are still worked on
  double largest_residual = 0;     ///< of the wanted ones not yet converged, scaled as the stop is, over tol
  std::vector<double> values;      ///< Ritz values of the block
  std::vector<double> residuals;   ///< norms of the block's residuals, as compared with the tolerance
  double seconds = 0;              ///< since the start
  double multiply_seconds = 0, preconditioner_seconds = 0, dense_seconds = 0, waiting_seconds = 0;  ///< so far
};

struct LobpcgOptions {
  Index count = 1;      ///< k: wanted eigenpairs
  Index block = 0;      ///< vectors of the block, >= count; 0: count and some guard vectors
  EigenEnd end = EigenEnd::smallest;
  double tolerance = 0; ///< 0: 1e-8 (float vectors: 1e-4)
  LobpcgNorm norm = LobpcgNorm::backward;
  LobpcgVariant variant = LobpcgVariant::orthonormal;
  Index iterations = 500;  ///< at most
  bool lock = true;        ///< converged vectors take no more part in W (soft locking)
  std::uint64_t seed = 1;  ///< of the random start
  /// After each iteration; false stops (status: stopped).
  std::function<bool(const LobpcgStep&)> monitor{};
};

enum class LobpcgStatus {
  converged,
  iterations_exhausted,
  stagnated,      ///< the residuals do not fall any more, restarts included
  breakdown,      ///< the variant or the preconditioner leaves no usable direction
  stopped,        ///< by the monitor
  not_finite,     ///< NaN or infinity in the operator's, B's or the preconditioner's result
};
std::string_view to_string(LobpcgStatus status);

template <class T>
struct LobpcgResult {
  LobpcgStatus status = LobpcgStatus::converged;
  std::string message;            ///< one line for a person: what happened, and where
  std::vector<double> values;     ///< `count` Ritz values, from the wanted end
  std::vector<double> residuals;  ///< ||A x - theta B x|| / ||x||_B, computed afresh at the end
  std::vector<double> scaled_residuals;  ///< the same over what the tolerance stands for
  BlockVectors<T> vectors;        ///< the block, columns in the order of values; B-orthonormal
  Index converged = 0;
  Index iterations = 0, restarts = 0;
  Index columns_multiplied = 0;   ///< by A, in all
  Index multiplications = 0;      ///< calls of A's apply
  std::vector<LobpcgStep> history;
};

/// What a problem consists of beside A.
template <class T>
struct LobpcgProblem {
  const SymmetricOperator<T>* a = nullptr;
  const SymmetricOperator<T>* b = nullptr;          ///< null: the identity
  Preconditioner<T>* preconditioner = nullptr;      ///< null: none
  const BlockVectors<T>* constraints = nullptr;     ///< the solution is B-orthogonal to these; linearly independent
  Index constraint_count = 0;                       ///< of its columns
  const BlockVectors<T>* guess = nullptr;           ///< start vectors; the rest of the block is random
  Index guess_count = 0;
};

/// Solves; blocking and collective. A is applied once an iteration, to the active columns alone, and once at the
/// start and at the end.
/// @throws InvalidArgument naming the argument: count < 1, count > n / 5 with the block's size, segments that do not
///         fit, ...
template <class T>
LobpcgResult<T> lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options = {});

}  // namespace tessera
