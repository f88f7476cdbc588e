// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/block_vectors.hpp>
#include <tessera/completion.hpp>
#include <tessera/operators.hpp>
#include <tessera/runtime.hpp>
#include <tessera/statistics.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

/// @file
/// A few of the smallest or largest eigenvalues of A x = lambda x or A x = lambda B x, A real symmetric or complex
/// Hermitian, B positive definite, too, for float, double, complex<float>, complex<double>, by the locally optimal
/// block preconditioned conjugate gradient method (Knyazev, SIAM J. Sci. Comput. 23 (2001) 517), by generalized
/// Davidson with a deeper basis, or, many of A x = lambda x, by block Lanczos:
///
///   const auto r = lobpcg(runtime, {.a = &a, .preconditioner = &t}, {.count = 8});
///   if (!r) return fail(r.status().message());
namespace tessera {

/// How the space grows that the eigenvectors are taken from.
enum class EigenMethod {
  lobpcg,                ///< the last step alone is remembered: [X W P], the least memory
  generalized_davidson,  ///< GD+k: a basis of `basis` columns, restarted thick: fewer products, and more work and
                         ///< memory for vectors (Stathopoulos, SIAM J. Sci. Comput. 29 (2007) 481)
  automatic,  ///< Lanczos for more than 32 pairs without B, preconditioner and variant basic, where its basis fits
  ///< (also into the GPUs' memory); else the one whose iterations cost less for the wanted pairs, in flops: with c
  ///< of a product a row and column, 4 times the stored entries a row of a half, LOBPCG's with its block b take
  ///< b (36 b + c) a row, the others max(count, block) (10 basis + c). Generalized Davidson where
  ///< stored_entries() is unknown, LOBPCG where GPUs have a stored matrix, of which they multiply few
  ///< columns in the time of a block; before that what only one of the two takes (variant basic, a basis, a block
  ///< below count) decides
  lanczos,  ///< block Lanczos, of a basis that holds all wanted pairs at once, orthonormal, and restarted thick: the
            ///< fewest products where many pairs are wanted. Neither B, whose inverse it would need, nor a
            ///< preconditioner (Wu and Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602)
};
/// How the Rayleigh-Ritz problem of LOBPCG is made.
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
/// Which end of the spectrum is wanted.
enum class EigenEnd {
  smallest,  ///< the smallest eigenvalues
  largest    ///< the largest ones
};

/// One line of the history: the state after iteration `iteration` (0: the start; restarts count as
/// iterations).
///
/// Times of this rank. The seconds of multiplications (A, B), preconditioner and dense work (tall vectors)
/// are those that a worker has spent in such tasks, in the mean of the workers that have run any;
/// waiting_seconds is the rest of the time, in which workers had no task: the host's small matrices, waits
/// for other ranks, tasks too few for all workers. The four add up to `seconds`, but for tasks that are under
/// way.
struct LobpcgStep {
  /// From 0.
  Index iteration = 0;
  Index converged = 0;  ///< in order from the wanted end
  Index active = 0;     ///< columns that are still worked on
  double largest_residual =
      0;  ///< of the wanted ones, scaled as the stop is, over tol (a group's): at most 1 at
          ///< the end
  std::vector<double>
      values;  ///< Ritz values of the block (of more than 32 pairs: the group's), from the wanted end
  std::vector<double>
      residuals;                ///< of the block, scaled as the stop is: what is compared with the tolerance
  double seconds = 0;           ///< since the start
  double multiply_seconds = 0;  ///< so far, in multiplications
  double preconditioner_seconds = 0;  ///< so far, in the preconditioner
  double dense_seconds = 0;           ///< so far, in dense work
  double waiting_seconds = 0;         ///< so far, without a task
};

/// The file from which a later solve goes on, after a kill or with more iterations: HDF5, the pairs found so far
/// and the Ritz vectors of the block, written whole or not at all. It does not depend on how many ranks write or
/// read it. Rank 0 writes, with one thread of HDF5: of submit_lobpcg nothing else may use HDF5 meanwhile. Where
/// it cannot be written during the solve (a full disk), the one before stays, the log has a warning,
/// LobpcgResult::checkpoint_failure the reason, and the solve goes on.
struct LobpcgCheckpoint {
  std::string path{};    ///< empty: none is written
  Index iterations = 0;  ///< written after so many iterations; 0: by time alone
  double seconds = 600;  ///< or after so many seconds, by rank 0's clock; 0: by iterations alone
  /// Where operators of one order and norm have their rows in different orders: which it is. Must be equal when the
  /// file is read.
  std::string label{};
};

/// How a problem is solved.
struct LobpcgOptions {
  /// k: wanted eigenpairs, at most n / 5. More than 32 are found in groups, except by Lanczos (LOBPCG: of 21, otherwise
  /// 8, fewer with a small block), each with those before as constraints, to a tenth of the tolerance; block, basis and
  /// iterations are a group's then. That takes 2 k columns (with B: 3 k) besides.
  Index count = 1;
  /// How the space grows.
  EigenMethod method = EigenMethod::lobpcg;
  /// LOBPCG: vectors of the block, >= count, at most 32, three times as many (and the constraints) <= n; 0: count +
  /// max(2, count / 2), where GPUs take part up to a multiple of 8, as far as these bounds allow. What exceeds count are
  /// guard vectors: they separate the wanted eigenvalues from the others, also multiple ones. Otherwise the most columns
  /// that A is multiplied with in an iteration (Lanczos: at once), at most 32; 0: count, at most 8 (Lanczos: 4). Where
  /// Lanczos finds as many equal values as it has columns it goes on with twice as many.
  Index block = 0;
  /// Not LOBPCG: the most columns of the basis. Lanczos: at least count + max(3 block, 16), at most n less the
  /// constraints; 0: max(64, 2 count + 32), where these bounds and half of the GPUs' memory allow it. Generalized
  /// Davidson: at least max(count, block) + 2 block (of groups 3 block + 1), at most 128 and n less the constraints; 0:
  /// 64, more where these bounds need it, fewer where half of the GPUs' memory does not hold them.
  Index basis = 0;
  /// The wanted end of the spectrum.
  EigenEnd end = EigenEnd::smallest;
  double tolerance = 0;  ///< 0: 1e-8 (vectors in single precision: 1e-4)
  /// What residuals are compared with.
  LobpcgNorm norm = LobpcgNorm::backward;
  /// How the Rayleigh-Ritz problem is made.
  LobpcgVariant variant = LobpcgVariant::orthonormal;
  Index iterations = 500;  ///< at most; one of Lanczos fills a quarter of what a restart leaves of the basis
  bool lock = true;  ///< converged vectors take no more part in W (soft locking). Lanczos: those with a tenth
                     ///< of the tolerance stay as they are, outside of the projected problem
  std::uint64_t seed = 1;  ///< of the random start
  /// After each iteration, on every rank; false on any stops (status: stopped). What it throws on any rank
  /// the solve throws on all.
  std::function<bool(const LobpcgStep&)> monitor{};
  /// Written from time to time, and at the end where the solve was stopped or is out of iterations. Not at success:
  /// the last one stays. Not by Lanczos, which is not the automatic method then.
  LobpcgCheckpoint checkpoint{};
  /// A checkpoint to go on from, of the same problem, scalar type, count and end: its Ritz vectors are the start
  /// (a restart), its pairs are found already. Method, sizes, preconditioner, seed and tolerance may be others, but
  /// for pairs of groups the tolerance no smaller. `iterations` are counted from here. Empty: none.
  std::string resume{};
};

/// The result of a solve. Its status: success; iterations_exhausted; stagnated (the residuals do not fall any
/// more, restarts included); breakdown (the variant or the preconditioner leaves no usable direction, or B is
/// found not positive definite); stopped (by the monitor); not_finite (NaN or infinity in the operator's, B's
/// or the preconditioner's result); task_failed, then without values. The reason is one line for a person.
/// Also without convergence the pairs are the best that there are.
template <class T>
struct LobpcgResult : ResultStatus {
  EigenMethod method = EigenMethod::lobpcg;  ///< by which they were sought
  std::vector<double> values;     ///< `count` Ritz values, from the wanted end; none if the solve has failed
                                  ///< before the first Rayleigh-Ritz step; of more than 32 fewer where it has
                                  ///< ended before the last group
  std::vector<double> residuals;  ///< ||A x - theta B x||, ||x||_B = 1, with A x and B x computed afresh at
                                  ///< the end (NaN where the status is not_finite)
  std::vector<double> scaled_residuals;  ///< the same over what the tolerance is compared with
  /// The block, columns in the order of values; B-orthonormal. Zero without values.
  BlockVectors<T> vectors;
  Index converged = 0;  ///< in order from the wanted end, by the fresh residuals
  // After `resume` these count from the very start.
  Index iterations = 0;             ///< restarts included
  Index restarts = 0;               ///< of these
  Index columns_multiplied = 0;     ///< by A, in all
  Index multiplications = 0;        ///< calls of A's apply
  std::vector<LobpcgStep> history;  ///< a line for each iteration, of this solve alone
  Index iterations_before =
      0;                  ///< of `iterations`, those before the checkpoint that the solve has gone on from
  Index checkpoints = 0;  ///< written
  std::string checkpoint_failure;  ///< why the last one could not be written; empty: it could
  SequenceStatistics statistics;   ///< of this rank's tasks; stages multiply, preconditioner, dense
};

/// An input by its address, which must live until the solve is over, or by a shared pointer, which the
/// computation keeps.
template <class Object>
class SharedInput {
 public:
  /// None.
  SharedInput(std::nullptr_t = nullptr) noexcept {}
  /// The caller's object.
  SharedInput(Object* object) noexcept : object_(std::shared_ptr<void>(), object) {}
  /// A shared one.
  template <class Derived>
  requires std::is_convertible_v<Derived*, Object*> SharedInput(std::shared_ptr<Derived> object)
  noexcept : object_(std::move(object)) {}
  /// The object, or null.
  operator Object*() const noexcept { return object_.get(); }
  /// Its members.
  Object* operator->() const noexcept { return object_.get(); }

