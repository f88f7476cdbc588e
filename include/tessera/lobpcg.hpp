// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/operators.hpp>

/// The locally optimal block preconditioned conjugate gradient method (Knyazev, SIAM J. Sci. Comput. 23
/// (2001) 517): a few of the smallest or largest eigenvalues of A x = lambda x or A x = lambda B x, A
/// symmetric, B symmetric positive definite.
namespace tessera {

enum class LobpcgVariant {
  orthonormal,  ///< X and P are kept orthonormal, and W, or what the step makes of it: a standard
                ///< Rayleigh-Ritz problem (Hetmaniuk and Lehoucq, J. Comput. Phys. 218 (2006) 324; Duersch et
                ///< al., SIAM J. Sci. Comput. 40 (2018) C655)
  basic,  ///< the generalized Rayleigh-Ritz problem of the Gram matrices (Maris et al. 2022, Algorithm 1)
};
/// What the residual r = A x - theta B x of a vector is compared with.
enum class LobpcgNorm {
  /// ||r|| <= tol (||A|| + |theta| ||B||) ||x||: a backward-stable stop (Duersch et al.). The norms are the
  /// operators' bounds; where an operator knows none, the largest that the iteration has seen, which is below
  /// the norm and asks for more.
  backward,
  relative,  ///< ||r|| <= tol |theta| ||x||: never reached by an eigenvalue of zero
  absolute,  ///< ||r|| <= tol ||x||
};
enum class EigenEnd { smallest, largest };

/// One line of the history: the state after iteration `iteration` (0: the start; restarts count as
/// iterations).
///
/// Times of this rank. The seconds of multiplications (A, B), preconditioner and dense work (tall vectors)
/// are those that a worker has spent in such tasks, in the mean of the workers that have run any;
/// waiting_seconds is the rest of the time, in which workers had no task: the host's small matrices, waits
/// for other ranks, tasks too few for all workers. The four add up to `seconds`, but for tasks that are under
/// way.
struct LobpcgStep {
  Index iteration = 0;
  Index converged = 0;          ///< in order from the wanted end
  Index active = 0;             ///< columns that are still worked on
  double largest_residual = 0;  ///< of the wanted ones, scaled as the stop is, over tol: at most 1 at the end
  std::vector<double> values;   ///< Ritz values of the block, from the wanted end
  /// Of the block, scaled as the stop is: what is compared with the tolerance.
  std::vector<double> residuals;
  double seconds = 0;  ///< since the start
  // So far:
  double multiply_seconds = 0, preconditioner_seconds = 0, dense_seconds = 0, waiting_seconds = 0;
};

struct LobpcgOptions {
  Index count = 1;  ///< k: wanted eigenpairs, at most n / 5 and 32 (more: take those found as constraints)
  Index block = 0;  ///< vectors of the block, >= count, at most 32, three times as many (and the constraints)
                    ///< <= n; 0: count + max(2, count / 2), where GPUs take part up to a multiple of 8, as
                    ///< far as these bounds allow. What exceeds count are guard vectors: they separate the
                    ///< wanted eigenvalues from the others, also multiple ones
  EigenEnd end = EigenEnd::smallest;
  double tolerance = 0;  ///< 0: 1e-8 (float vectors: 1e-4)
  LobpcgNorm norm = LobpcgNorm::backward;
  LobpcgVariant variant = LobpcgVariant::orthonormal;
  Index iterations = 500;  ///< at most
  bool lock = true;        ///< converged vectors take no more part in W (soft locking)
  std::uint64_t seed = 1;  ///< of the random start
  /// After each iteration, on every rank; false on any stops (status: stopped). What it throws on any rank
  /// lobpcg() throws on all.
  std::function<bool(const LobpcgStep&)> monitor{};
};

enum class LobpcgStatus {
  converged,
  iterations_exhausted,
  stagnated,   ///< the residuals do not fall any more, restarts included
  breakdown,   ///< the variant or the preconditioner leaves no usable direction, or B is found not positive
               ///< definite
  stopped,     ///< by the monitor
  not_finite,  ///< NaN or infinity in the operator's, B's or the preconditioner's result
};
std::string_view to_string(LobpcgStatus status);

template <class T>
struct LobpcgResult {
  LobpcgStatus status = LobpcgStatus::converged;
  std::string message;            ///< one line for a person: what happened, and where
  std::vector<double> values;     ///< `count` Ritz values, from the wanted end; none if the solve has failed
                                  ///< before the first Rayleigh-Ritz step
  std::vector<double> residuals;  ///< ||A x - theta B x||, ||x||_B = 1, with A x and B x computed afresh at
                                  ///< the end (NaN where the status is not_finite)
  std::vector<double> scaled_residuals;  ///< the same over what the tolerance is compared with
  /// The block, columns in the order of values; B-orthonormal. Zero without values.
  BlockVectors<T> vectors;
  Index converged = 0;  ///< in order from the wanted end, by the fresh residuals
  Index iterations = 0, restarts = 0;
  Index columns_multiplied = 0;  ///< by A, in all
  Index multiplications = 0;     ///< calls of A's apply
  std::vector<LobpcgStep> history;
  SequenceStatistics statistics;  ///< of this rank's tasks; stages multiply, preconditioner, dense
};

/// What a problem consists of beside A.
template <class T>
struct LobpcgProblem {
  const SymmetricOperator<T>* a = nullptr;
  const SymmetricOperator<T>* b = nullptr;      ///< null: the identity
  Preconditioner<T>* preconditioner = nullptr;  ///< null: none
  /// The solution is B-orthogonal to these; linearly independent.
  const BlockVectors<T>* constraints = nullptr;
  Index constraint_count = 0;  ///< of its columns
  /// Start vectors; the rest of the block is random. Exact eigenvectors are taken for what they are, also if
  /// there are others nearer to the wanted end that no start vector has shown yet.
  const BlockVectors<T>* guess = nullptr;
  Index guess_count = 0;
};

/// Solves; blocking and collective, the same decisions on all ranks. A is applied once an iteration, to the
/// active columns alone, and once to the whole block at the start, at a restart and at the end, where the
/// residuals are computed afresh: if they are larger than the recurrences said, the iteration goes on from
/// there. In double, where the last directions were far from dependent, the next ones are taken as they are,
/// and the Rayleigh-Ritz step makes them orthonormal; if they turn out dependent, A is applied to them a
/// second time, in the usual order. (Not with constraints, and not for residuals of 1e-11 (||A|| + |lambda|
/// ||B||) ||x|| or less, to which this adds rounding.) Without a guess of `count` vectors a preconditioner
/// that asks where the wanted end is (Preconditioner::expect) is told first, after four applications of A to
/// one vector, which count. The host waits two or three times an iteration for small matrices; other
/// sequences go on.
///
/// Restarts (the block is kept, A X computed again, P forgotten): the recurrences have drifted from A X, the
/// residuals stagnate, or a Gram matrix is singular. The basic variant ends with `breakdown` in the last
/// case.
/// The squares of the lengths of all vectors must neither overflow nor underflow in double (float vectors:
/// the elements not in float): of A x, B x, residuals at the tolerance and T times them, ||x||_B = 1, and of
/// the guess and the constraints, by B, too. Lengths from 1e-145 to 1e150 are right; a guess or
/// preconditioned residual that is shorter counts as zero, a longer one as infinite (not_finite). Where
/// tolerance (||A|| + |lambda| ||B||) is below 1e-145 (float vectors: 1e-30), A is refused.
///
/// What a function of the user's throws on any rank, in a task (UserOperator, UserPreconditioner) or between
/// them (the monitor, Preconditioner::expect and prepare), is thrown on all ranks, and the Runtime stays
/// usable: on its rank itself, on the others as a RemoteError. So is what apply() of an operator or a
/// preconditioner throws, but of several ranks that poisons the Runtime (agreement.hpp): the ranks have
/// submitted different tasks.
/// @throws InvalidArgument naming the argument: count < 1 or > n / 5 (a dense solver is right then), a block
/// too large, operators and vectors whose segments differ, linearly dependent constraints, an A found
/// asymmetric, an A so small that residuals underflow, ...
/// @throws RuntimeError for blocks of vectors that do not fit into the host's memory (without GPUs), and with
/// the message of the Status if a task could not be carried out (StatusCode::task_failed)
template <class T>
LobpcgResult<T> lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& options = {});

}  // namespace tessera
