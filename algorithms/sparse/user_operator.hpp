// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/sparse/symmetric_operator.hpp>
#include <tessera/codelets/vectors/user_function.hpp>

namespace tessera {

/// A symmetric operator that a function of the user applies, a task for each segment of rows. The function
/// gets all rows of x in one piece: with one segment where they lie, with several as a copy that each task
/// makes (and, over ranks, as messages to all). One segment is right on one rank unless the function is much
/// slower than a copy of x.
///
/// The function is called from workers, of several segments at once. What it throws ends the solve, which
/// throws it again: on the rank where it was thrown itself, on the others as a RemoteError.
template <class T>
class UserOperator final : public SymmetricOperator<T> {
 public:
  /// @param norm_bound an estimate from above of the largest |eigenvalue|; 0: unknown
  /// @throws InvalidArgument without a function
  UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments, UserFunction<T> function,
               double norm_bound = 0);
  /// One segment: y := A x on whole row-major host arrays, rows x columns.
  UserOperator(
      Runtime& runtime, Index order,
      std::function<void(Index rows, Index columns, const T* x, Index ldx, T* y, Index ldy)> function,
      double norm_bound = 0);
  /// With a function for GPUs, which is used where the ranks have some. `host` may be empty then.
  /// @throws InvalidArgument if there are no GPUs and no function for the host
  UserOperator(Runtime& runtime, std::shared_ptr<const RowSegments> segments, UserDeviceFunction<T> device,
               UserFunction<T> host, double norm_bound = 0);

  Index order() const override { return segments_->rows(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override { return norm_bound_; }

 private:
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  std::shared_ptr<const RowSegments> segments_;
  std::shared_ptr<const UserFunctions<T>> functions_;
  bool on_device_;
  double norm_bound_;
  Data gathered_;  ///< scratch for all rows
};

}  // namespace tessera
