// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/algorithms/sparse/symmetric_operator.hpp>

namespace tessera {

/// Both triangles of a real symmetric matrix by rows, counted from 0: row i's entries are number begins[i],
/// ..., begins[i + 1] - 1, in any order. The memory is the caller's, and only used while a matrix is built.
struct CsrArrays {
  std::span<const Index> begins;  ///< as many as rows, and one
  std::span<const Index> columns;
  std::span<const double> values;
};

/// A real symmetric matrix all of whose entries are stored, by rows, in pieces of a segment of rows and a
/// segment of columns each. It reads twice what a CsbMatrix does, and needs no preparation. V: the values'
/// type, T: the vectors'. The pieces of a segment of rows belong to its rank, and add to it one after the
/// other: the sums' order is fixed.
template <class V, class T>
class CsrMatrix final : public SymmetricOperator<T> {
 public:
  /// Builds the matrix from arrays that every rank has; a rank keeps its segments' rows. `segments`: of the
  /// rows, 0: chosen. That the matrix is symmetric is not checked.
  /// @throws InvalidArgument for arrays that do not fit, columns outside, values that are not finite, and
  /// begins or columns that differ from another rank's
  static CsrMatrix build(Runtime& runtime, const CsrArrays& arrays, Index segments = 0);

  Index order() const override { return segments_->rows(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override { return norm_; }  ///< the largest sum of magnitudes of a row
  Index stored_entries() const override { return entries_; }

 private:
  struct Piece;
  CsrMatrix() = default;
  static CsrMatrix made_of(Runtime& runtime, const CsrArrays& arrays, Index segments);
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  std::shared_ptr<const RowSegments> segments_;
  std::shared_ptr<std::vector<Piece>> pieces_;  ///< in the order of their tasks
  Index entries_ = 0;
  double norm_ = 0;
};

}  // namespace tessera
