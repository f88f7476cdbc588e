// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <tessera/algorithms/lobpcg/lanczos_problem.hpp>
#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>

namespace tessera::detail {

/// Columns of a block Lanczos basis.
struct LanczosSizes {
  Index pairs = 0;  ///< wanted
  Index block = 0;  ///< of a step
  Index most = 0;   ///< of the basis, without the next block
  Index room = 0;   ///< of the whole space, without the constraints
};

/// An orthonormal basis V = [V_locked V_active] of locked Ritz vectors and of a block Krylov space, thick in the
/// sense of its restarts: A V_active = V_active H + F E^T, where E takes the last block of V. F, made orthonormal,
/// is W, the next block. H is the projected matrix as inner products say it. A V is not kept.
template <class T>
class LanczosBasis {
 public:
  LanczosBasis(LobpcgContext<T>& on, const LanczosSizes& sizes) : on_(on), sizes_(sizes) {}

  Index columns() const { return columns_; }
  Index locked() const { return locked_; }
  Index block() const { return sizes_.block; }
  Index most() const { return sizes_.most; }
  /// So far, of all bases.
  Index steps() const { return steps_; }
  /// Norms, in the order in which they were locked.
  std::vector<double> residuals_of_locked() const {
    std::vector<double> norms;
    for (const LanczosPair& pair : locked_pairs_) norms.push_back(pair.residual);
    return norms;
  }
  /// No step is possible any more before a restart.
  bool full(const LobpcgState<T>& s) const {
    return s.w.columns == 0 || columns_ + s.w.columns > sizes_.most;
  }

  /// W becomes orthonormal to V, with random columns where too few are independent.
  StepOutcome accept_start(LobpcgState<T>& s);
  /// V := [V W], and W := the next block.
  StepOutcome extend(LobpcgState<T>& s);
  /// Twice as many columns from the next step on, the new ones random; false if there is no space for any.
  bool widen(LobpcgState<T>& s);
  /// Since the last call: W was random because A W was in V, and shows what the basis before could not.
  bool found_end() { return std::exchange(found_end_, false); }

  /// The Ritz pairs of V, and what their residuals are by F.
  StepOutcome find_pairs(LobpcgState<T>& s);
  /// From the wanted end on, with the sign of A; locked ones among them.
  const std::vector<LanczosPair>& pairs() const { return pairs_; }
  /// The thick restart: V := Ritz vectors, `kept` of them, the first that are locked now.
  /// @param locks places in pairs()
  void restart(Index kept, const std::vector<Index>& locks);

  /// X's first columns := the Ritz vectors of the first `count` pairs.
  void ritz_vectors(const BlockVectors<T>& x, Index count) const;

  /// The residuals of Ritz vectors with these values, at most a block of them, over the tolerance; none if they are
  /// not finite.
  using Measure = std::function<std::vector<double>(const ResidualSquares&, const std::vector<double>&)>;
  /// From nothing: Ritz vectors of span(X), of its first `count` columns. Those with residuals of at most `lock`
  /// times the tolerance are locked, or the tolerance where all that are wanted reach it, and W := sums of the
  /// others.
  StepOutcome start_from(LobpcgState<T>& s, const BlockVectors<T>& x, Index count, double lock,
                         const Measure& measure);

 private:
  std::vector<BasisPart<T>> parts() const;
  std::vector<BlockColumns<T>> vectors(Index first, Index end) const;
  void append(const BlockColumns<T>& from);
  void rotate(const std::vector<Index>& places);
  BlockEnd note_products(const LobpcgState<T>& s, const SmallOf<T>& near, const FirstProducts<T>& beyond);
  bool subtract_near_part(LobpcgState<T>& s, SmallOf<T>& products);
  StepOutcome add_guess(LobpcgState<T>& s, const BlockColumns<T>& guess,
                        std::vector<ProductBlock<T>>& products);
  bool solve_start(LobpcgState<T>& s, const std::vector<ProductBlock<T>>& products,
                   LanczosRitz<WideOf<T>>& ritz);
  void lock_or_add(LobpcgState<T>& s, const std::vector<ProductBlock<T>>& found,
                   const std::vector<LanczosPair>& pairs, const std::function<bool(Index)>& locks);
  void clear();

  LobpcgContext<T>& on_;
  LanczosSizes sizes_;
  std::vector<ProductBlock<T>> blocks_;  ///< of 32 columns each, vectors alone
  Index columns_ = 0, locked_ = 0, steps_ = 0;
  Index near_ = 0;     ///< first column of V that A times the last block has a share of, but for rounding
  SmallOf<T> matrix_;  ///< H, on rank 0
  SmallOf<T> rest_;    ///< F^H F, on rank 0
  LanczosRitz<WideOf<T>> ritz_;  ///< of the active columns as they were then; its coefficients on rank 0
  std::vector<LanczosPair> locked_pairs_, pairs_;
  bool found_end_ = false;
};

}  // namespace tessera::detail
