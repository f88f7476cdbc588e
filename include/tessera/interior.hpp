// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/block_vectors.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/operators.hpp>

/// @file
/// Eigenpairs inside the spectrum, near a number sigma, by folding it: the pairs of A nearest to sigma are those of the
/// smallest eigenvalues of (A - sigma I)^2 (Wang and Zunger, J. Chem. Phys. 100 (1994) 2394):
///
///   const FoldedOperator<double> folded(runtime, a, sigma);
///   const auto r = lobpcg(runtime, {.a = &folded}, {.count = 4, .method = EigenMethod::generalized_davidson});
///   const auto near = interior_pairs(runtime, a, sigma, r);
///
/// Where (A - sigma I) x = b can be solved, an operator that does so (UserOperator) needs far fewer iterations: its
/// largest eigenvalues are 1 / (lambda - sigma) of those next above sigma, its smallest of those next below.
namespace tessera {

/// y := (A - sigma I)^2 x, by two applications of A and two passes over vectors; memory for one block of them. The
/// condition is that of A - sigma I squared, and so are residuals: the bound of the norm is (||A|| + |sigma|)^2.
template <class T>
class FoldedOperator final : public SymmetricOperator<T> {
 public:
  /// `a`: must outlive it
  /// @throws InvalidArgument: a sigma that is not finite
  FoldedOperator(Runtime& runtime, const SymmetricOperator<T>& a, double sigma);
  Index order() const override { return a_.order(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return a_.segments(); }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override;
  /// Twice those of A.
  Index stored_entries() const override { return 2 * a_.stored_entries(); }

 private:
  Runtime& runtime_;
  const SymmetricOperator<T>& a_;
  double sigma_;
  mutable BlockVectors<T> between_;
};

/// Eigenpairs near a number.
template <class T>
struct InteriorPairs {
  std::vector<double> values;     ///< of A, the nearest to sigma first
  std::vector<double> residuals;  ///< ||A x - lambda x||, ||x|| = 1
  BlockVectors<T> vectors;        ///< orthonormal columns in the order of values
};

/// Rayleigh-Ritz of A in the space of the pairs that a solve with FoldedOperator has found: eigenvalues at the same
/// distance on both sides of sigma, which folding makes equal, are told apart. One application of A; collective; waits.
/// @param folded its values, of which there must be some, are not looked at, but for their number
/// @throws InvalidArgument, also for more than 32 pairs
template <class T>
[[nodiscard]] InteriorPairs<T> interior_pairs(Runtime& runtime, const SymmetricOperator<T>& a, double sigma,
                                              const LobpcgResult<T>& folded);

}  // namespace tessera
