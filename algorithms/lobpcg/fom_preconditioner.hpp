// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tessera/algorithms/lobpcg/beyond_wanted_end.hpp>
#include <tessera/algorithms/sparse/csb_matrix.hpp>

namespace tessera {

struct FomOptions {
  EigenEnd end = EigenEnd::smallest;
  int steps = 2;  ///< 1 to fom_max_steps; more have not saved iterations in the shell model
  std::optional<double> shift{};
  double b_norm = 1;  ///< about x^T B x / x^T x
};

/// w := approximate solution of (K - sigma I) w = r, K the diagonal tiles of A, by so many steps s of the
/// full orthogonalization method on every tile and every column (Maris et al. 2022, Sec. 3.4; Saad, Iterative
/// Methods for Sparse Linear Systems, 2nd ed., Algorithm 6.4). Nothing is multiplied beyond the tiles.
/// Cost: s (4 stored entries of the tiles + 8 rows) flops a column (FomTiles), no messages.
template <class V, class T>
class FomPreconditioner final : public Preconditioner<T> {
 public:
  /// @param a must outlive it
  FomPreconditioner(Runtime& runtime, const CsbMatrix<V, T>& a, const FomOptions& options = {});
  const char* name() const override { return "fom"; }
  bool by_columns() const override { return true; }
  bool asks_for_the_end() const override { return !shift_.known(); }
  void expect(double ritz_value, double residual) override { shift_.expect(ritz_value, residual); }
  const RowSegments* segments() const override { return a_.segments().get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  double shift() const { return shift_.value(); }

 private:
  Runtime& runtime_;
  const CsbMatrix<V, T>& a_;
  int steps_;
  BeyondWantedEnd shift_;
  std::vector<Data> begins_;  ///< of the tiles, each segment's
  mutable Data scratch_;
  mutable std::size_t scratch_bytes_ = 0;
};

}  // namespace tessera
