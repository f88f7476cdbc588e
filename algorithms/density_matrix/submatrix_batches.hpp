// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <tessera/algorithms/block_sparse/lanczos.hpp>
#include <tessera/algorithms/density_matrix/purification_control.hpp>
#include <tessera/algorithms/density_matrix/submatrix_blocks.hpp>
#include <tessera/runtime/sequence.hpp>

/// Purification of many principal submatrices in step with each other.
namespace tessera::detail {

/// A group of blocks with its environment.
struct Submatrix {
  std::vector<Index> blocks;  ///< the group's first
  Index own_blocks = 0;       ///< of the group
  Index order = 0, own_order = 0;
  int owner = 0;  ///< the rank that computes it
};

/// Submatrices of one rank that are computed at once, padded to a common order.
struct SubmatrixBatch {
  int owner = 0;
  Index n = 0, width = 0;          ///< the largest order and own order
  std::vector<std::size_t> index;  ///< of the submatrices
  Index count() const noexcept { return static_cast<Index>(index.size()); }
};

/// The same on all ranks: submatrices of nearly equal orders, as many as suit a worker.
std::vector<SubmatrixBatch> batches_of(const Runtime& runtime, const std::vector<Submatrix>& submatrices,
                                       std::size_t element_bytes);

/// The batches of all ranks in F, from a source in T. Each rank inserts the tasks of all, and runs those of its own.
template <class T, class F>
class SubmatrixBatches {
 public:
  /// @param every bounds of spectra are those of every so many batches
  SubmatrixBatches(Runtime& runtime, const SubmatrixSource& source, const std::vector<Submatrix>& submatrices,
                   const BlockDimension& dimension, std::size_t every = 1);

  /// Bounds of the spectra of S'; of the identity without an overlap.
  /// @throws IterationEnded: not_positive_definite
  SpectralInterval overlap_spectrum();
  /// Z = S'^{-1/2}, X = Z H' Z of each submatrix, and bounds of the spectra of the X.
  SpectralInterval orthonormalise(const SpectralInterval& overlap);
  /// X := c0 I + c1 X
  void shift(double c0, double c1);
  /// X := c0 I + c1 X + c2 X^2
  void step(const StepPolynomial& polynomial);
  /// Sums over the columns of all groups, of X after the last shift or step. Collective.
  HermitianSums sums();
  /// For each batch the columns of the groups of its submatrices, after McWeeny's step: n x (width count).
  std::vector<Data> columns();
  /// Of a product of all, n^3 for each submatrix with its padding.
  double flop_of_products() const noexcept { return flop_; }
  const std::vector<SubmatrixBatch>& batches() const noexcept { return batches_; }
  /// @throws IterationEnded if a task has failed
  void finish();

 private:
  struct Pieces {
    Data members, places, own, x, z, sums, tridiagonal;
  };
  /// Work space for batches of one shape.
  struct Space {
    Index n = 0, count = 0;
    Data y, u, v, w;
    Data s;  ///< in T
  };
  /// For a batch: on GPUs, which run the tasks of one batch after the other, the same as for the batch before if that had
  /// its shape; it lives until the next call.
  const Space& space_for(std::size_t k);
  bool is_sample(std::size_t k) const noexcept;
  Data piece(const SubmatrixBatch& batch) const;
  void gather(std::size_t k, const Data& values, double padding, const Data& x);
  void multiply(std::size_t k, const Data& a, const Data& b, const Data& c, bool whole = false);
  void copy(std::size_t k, double c0, double c2, const Data& y, const Data& x);
  void polynomial(std::size_t k, double c0, double c1, double c2, const Data* y, const Data& x);
  void inverse_root(std::size_t k, const std::vector<struct RootLevel>& levels, const Space& space);
  void lanczos(std::size_t k, const Data& x, Index steps);
  RitzEnds ritz_ends_of_all(Index steps) const;
  Runtime& runtime_;
  const SubmatrixSource& source_;
  const std::vector<SubmatrixBatch> batches_;
  const std::size_t every_;
  std::vector<Pieces> pieces_;
  std::unique_ptr<Sequence> sequence_;
  Data split_work_, sums_work_, lanczos_work_, columns_work_;
  std::map<int, Space> spaces_;  ///< by owner, or in one process by GPU
  double flop_ = 0;
};

}  // namespace tessera::detail