 private:
  std::shared_ptr<Object> object_;
};

/// A x = lambda x, or A x = lambda B x, and what helps to solve it. T: the vectors' type; eigenvalues are real.
template <class T>
struct LobpcgProblem {
  SharedInput<const SymmetricOperator<T>> a{};      ///< symmetric, or Hermitian
  SharedInput<const SymmetricOperator<T>> b{};      ///< positive definite; null: the identity
  SharedInput<Preconditioner<T>> preconditioner{};  ///< null: none
  /// The solution is B-orthogonal to these; linearly independent.
  SharedInput<const BlockVectors<T>> constraints{};
  Index constraint_count = 0;  ///< of its columns
  /// Start vectors; the rest of the block is random. Exact eigenvectors are taken for what they are, also if
  /// there are others nearer to the wanted end that no start vector has shown yet.
  SharedInput<const BlockVectors<T>> guess{};
  Index guess_count = 0;  ///< of its columns
};

/// Solves; blocking and collective, the same decisions on all ranks. A is applied once an iteration, to the
/// active columns alone, and once to the whole block at the start, at a restart and at the end, where the
/// residuals are computed afresh: if they are larger than the recurrences said, the iteration goes on from
/// there. (Generalized Davidson: to at most `block` columns that have not converged, and at the end to max(count,
/// block) vectors; in groups at the end of each. Lanczos: to a block at a time until a quarter of what its last thick
/// restart has left of the basis is filled: then the Rayleigh-Ritz step, with residuals from the last block of the
/// projected matrix, ends the iteration; and to all wanted vectors at the end. Its thick restarts are none of those
/// that the result counts.) In double, where the last directions were far from dependent, the next ones are taken as
/// they are,
/// and the Rayleigh-Ritz step makes them orthonormal; if they turn out dependent, A is applied to them a
/// second time, in the usual order. (Not with constraints, and not for residuals of 1e-11 (||A|| + |lambda|
/// ||B||) ||x|| or less, to which this adds rounding.) Without a guess of `count` vectors LOBPCG tells a preconditioner
/// that asks where the wanted end is (Preconditioner::expect) first, after four applications of A to
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
/// preconditioner throws, but of several ranks that poisons the Runtime: the ranks have
/// submitted different tasks.
/// @throws InvalidArgument naming the argument: count < 1 or > n / 5 (a dense solver is right then), a block
/// too large,
///         operators and vectors whose segments differ, linearly dependent constraints, an A found
///         asymmetric, an A so small that residuals underflow, a checkpoint that cannot be written, one of another
///         problem (resume), ...
/// @throws InputError for a checkpoint to read that is missing, damaged or no checkpoint
/// @throws RuntimeError for blocks of vectors that do not fit into the host's memory (without GPUs)
template <class T>
[[nodiscard]] LobpcgResult<T> lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                                     const LobpcgOptions& options = {});
/// The same on default_runtime(), where the operators' vectors must be.
template <class T>
[[nodiscard]] LobpcgResult<T> lobpcg(const LobpcgProblem<T>& problem, const LobpcgOptions& options = {}) {
  return lobpcg<T>(default_runtime(), problem, options);
}

