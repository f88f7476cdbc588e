// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tessera/data.hpp>
#include <tessera/lobpcg.hpp>
#include <tessera/sparse_matrix.hpp>
#include <tessera/user_functions.hpp>

/// @file
/// Preconditioners of lobpcg(): approximate inverses of A - sigma I with one shift sigma for all columns.
/// (With a shift at each column's own Ritz value the inverse returns little more than the vector that is
/// already there.) By default sigma lies beyond the outermost Ritz value. So A - sigma I is definite once
/// that value is near its eigenvalue; in the first iterations Ritz values lie inside the spectrum, and it may
/// be indefinite.
///
/// All this is about A alone. The Ritz values of A x = theta B x are those of another operator: options have
/// b_norm, an estimate of x^T B x / x^T x, and theta b_norm stands for theta. It is exact for B a multiple of
/// the identity. Otherwise ||B|| keeps the shift outside for a wanted end beyond zero (theta < 0 at the
/// smallest end); with theta of the other sign it may put the shift into A's spectrum, and a smaller estimate
/// is better.
namespace tessera {

namespace detail {
template <class T>
struct PreconditionFunctions;
}

/// The shift: as given, or from the Ritz values times b_norm, sigma = outermost one ever seen -/+
/// max(spread of the present ones, `range` / 100), minus for the smallest eigenvalues. `range`: of the
/// diagonal, or another measure of A's size. In the first iterations it is the expected end, if that is known
/// and further out: far inside the spectrum the shift would make an indefinite preconditioner, with which
/// Ritz values approach the end more slowly than with none.
class BeyondWantedEnd {
 public:
  /// @throws InvalidArgument: a shift that is not finite, a b_norm that is not positive
  BeyondWantedEnd(EigenEnd end, std::optional<double> given, double range, double b_norm);
  /// See Preconditioner::expect; with b_norm as Ritz values.
  void expect(double ritz_value, double residual);
  /// The Ritz values of the block, in the order of convergence.
  void update(std::span<const double> ritz_values);
  /// The caller has set the shift.
  bool given() const noexcept { return given_; }
  /// There is a shift already.
  bool known() const noexcept { return shift_.has_value(); }
  /// +1: A - sigma I is to be positive definite; -1: negative.
  int sign() const noexcept { return end_ == EigenEnd::smallest ? 1 : -1; }
  /// @throws InvalidArgument before the first update, unless given
  double value() const;

 private:
  /// Which Ritz values have to pass before it is forgotten, and where the end is expected.
  struct Expected {
    double passed, end;
  };
  /// Whether a is further out than b.
  bool beyond(double a, double b) const noexcept { return sign() > 0 ? a < b : a > b; }

