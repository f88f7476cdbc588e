// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <deque>
#include <initializer_list>
#include <utility>

#include <tessera/algorithms/block_sparse/pattern_algebra.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/matrix_functions.hpp>
#include <tessera/multiply.hpp>

/// What the iterations with block-sparse matrices are written with: sums and filtered products, counted and
/// reported step by step.
namespace tessera::detail {

/// An iteration that cannot go on: its status is the result's. The same on all ranks.
struct IterationEnded {
  Status status;
};

/// What a product tells of its result C.
struct ProductSums {
  double trace = 0;           ///< of C
  double dot = 0;             ///< trace(C^H D)
  double frobenius_norm = 0;  ///< of C
  double left_out = 0;        ///< what the filter has changed C by has at most this Frobenius norm
};

/// At most the Frobenius norm of what a filter has left out of a product C, both halves: of a block of C all products
/// that are skipped are less than eps together, and so is a block that is dropped.
double filter_bound(const MultiplyResult& product, const BlockLayout& c, double filter_eps);

/// Matrices of one set of block sizes, and the report of what is done with them.
template <class T>
class BlockAlgebra {
 public:
  using Matrix = BlockSparseMatrix<T>;
  using Real = RealOf<T>;

  BlockAlgebra(Runtime& runtime, double filter_eps, IterationMonitor monitor, IterationReport& report);

  Runtime& runtime() const noexcept { return runtime_; }
  double filter_eps() const noexcept { return filter_eps_; }
  /// For the products from now on.
  void set_filter_eps(double eps) noexcept { filter_eps_ = eps; }

  /// C := alpha op(A) op(B) + beta C; A and B may be C. Its sums are waited for, but not the copies of the blocks that
  /// the filter keeps.
  /// @throws IterationEnded if it fails
  ProductSums product(double alpha, const ProductFactor<T>& a, const ProductFactor<T>& b, double beta,
                      Matrix& c, const Matrix* dot_with = nullptr);
  /// alpha op(A) op(B) in this layout.
  Matrix product(double alpha, const ProductFactor<T>& a, const ProductFactor<T>& b,
                 const BlockLayout& layout);

  Matrix copied(const Matrix& a);
  /// The sum of factors times matrices, in the layout of the first.
  Matrix sum(std::initializer_list<std::pair<double, const Matrix*>> terms);
  /// A := alpha A + beta B
  void add(double alpha, Matrix& a, double beta, const Matrix& b);
  void scale(double alpha, Matrix& a);
  /// What another operation gives that submits tasks to a sequence.
  template <class Operation>
  Matrix in_sequence(const Operation& operation) {
    return operation(sequence());
  }
  /// A in another layout; into a half-stored one goes the lower half.
  Matrix in_layout(const Matrix& a, const BlockLayout& layout);
  /// (A + A^H) / 2 of a matrix without symmetry, in a half-stored layout.
  Matrix hermitian_part(const Matrix& a, const BlockLayout& layout);
  /// The identity in this layout; made once for each.
  const Matrix& identity(const BlockLayout& layout);

  /// Ends a step: its line of the table, and the monitor.
  /// @throws IterationEnded if the convergence is no number, or the monitor stops it
  void end_step(IterationStep step, const Matrix& iterate);
  /// The same where the caller knows the iterate's occupation, and the filter (threshold).
  void end_step(IterationStep step);
  /// A product of another kind that the caller has computed.
  void count_product(double flop) {
    ++step_products_;
    step_flop_ += flop;
  }
  /// Waits for the sums and the copies that were submitted.
  /// @throws IterationEnded if one has failed
  void finish();
  /// Adds the products since the last step to the report: what belongs to no step.
  void count_products();
  /// Calls this algebra's monitor, of which there is one: it may have a state. Null without one.
  IterationMonitor monitor() const;
  /// The present step is the one that another algebra has begun, of another precision: its time and its products.
  template <class F>
  void continue_step_of(BlockAlgebra<F>& other) {
    other.finish();
    count_products(std::exchange(other.step_products_, 0), std::exchange(other.step_flop_, 0));
    step_began_ = other.step_began_;
  }
  /// Counts the products of another computation as those of the present step.
  void count_products(Index products, double flop) noexcept;

 private:
  template <class F>
  friend class BlockAlgebra;
  Sequence& sequence();
  Runtime& runtime_;
  double filter_eps_;
  const IterationMonitor monitor_;
  IterationReport& report_;
  std::unique_ptr<Sequence> sequence_;
  std::deque<Matrix> identities_;
  Index step_products_ = 0;
  double step_flop_ = 0;
  std::chrono::steady_clock::time_point step_began_;
};

/// The layout of half-stored Hermitian matrices (real: symmetric) of these blocks.
template <class T>
BlockLayout hermitian_layout(const BlockLayout& layout) {
  BlockLayout half = layout;
  half.symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
  return half;
}
/// The same without symmetry.
inline BlockLayout full_layout(const BlockLayout& layout) {
  BlockLayout full = layout;
  full.symmetry = Symmetry::none;
  return full;
}

/// Runs `work`, which may end early; then the report has its time, and of an early end the status.
template <class Work>
void report_iteration(IterationReport& report, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    work();
  } catch (const IterationEnded& ended) {
    report.set_status(ended.status);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace tessera::detail