/// The same, submitted. What is wrong with the arguments is thrown by the call itself. On one rank a thread
/// of the library's iterates from then on: the monitor, and what is overridden of SymmetricOperator and
/// Preconditioner, are called there, and must not be used elsewhere meanwhile; what they throw,
/// Completion::wait throws. On several ranks the iteration decides by numbers of all of them, and must meet
/// them in the order of the calls: there the call returns when the solve is over.
template <class T>
Completion<LobpcgResult<T>> submit_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                                          const LobpcgOptions& options = {});

/// @cond
// With these a problem in braces finds its scalar type.
#define TESSERA_LOBPCG(T)                                                                             \
  inline Completion<LobpcgResult<T>> submit_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem, \
                                                   const LobpcgOptions& options = {}) {               \
    return submit_lobpcg<T>(runtime, problem, options);                                               \
  }                                                                                                   \
  [[nodiscard]] inline LobpcgResult<T> lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,      \
                                              const LobpcgOptions& options = {}) {                    \
    return lobpcg<T>(runtime, problem, options);                                                      \
  }                                                                                                   \
  [[nodiscard]] inline LobpcgResult<T> lobpcg(const LobpcgProblem<T>& problem,                        \
                                              const LobpcgOptions& options = {}) {                    \
    return lobpcg<T>(problem, options);                                                               \
  }
TESSERA_FOR_SCALARS(TESSERA_LOBPCG)
#undef TESSERA_LOBPCG
/// @endcond

}  // namespace tessera
