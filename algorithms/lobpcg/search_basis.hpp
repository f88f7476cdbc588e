// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>

namespace tessera::detail {

/// Columns of a search basis that a restart keeps, and the most that it has.
struct BasisSizes {
  Index pairs = 0;   ///< Ritz vectors that a restart keeps
  Index spaces = 0;  ///< columns that the next step may add
  Index most = 0;    ///< columns in all: pairs + 2 spaces at least, max_basis_columns at most
};
/// A combination takes four blocks.
inline constexpr Index max_basis_columns = 4 * max_block_columns;

/// The basis V of a generalized Davidson method: blocks of up to 32 columns of about unit B-length, with their
/// products A V and B V, and the projected matrices V^H A V and V^H B V. V need not be orthonormal: the Gram
/// matrix knows. Its columns come by extend(), and go in thick restarts.
template <class T>
class SearchBasis {
 public:
  SearchBasis(LobpcgContext<T>& on, const BasisSizes& sizes);

  Index columns() const { return columns_; }
  /// Its blocks as far as they are in use.
  std::vector<BasisPart<T>> parts() const;
  /// Cholesky's factor of V^H B V, on rank 0.
  SmallOf<T> factor() const;
  /// By how much rounding errors of V may have grown in Ritz vectors; and in the last step, before a restart.
  double growth() const { return growth_; }
  double step_growth() const { return step_growth_; }
  /// Ritz values, with the sign of A, from the wanted end: as many as a restart keeps, or all.
  const std::vector<double>& values() const { return values_; }

  /// Rayleigh-Ritz in [V W], W and its products as s has them; if that goes well [V W] becomes V, smaller again
  /// where the next step might find no space. Where the rounding errors could grow by more than `max_growth`
  /// nothing changes (dependent). @param first pairs before this one leave no vector of the last step at a
  /// restart @param end the same of those from here on
  StepOutcome extend(LobpcgState<T>& s, Index first, Index end, double max_growth);

  /// x := the Ritz vectors of the pairs first, ..., end - 1, with their products, from column 0 on.
  void ritz_vectors(const ProductBlock<T>& x, Index first, Index end) const;

  /// The first pairs leave: V := Ritz vectors of the others, at most 64 of them, from the wanted end. Nothing is
  /// multiplied. @param norm the largest magnitude of Ritz values so far
  void leave(Index pairs, double norm);

  /// No columns.
  void clear() { columns_ = 0; }

 private:
  using Part = BlockVectors<T> ProductBlock<T>::*;
  struct Outcome;

  Outcome project(const LobpcgState<T>& s, const std::vector<SmallOf<T>>& sums, Index first, Index end) const;
  std::vector<BlockColumns<T>> columns_of(Part part) const;
  void append(const ProductBlock<T>& w, const std::vector<double>& scale);
  void shrink(const BasisStep<WideOf<T>>& step);
  double measure();

  LobpcgContext<T>& on_;
  BasisSizes sizes_;
  std::vector<ProductBlock<T>> blocks_;
  Index columns_ = 0, restarts_ = 0;
  SmallOf<T> matrix_, gram_;  ///< V^H A V with the sign of what is minimised, V^H B V; on rank 0
  SmallOf<T> coefficients_;   ///< of the Ritz vectors
  std::vector<double> values_;
  double growth_ = 1, step_growth_ = 1;
};

}  // namespace tessera::detail
