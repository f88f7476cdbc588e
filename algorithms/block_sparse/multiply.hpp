// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/algorithms/block_sparse/copy_blocks.hpp>

namespace tessera {

/// Elements, half open, of the rows of op(A) and C, the columns of op(B) and C, and the columns of op(A) and
/// rows of op(B) that take part. They may cut through blocks. Outside, C stays as it is (beta does not reach
/// it).
struct MultiplyLimits {
  Index first_row = 0, end_row = std::numeric_limits<Index>::max();
  Index first_col = 0, end_col = std::numeric_limits<Index>::max();
  Index first_inner = 0, end_inner = std::numeric_limits<Index>::max();
};

struct MultiplyOptions {
  /// eps of the filter; 0: none. A product A_ik B_kj of blocks is skipped if |alpha| ||A_ik||_F ||B_kj||_F <
  /// eps / max(1, number of blocks in block row i of op(A)); then, unless `retain_sparsity`, blocks of C with
  /// ||C_ij||_F < eps are dropped. Norms in double.
  double filter_eps = 0;
  bool retain_sparsity = false;  ///< only the blocks that C has already are computed
  MultiplyLimits limits{};
};

/// What one shape of block products came to, on the workers of one kind.
struct ProductCount {
  Index m, n, k;
  Index products = 0;
  Index cpu_products = 0, gpu_products = 0;
};

/// What a product did; the same on all ranks.
struct MultiplyResult {
  Index products = 0;                ///< of blocks
  double flop = 0;                   ///< 2 m n k each, complex: 8 m n k
  Index filtered_products = 0;       ///< skipped by their norms
  Index filtered_blocks = 0;         ///< of C, dropped after the product
  std::vector<ProductCount> shapes;  ///< in descending order of products
  double seconds = 0;                ///< all
  double symbolic_seconds = 0;       ///< until C's blocks are known, and the tasks that list products, spread
                                     ///< over the workers
  double image_seconds = 0;          ///< bringing A and B into C's distribution, where they are not
  double numeric_seconds = 0;
  SequenceStatistics statistics;  ///< of the numeric phase
};

/// C := alpha op(A) op(B) + beta C.
///
/// A, B and C may have any symmetry and any distribution. If C is half-stored, op(A) op(B) must have C's
/// symmetry within the limits (what is above the diagonal is not computed). C keeps its layout; its blocks
/// become those that it had and those that the product has (see MultiplyOptions).
///
/// C's owner computes: op(A) is brought to the rows' distribution of C, op(B) to the columns', with one panel
/// grid between them, where they are not so already. First the workers count, for each panel of C, the blocks
/// and the products (symbolic phase); then, for each panel of C and each inner panel, one task lists the
/// products by shape and by block of C (a stack), another computes them. The panels of one block of C are
/// added in a fixed order, beginning with another inner panel in each row and column (Cannon's order), so
/// that results do not depend on the schedule and transfers are spread.
///
/// Returns when C is complete. Collective.
/// Source: O. Schuett, P. Messmer, J. Hutter, J. VandeVondele, GPU-accelerated sparse matrix-matrix
/// multiplication for linear scaling density functional theory (2016), for the layers; the filter is that of
/// DBCSR.
/// @throws InvalidArgument for block sizes that do not fit, a negative filter, limits outside the matrix or
/// reversed, or operands of another Runtime.
template <class T>
MultiplyResult multiply(Op op_a, Op op_b, T alpha, const BlockSparseMatrix<T>& a,
                        const BlockSparseMatrix<T>& b, T beta, BlockSparseMatrix<T>& c,
                        const MultiplyOptions& options = {});

}  // namespace tessera