  EigenEnd end_;
  std::optional<double> shift_, outermost_;
  std::optional<Expected> expected_;
  bool given_;
  double range_, b_norm_;
};

/// How a JacobiPreconditioner is made.
struct JacobiOptions {
  /// The wanted end of the spectrum.
  EigenEnd end = EigenEnd::smallest;
  /// Sigma; none: it lies beyond the outermost Ritz value.
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
  /// `diagonal`: of A, on every rank
  /// @throws InvalidArgument
  JacobiPreconditioner(Runtime& runtime, std::shared_ptr<const RowSegments> segments,
                       std::vector<double> diagonal, const JacobiOptions& options = {});
  /// A word for reports.
  const char* name() const override { return "jacobi"; }
  bool by_columns() const override { return true; }
  const RowSegments* segments() const override { return segments_.get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  /// The present shift.
  double shift() const { return shift_.value(); }

 private:
  std::shared_ptr<const RowSegments> segments_;
  std::pair<double, double> limits_;  ///< least and largest element
  BeyondWantedEnd shift_;
  std::vector<Data> diagonal_;
};

/// How a FomPreconditioner is made.
struct FomOptions {
  /// The wanted end of the spectrum.
  EigenEnd end = EigenEnd::smallest;
  int steps = 2;  ///< 1 to 32; more have not saved iterations in the shell model
  /// Sigma; none: it lies beyond the outermost Ritz value.
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
  /// `a`: must outlive it
  FomPreconditioner(Runtime& runtime, const CsbMatrix<V, T>& a, const FomOptions& options = {});
  /// A word for reports.
  const char* name() const override { return "fom"; }
  bool by_columns() const override { return true; }
  bool asks_for_the_end() const override { return !shift_.known(); }
  void expect(double ritz_value, double residual) override { shift_.expect(ritz_value, residual); }
  const RowSegments* segments() const override { return a_.segments().get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  /// The present shift.
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

/// How a ChebyshevPreconditioner is made.
struct ChebyshevOptions {
  /// The wanted end of the spectrum.
  EigenEnd end = EigenEnd::smallest;
  int degree = 8;  ///< multiplications by A in an application
  /// Sigma; none: it lies beyond the outermost Ritz value.
  std::optional<double> shift{};
  /// The unwanted eigenvalues of A, a < b. By default from the block's innermost Ritz value (times b_norm) to
  /// A's norm_bound().
  std::optional<std::pair<double, double>> interval{};
  double b_norm = 1;  ///< about x^T B x / x^T x
};

/// w := p(A) r, p the polynomial of `degree` steps of the Chebyshev iteration for (A - sigma I) w = r on the
/// interval of the unwanted eigenvalues (Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// Algorithm 12.1). With A's spectrum on the wanted side of the interval's far end p(A) is definite, also if
/// sigma lies inside the spectrum; an interval in which, or beyond which, the shift has come to lie is moved.
/// Cost: `degree` multiplications of all columns by A, counted here and not by the solver, and after each of
/// them a pass that reads four blocks of vectors and writes three (ChebyshevStep); memory for three blocks.
template <class T>
class ChebyshevPreconditioner final : public Preconditioner<T> {
 public:
  /// `a`: must outlive it
  ChebyshevPreconditioner(Runtime& runtime, const SymmetricOperator<T>& a,
                          const ChebyshevOptions& options = {});
  /// A word for reports.
  const char* name() const override { return "chebyshev"; }
  Index work_blocks() const override { return 3; }
  const RowSegments* segments() const override { return a_.segments().get(); }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;
  /// The present shift.
  double shift() const { return shift_.value(); }
  /// Of A, by the applications submitted so far.
  Index multiplications() const noexcept { return multiplications_; }
  /// Columns that A was multiplied by in these.
  Index columns_multiplied() const noexcept { return columns_multiplied_; }

 private:
  Runtime& runtime_;
  const SymmetricOperator<T>& a_;
  int degree_;
  double b_norm_;
  BeyondWantedEnd shift_;
  std::optional<std::pair<double, double>> interval_;
  std::optional<double> innermost_;
  mutable BlockVectors<T> residual_, direction_, product_;
  mutable Index multiplications_ = 0, columns_multiplied_ = 0;
};

/// w := what a function of the user's makes of r, segment by segment, on the CPUs or a GPU of the segment's
/// owner. Calls for several segments may run at the same time. Cost: the function's.
template <class T>
class UserPreconditioner final : public Preconditioner<T> {
 public:
  /// `prepare`: what the solver knows in an iteration; may be empty
  explicit UserPreconditioner(
      PreconditionRows<T> rows,
      std::function<void(std::span<const double> ritz_values, Index converged)> prepare = {});
  /// With a function for GPUs, which is used where the ranks have some. `host` may be empty then.
  /// @throws InvalidArgument if there are no GPUs and no function for the host
  UserPreconditioner(Runtime& runtime, DevicePreconditionRows<T> device, PreconditionRows<T> host,
                     std::function<void(std::span<const double> ritz_values, Index converged)> prepare = {});
  /// A word for reports.
  const char* name() const override { return "user"; }
  void prepare(Sequence& sequence, std::span<const double> ritz_values, Index converged) override;
  void apply(Sequence& sequence, const BlockVectors<T>& r, const BlockVectors<T>& w,
             Index columns) const override;

 private:
  std::shared_ptr<const detail::PreconditionFunctions<T>> functions_;
  bool on_device_;
  std::function<void(std::span<const double>, Index)> prepare_;
};

}  // namespace tessera
