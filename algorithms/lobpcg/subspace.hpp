// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/algorithms/lobpcg/projected_problem.hpp>
#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/residual.hpp>
#include <tessera/lobpcg.hpp>

namespace tessera {

/// Columns of a block of vectors.
template <class T>
struct BlockColumns {
  const BlockVectors<T>* block;
  Index first, columns;
};

/// Sums over all rows and ranks of inner products.
template <class T>
struct GramJob {
  std::vector<BlockColumns<T>> left, right;
};

/// The operations of LOBPCG on large vectors, as tasks a segment each, and the small matrices that come from
/// them. In a call that needs a small matrix the host waits for it, and other sequences go on; all other
/// calls submit and return. Small matrices are summed in the order of the segments on each rank, then by
/// rank: the same bits in every run of as many ranks.
template <class T>
class VectorTasks {
 public:
  VectorTasks(Sequence& sequence, std::shared_ptr<const RowSegments> segments, Index max_columns);

  BlockVectors<T> block(Index width) const { return {sequence_.runtime(), segments_, width}; }
  Sequence& sequence() const { return sequence_; }

  /// On rank 0 the Gram matrices of the jobs (empty if a task has failed on some rank); nothing on the
  /// others.
  std::vector<SmallMatrix> grams(std::span<const GramJob<T>> jobs);
  /// outputs := inputs c. The other columns of a block that is no input become zero: it need not hold anything
  /// before.
  void combine(std::span<const BlockColumns<T>> inputs, std::span<const BlockColumns<T>> outputs,
               const SmallMatrix& c);
  void random(const BlockVectors<T>& v, Index first, Index columns, std::uint64_t seed, bool clear);
  /// r := ax - bx diag(theta) of columns first, ...
  void residual(const BlockVectors<T>& x, const BlockVectors<T>& ax, const BlockVectors<T>* bx,
                const BlockVectors<T>& r, std::span<const double> theta, Index first);
  /// Waits for the squared norms that the last residual() leaves, as residual.hpp says; on every rank. Empty
  /// if a task has failed.
  std::vector<double> wait_for_norms();

 private:
  Sequence& sequence_;
  std::shared_ptr<const RowSegments> segments_;
  std::size_t gram_bytes_;
  std::vector<std::vector<Data>> grams_;  ///< by job and segment
  std::vector<Data> norms_;               ///< by segment
  Data work_;                             ///< scratch of GPUs
};

/// X, W and P of LOBPCG with their products; in the orthonormal variant B-orthonormal, but for a W that is
/// relied on.
template <class T>
class Subspace {
 public:
  Subspace(Sequence& sequence, const LobpcgProblem<T>& problem, const LobpcgOptions& options, Index block);

  /// W := the guess and random vectors. False if the constraints are linearly dependent.
  bool start();
  /// W := X, and there are no X and P any more: A is multiplied afresh.
  void restart();
  /// At the end: after a restart from which no new X has come, X and the values are those from before it.
  void keep_last();
  /// W := residuals of the columns from `first` on, or what the preconditioner makes of them.
  void new_directions(Index first);

  enum class Outcome { done, not_finite, nothing_left, not_positive, dependent };
  /// Makes W B-orthonormal to itself, X, P and the constraints (basic variant: to the constraints alone);
  /// dropped columns become random ones, of which there are fewer only where B has too small a rank.
  /// nothing_left: none came of W itself; not_positive: B is indefinite.
  Outcome orthonormalise();
  /// Whether W may stay as it is: the last one was so far from dependent, on itself, X and P, that the
  /// Rayleigh-Ritz step's Gram matrix is as good as orthonormalise(), which passes over all vectors twice.
  bool relies_on_directions() const;
  /// AW := A W. Without orthonormalise() before it B W, too.
  void multiply();
  /// [X P] := [X W P] C, the matrices' products too. `dependent`, and X, W and P are what they were: W is not
  /// orthonormal, and not what relies_on_directions() took it for. @param first_active columns that get a P
  Outcome rayleigh_ritz(Index first_active);
  /// W without its first columns, `count` of them.
  void drop_directions(Index count);
  /// R, stored from column `first` on. Does not wait.
  void residuals(Index first);
  /// Squared norms of the residuals, X, AX and BX (residual.hpp).
  std::vector<double> wait_for_norms() { return tasks_.wait_for_norms(); }
  /// P of columns before `first` are forgotten.
  void forget_directions(Index first);
  /// AX := A X, BX := B X and their residuals' norms; the largest element of |X^T B X - I|.
  std::vector<double> verify(double& defect);

  const std::vector<double>& values() const { return values_; }  ///< with the sign of A
  Index columns() const { return x_; }
  Index new_columns() const { return w_; }  ///< of W
  /// Of A, from below: the largest that has been seen, in units of the standard problem.
  double norm() const { return norm_; }
  double asymmetry() const { return asymmetry_; }  ///< of W^T A W at the start, over the largest |w| |A w|
  /// |X^T (A W) - (A X)^T W| when last measured, over the largest eigenvalue of a projected problem.
  double drift() const { return drift_; }
  Index columns_multiplied() const { return columns_multiplied_; }
  Index multiplications() const { return multiplications_; }
  BlockVectors<T>& vectors() { return x_block_.v; }

 private:
  struct Block {
    BlockVectors<T> v, av, bv;
  };
  struct RitzOutcome;
  Block new_block(Index width, bool with_a) const;
  const BlockVectors<T>& mass(const Block& block) const { return problem_.b ? block.bv : block.v; }
  bool add_constraints();
  void multiply_b(Block& block, Index columns);
  Outcome orthonormalise(Block& block, Index& columns, Index want, bool strict);
  OrthonormalRound round(Block& block, Index columns, const OrthonormalRules& rules, bool to_x);
  void apply_round(Block& block, Index columns, const OrthonormalRound& round, bool to_x, bool masses);
  bool measures_all() const;
  bool is_independent(double independence, double growth) const;
  double independence(const SmallMatrix& products) const;
  RitzOutcome solve_projected(Index first_active, bool all);
  void update(const RitzStep& step);

  VectorTasks<T> tasks_;
  LobpcgProblem<T> problem_;
  LobpcgOptions options_;
  Index block_, order_;
  Block x_block_, w_block_, p_block_;
  BlockVectors<T> r_;
  std::vector<Block> constraints_;
  Index x_ = 0, w_ = 0, p_ = 0, p_first_ = 0;
  std::vector<double> values_;
  SmallMatrix p_matrix_;
  std::vector<Index> owners_;
  double norm_ = 0, projected_norm_ = 0, asymmetry_ = 0, drift_ = 0;
  double independence_ = 0;   ///< of the last W, before it was orthonormal (OrthonormalRound)
  bool orthonormal_ = false;  ///< orthonormalise() was called for this W
  Index passes_ = 0, columns_multiplied_ = 0, multiplications_ = 0;
  std::uint64_t random_fills_ = 0;
};

}  // namespace tessera
