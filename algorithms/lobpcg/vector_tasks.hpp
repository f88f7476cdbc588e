// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <tessera/algorithms/lobpcg/small_dense.hpp>
#include <tessera/block_vectors.hpp>
#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/vectors/combine.hpp>
#include <tessera/codelets/vectors/residual.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Columns of a block of vectors.
template <class T>
struct BlockColumns {
  const BlockVectors<T>* block;
  Index first, columns;
};

/// A block V of vectors and its products with A and B, of which some columns are in use.
template <class T>
struct ProductBlock {
  BlockVectors<T> v;
  BlockVectors<T> av;  ///< A V; absent of constraints
  BlockVectors<T> bv;  ///< B V; absent where B is the identity
  Index first = 0, columns = 0;

  BlockColumns<T> vectors() const { return {&v, first, columns}; }
  BlockColumns<T> a_products() const { return {&av, first, columns}; }
  /// V itself where B is the identity.
  BlockColumns<T> b_products() const { return {bv.count() > 0 ? &bv : &v, first, columns}; }
};

/// Columns of a block with products, a part of a basis.
template <class T>
struct BasisPart {
  const ProductBlock<T>* block;
  Index first, columns;

  BlockColumns<T> vectors() const { return {&block->v, first, columns}; }
  BlockColumns<T> a_products() const { return {&block->av, first, columns}; }
  /// V itself where B is the identity.
  BlockColumns<T> b_products() const {
    return {block->bv.count() > 0 ? &block->bv : &block->v, first, columns};
  }
};

/// Sums over all rows and ranks of inner products, left^H right.
template <class T>
struct GramJob {
  std::vector<BlockColumns<T>> left, right;
};
/// Inner products of all of `left` with all of `right`: jobs with as many blocks on the left as one takes.
template <class T>
std::vector<GramJob<T>> gram_jobs(const std::vector<BlockColumns<T>>& left,
                                  const std::vector<BlockColumns<T>>& right) {
  constexpr std::size_t blocks = 3;
  std::vector<GramJob<T>> jobs;
  for (std::size_t k = 0; k < left.size(); k += blocks) {
    const auto end = std::min(left.size(), k + blocks);
    jobs.push_back({{left.begin() + std::ptrdiff_t(k), left.begin() + std::ptrdiff_t(end)}, right});
  }
  return jobs;
}

/// What Residual leaves (residual.hpp), summed over all rows and ranks: squared norms of the columns of
/// R = A X - B X diag(theta), X, A X and B X.
struct ResidualSquares {
  std::vector<double> sums;          ///< empty if a task has failed
  Index stride = max_block_columns;  ///< from one kind of norm to the next

  bool known() const { return !sums.empty(); }
  double r(Index j) const { return at(0, j); }
  double x(Index j) const { return at(1, j); }
  double ax(Index j) const { return at(2, j); }
  double bx(Index j) const { return at(3, j); }

 private:
  double at(Index kind, Index j) const { return sums[static_cast<std::size_t>(kind * stride + j)]; }
};

/// outputs := inputs c. The other columns of a block that is no input become zero: it need not hold anything
/// before. Submits and returns. @param keeps_others they stay instead, and must have been written before
template <class T>
void combine_columns(Sequence& sequence, std::span<const BlockColumns<T>> inputs,
                     std::span<const BlockColumns<T>> outputs, const SmallOf<T>& c,
                     bool keeps_others = false);

/// The operations of LOBPCG on large vectors, as tasks a segment each, and the small matrices that come from
/// them. In a call that needs a small matrix the host waits for it, and other sequences go on; all other
/// calls submit and return. Small matrices are summed in the order of the segments on each rank, then by
/// rank: the same bits in every run of as many ranks.
template <class T>
class VectorTasks {
 public:
  VectorTasks(Sequence& sequence, std::shared_ptr<const RowSegments> segments, Index max_columns);

  BlockVectors<T> block(Index width) const { return {sequence_.runtime(), segments_, width}; }

  /// On rank 0 the Gram matrices of the jobs (empty if a task has failed on some rank); nothing on the
  /// others.
  std::vector<SmallOf<T>> grams(std::span<const GramJob<T>> jobs);
  /// combine_columns().
  void combine(std::span<const BlockColumns<T>> inputs, std::span<const BlockColumns<T>> outputs,
               const SmallOf<T>& c, bool keeps_others = false) {
    combine_columns(sequence_, inputs, outputs, c, keeps_others);
  }
  /// to := from, as many columns.
  void copy(const BlockColumns<T>& from, const BlockColumns<T>& to);
  /// Fills columns with random numbers; the block's other columns become zero if it is overwritten.
  void random(const BlockColumns<T>& columns, std::uint64_t seed, Store store);
  /// r := A X - B X diag(theta) of the columns from `first` on, stored from column 0 on.
  void residual(const ProductBlock<T>& x, const BlockVectors<T>& r, std::span<const double> theta,
                Index first);
  /// Waits for the squared norms that the last residual() leaves; on every rank.
  ResidualSquares wait_for_norms();

 private:
  Sequence& sequence_;
  std::shared_ptr<const RowSegments> segments_;
  std::size_t gram_bytes_;                ///< of inner products of real columns
  std::vector<std::vector<Data>> grams_;  ///< by job and segment
  std::vector<Data> norms_;               ///< by segment
  Data work_;                             ///< scratch of GPUs
};

}  // namespace tessera::detail
