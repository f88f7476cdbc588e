// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/lobpcg_state.hpp>
#include <tessera/lobpcg.hpp>

/// The steps of which a LOBPCG iteration consists, on its state. All ranks call them, in the same order;
/// where a step needs small matrices the host waits for them, and rank 0 decides for all.
namespace tessera::detail {

/// What stays the same in a solve.
template <class T>
struct LobpcgContext {
  /// @param resolved options (checked_options)
  LobpcgContext(Sequence& tasks_of, const LobpcgProblem<T>& given, const LobpcgOptions& resolved);

  Sequence& sequence;
  LobpcgProblem<T> problem;
  LobpcgOptions options;
  VectorTasks<T> tasks;

  Runtime& runtime() const { return sequence.runtime(); }
  /// Of what is minimised: Ritz values times this ascend from the wanted end.
  double sign() const { return options.end == EigenEnd::smallest ? 1 : -1; }
  ProductBlock<T> new_block(Index width, bool with_a = true) const;
};

enum class StepOutcome {
  done,
  not_finite,
  nothing_left,  ///< no direction came of W itself
  not_positive,  ///< B is indefinite, or the basis is singular
  dependent,     ///< W is not orthonormal, and not what trusts_directions() took it for; nothing has changed
};

/// A state with blocks, and nothing in them yet.
template <class T>
LobpcgState<T> new_state(LobpcgContext<T>& on);

/// Makes the constraints B-orthonormal, and W := the guess and random vectors. False if the constraints are
/// linearly dependent.
template <class T>
bool start(LobpcgContext<T>& on, LobpcgState<T>& s);

/// W has `known` columns already, and becomes random in those behind them.
template <class T>
void start_with(LobpcgContext<T>& on, LobpcgState<T>& s, Index known, Index columns);
/// W := columns of the guess, `columns` at most, from `first` on; how many there are.
template <class T>
Index guess_from(LobpcgContext<T>& on, LobpcgState<T>& s, Index first, Index columns);
/// The start of another group of pairs: W := the guess from column `guess` on, or the vectors of X behind the first
/// `left`, which have become constraints; the rest is random.
template <class T>
void start_group(LobpcgContext<T>& on, LobpcgState<T>& s, Index left, Index guess);

/// W := X, and there are no X and P any more: A is multiplied afresh. A restart counts as an iteration.
template <class T>
void restart(LobpcgContext<T>& on, LobpcgState<T>& s);

/// Whether the Rayleigh-Ritz step may take W as it is: the last one was so far from dependent, on itself, X
/// and P, that the step's Gram matrix is as good as orthonormalise(), which passes over all vectors twice.
template <class T>
bool trusts_directions(const LobpcgContext<T>& on, const LobpcgState<T>& s);

/// Makes W B-orthonormal to itself, X, P and the constraints (basic variant: to the constraints alone);
/// dropped columns become random ones, of which there are fewer only where B has too small a rank.
template <class T>
StepOutcome orthonormalise(LobpcgContext<T>& on, LobpcgState<T>& s);
/// The same with another basis than X and P, whose Gram matrix has this Cholesky factor (on rank 0; empty: the
/// basis is orthonormal). @param to_each_other W's columns, too
template <class T>
StepOutcome orthonormalise(LobpcgContext<T>& on, LobpcgState<T>& s, std::vector<BasisPart<T>> basis,
                           const SmallOf<T>& factor, bool to_each_other);
/// The same of one group of constraints, to those before it.
template <class T>
StepOutcome orthonormalise_constraints(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& group);

/// Inner products of a block with an orthonormal basis and the constraints, and its own.
template <class T>
struct FirstProducts {
  SmallOf<T> with_z, own;
};
/// Makes a block B-orthonormal to a few units of rounding, to such a basis and the constraints, too.
/// @param columns  to have at the end, random ones where the block has too few that are independent @param first
/// becomes what was measured before anything was changed, on rank 0
template <class T>
StepOutcome orthonormalise_block(LobpcgContext<T>& on, LobpcgState<T>& s, ProductBlock<T>& block,
                                 std::vector<BasisPart<T>> basis, Index columns,
                                 FirstProducts<T>* first = nullptr);

/// BV := B V; nothing where B is the identity.
template <class T>
void multiply_b(LobpcgContext<T>& on, const ProductBlock<T>& block);
/// AV := A V.
template <class T>
void multiply_a(LobpcgContext<T>& on, LobpcgState<T>& s, const ProductBlock<T>& block);
/// AW := A W. Without orthonormalise() before it BW := B W, too.
template <class T>
void multiply(LobpcgContext<T>& on, LobpcgState<T>& s);

/// Projects A and B onto S = [X W P], solves that problem, and makes the new X, P and their products:
/// [X P] := S C.
template <class T>
StepOutcome rayleigh_ritz(LobpcgContext<T>& on, LobpcgState<T>& s);

/// R := A X - B X diag(theta) of the columns from `first` on, and norms of all columns. Does not wait.
template <class T>
void make_residuals(LobpcgContext<T>& on, LobpcgState<T>& s, Index first);

/// W := T R, or R itself, of W's columns. @param ritz_values what the preconditioner is told
template <class T>
void precondition(LobpcgContext<T>& on, LobpcgState<T>& s, std::span<const double> ritz_values);

/// The directions of the next step, for columns that are not locked: P without those of the others, and W :=
/// the residuals, preconditioned if there is a preconditioner. May be called again when more or fewer columns
/// are locked.
template <class T>
void make_directions(LobpcgContext<T>& on, LobpcgState<T>& s);

struct FreshResiduals {
  ResidualSquares squares;
  double defect = 0;  ///< largest element of |X^H B X - I| and |Z^H B X|, Z the constraints
};
/// AX := A X and BX := B X instead of what the recurrences have left, and their residuals.
template <class T>
FreshResiduals verify(LobpcgContext<T>& on, LobpcgState<T>& s);

/// What is known of the projected problem without large vectors gathers rounding: now and then, in the basic
/// variant always, a step computes all of it.
template <class T>
bool projects_all(const LobpcgContext<T>& on, const LobpcgState<T>& s);

}  // namespace tessera::detail
