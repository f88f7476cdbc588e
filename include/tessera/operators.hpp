// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include <tessera/block_vectors.hpp>
#include <tessera/data.hpp>
#include <tessera/sequence.hpp>
#include <tessera/user_functions.hpp>

/// @file
/// Real symmetric and complex Hermitian operators on blocks of vectors, and what preconditions them.
namespace tessera {

namespace detail {
template <class T>
struct UserFunctions;
}

/// A real symmetric or complex Hermitian operator on blocks of row-major vectors: CsbMatrix, CsrMatrix, or the user's
/// own (UserOperator). T is the vectors' type: float and double of symmetric ones, complex<float> and complex<double>
/// of Hermitian ones.
template <class T>
class SymmetricOperator {
 public:
  virtual ~SymmetricOperator() = default;
  /// Rows of the matrix.
  virtual Index order() const = 0;
  /// How the vectors must be cut that it is applied to.
  virtual const std::shared_ptr<const RowSegments>& segments() const = 0;
  /// Submits y(:, 0:columns) := A x(:, 0:columns) and returns. x and y are different, cut as segments() says,
  /// and may be wider (up to 32); y's other columns keep what they hold, or become zero, as the operator
  /// finds fit.
  virtual void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                     Index columns) const = 0;
  /// An estimate from above of the largest |eigenvalue|; 0 where none is known.
  virtual double norm_bound() const { return 0; }
  /// Stored entries, for rates; 0 where unknown. Of a half-stored matrix those of the half.
  virtual Index stored_entries() const { return 0; }
};

/// An approximate inverse of a shifted operator, applied to blocks of residuals.
template <class T>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  /// A word for reports.
  virtual const char* name() const = 0;
  /// How the vectors must be cut that it is applied to; null: in any way.
  virtual const RowSegments* segments() const { return nullptr; }
  /// Whether expect() makes a difference.
  virtual bool asks_for_the_end() const { return false; }
  /// Before the first prepare, if it asks for it: a Ritz value on the way to the wanted end of the spectrum,
  /// from a few iterations with one vector and no preconditioner, and its residual's norm. Their difference
  /// (sum) is about the smallest (largest) eigenvalue.
  virtual void expect(double ritz_value, double residual) { (void)ritz_value, (void)residual; }
  /// What the solver knows in an iteration, before apply: the Ritz values of the whole block, in the order of
  /// convergence (ascending for the smallest eigenvalues, descending for the largest), and which of them have
  /// converged already.
  virtual void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) {
    (void)sequence, (void)ritz_values, (void)converged;
  }
  /// A column of w comes from the same column of r alone, and an application in vain does no harm. The solver
  /// then applies it before it knows which pairs have converged, and the host looks at that meanwhile;
  /// `converged` says what was known before.
  virtual bool by_columns() const { return false; }
  /// Blocks of vectors that an application keeps beside r and w: the solver asks for their memory, too.
  virtual Index work_blocks() const { return 0; }
  /// Submits w(:, 0:columns) := T r(:, 0:columns), w and r different.
  virtual void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
                     Index columns) const = 0;
};

/// A symmetric or Hermitian operator that a function of the user applies, a task for each segment of rows. The function
/// gets all rows of x in one piece: with one segment where they lie, with several as a copy that each task
/// makes (and, over ranks, as messages to all). One segment is right on one rank unless the function is much
/// slower than a copy of x.
///
/// The function is called from workers, of several segments at once. What it throws ends the solve, which
/// throws it again: on the rank where it was thrown itself, on the others as a RemoteError.
template <class T>
class UserOperator final : public SymmetricOperator<T> {
 public:
  /// `norm_bound`: an estimate from above of the largest |eigenvalue|; 0: unknown
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

  /// Rows of the matrix.
  Index order() const override { return segments_->rows(); }
  const std::shared_ptr<const RowSegments>& segments() const override { return segments_; }
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  double norm_bound() const override { return norm_bound_; }

 private:
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  std::shared_ptr<const RowSegments> segments_;
  std::shared_ptr<const detail::UserFunctions<T>> functions_;
  bool on_device_;
  double norm_bound_;
  Data gathered_;  ///< scratch for all rows
};

}  // namespace tessera
