// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <tessera/algorithms/lobpcg/found_pairs.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>

namespace tessera::detail {

/// The least length that is measured right (lobpcg.hpp).
template <class T>
inline constexpr double shortest_length = sizeof(RealOf<T>) == 4 ? 1e-30 : 1e-145;

/// The loop that all methods have in common: a method makes the basis larger and takes the Ritz pairs and
/// their residuals from it; what these show decides whether the loop goes on, begins again from X (restart)
/// or ends. More pairs than a block holds are found in groups: those of a group become constraints of the
/// next ones (hard locking), and the basis goes on without them.
template <class T>
class EigenLoop {
 public:
  /// @param pairs  the most of a group (pairs_of_group)
  EigenLoop(Runtime& runtime, const LobpcgProblem<T>& problem, const LobpcgOptions& resolved, Index pairs);
  virtual ~EigenLoop() = default;
  EigenLoop(const EigenLoop&) = delete;
  EigenLoop& operator=(const EigenLoop&) = delete;

  LobpcgResult<T> solve();

 protected:
  // What a method does. The first two return false where the solve has ended or begins again.

  /// From the directions W to new Ritz pairs.
  virtual bool extend_basis() = 0;
  /// R = A X - B X diag(theta), and s_.residuals.
  virtual bool measure_residuals() = 0;
  /// The new directions W.
  virtual void next_directions() = 0;
  /// X := the Ritz vectors of all s_.ritz_values. At the end, and for a checkpoint after next_directions().
  virtual void bring_pairs() = 0;
  /// W := X, and the basis is empty.
  virtual void begin_again() = 0;
  /// Makes W orthonormal to what the basis has.
  virtual StepOutcome orthonormalise_w() = 0;

  /// The first `count` of X have become constraints: the next group starts from what is left, and from the guess
  /// from column `guess` on. Whether W has directions; else the basis has Ritz pairs.
  virtual bool leave_pairs(Index count, Index guess) = 0;

  /// Fresh residuals of X, and how far it is from orthonormal.
  virtual FreshResiduals verify_pairs() { return verify(on_, s_); }

  /// All wanted pairs have converged: whether no others are to be expected before them.
  virtual bool has_seen_all() { return true; }

  // What methods use.

  bool orthonormalise_directions();
  bool accept(StepOutcome outcome);
  /// Residual norms of columns with these Ritz values; false where they are not finite.
  bool measure(const ResidualSquares& squares, const std::vector<double>& ritz_values,
               ResidualNorms& residuals);
  bool end_without_residuals();
  bool end(StatusCode code, std::string reason);
  /// Refuses an A so small that residuals at the tolerance underflow.
  void refuse_short(const ResidualNorms& residuals);
  bool preconditions_at_once() const {
    return problem_.preconditioner && problem_.preconditioner->by_columns();
  }

  double rounding() const { return static_cast<double>(precision<T>); }

  Runtime& runtime_;
  const LobpcgProblem<T>& problem_;
  LobpcgOptions options_;  ///< of the present group
  Sequence sequence_;
  LobpcgContext<T> on_;
  LobpcgState<T> s_;
  ConvergenceTest test_;

 private:
  bool test_convergence();
  bool confirm();
  bool test_progress();
  bool restart_for(const std::string& reason);
  bool end_exhausted(Index converged);
  bool end_without_basis();
  [[noreturn]] void refuse(std::string_view name, const std::string& value, const std::string& expected);
  bool take(const ResidualSquares& squares) { return measure(squares, s_.ritz_values, s_.residuals); }
  bool monitor_stops();
  Status wait();
  void finish();
  void set_group(Index pairs);
  bool relax();
  bool end_group();
  void keep_pairs(Index count);
  void collect();
  // Checkpoints (eigen_checkpoint.cpp).
  void resume();
  bool is_resumed_problem();
  void save_if_due();
  void save();

  const LobpcgOptions given_;
  const Index pairs_;
  FoundPairs found_;
  Index first_found_ = 0;  ///< constraint that the first of their vectors is in
  bool has_directions_ = true, all_found_ = false;
  Progress progress_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point saved_ = begin_;  ///< the last checkpoint, or the start
  Index saved_iteration_ = 0;
  std::vector<double>
      resumed_values_;       ///< Ritz values of the checkpoint, until the first step has confirmed them
  double resumed_norm_ = 0;  ///< of A, as far as it was seen then
  bool ended_ = false;
  LobpcgResult<T> result_;
};

}  // namespace tessera::detail
