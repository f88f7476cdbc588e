// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>

namespace tessera::detail {

/// The factors c, of sum 1, for which || sum_j c_j e_j || is least, from products[j][k] = <e_j, e_k>; nothing
/// where the differences of the e_j to the last one are linearly dependent: condition above 1e12 of their Gram
/// matrix, scaled to a unit diagonal.
std::optional<std::vector<double>> pulay_coefficients(const std::vector<std::vector<double>>& products);

/// The last Hamiltonians of all channels and their errors.
template <class T>
class PulayHistory {
 public:
  using Matrices = std::vector<BlockSparseMatrix<T>>;
  explicit PulayHistory(Index most) : most_(most) {}

  /// Of a step: Hamiltonians and their commutators with the densities. Drops the oldest if there are too many.
  void add(Matrices hamiltonians, Matrices errors);
  /// The combination of least error. If the errors are dependent, all but the last two are forgotten.
  Matrices combined(BlockAlgebra<T>& algebra);

 private:
  struct Entry {
    Matrices hamiltonians, errors;
    std::vector<double> products;  ///< with the errors up to this one, the oldest first
  };
  void drop_oldest();
  std::vector<std::vector<double>> products() const;
  const Index most_;
  std::deque<Entry> entries_;
};

}  // namespace tessera::detail
