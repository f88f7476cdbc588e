// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tessera/algorithms/lobpcg/beyond_wanted_end.hpp>

namespace tessera {

struct JacobiOptions {
  EigenEnd end = EigenEnd::smallest;
  std::optional<double> shift{};
  double b_norm = 1;  ///< about x^T B x / x^T x
};

/// w := inv(D - sigma I) r, D the diagonal of A (Davidson, J. Comput. Phys. 17 (1975) 87, there with each
/// column's own shift). Differences that are next to zero, or of the wrong sign, become 1/1000 of the largest
/// (with a given shift, those next to zero, unless it lies beyond all of D).
/// Cost: one pass over r and w, a division for each element.
template <class T>
class JacobiPreconditioner final : public Preconditioner<T> {
 public:
  /// @param diagonal of A, on every rank
  /// @throws InvalidArgument
  JacobiPreconditioner(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                       std::vector<double> diagonal, const JacobiOptions& options = {});
  const char* name() const override { return "jacobi"; }
  bool by_columns() const override { return true; }
  const RowSegments* segments() const override { return segments_.get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  double shift() const { return shift_.value(); }

 private:
  std::shared_ptr<const RowSegments> segments_;
  std::pair<double, double> limits_;  ///< least and largest element
  BeyondWantedEnd shift_;
  std::vector<Data> diagonal_;
};

}  // namespace tessera
