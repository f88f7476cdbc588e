// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>

#include "probes.hpp"
#include "report.hpp"

/// Checks and figures of block-sparse products; collective, the same result on every rank.
namespace tessera::program {

/// C := alpha op(A) op(B) + beta C0, as it was computed.
template <class T>
struct SparseProduct {
  Op op_a, op_b;
  T alpha, beta;
  double filter;  ///< 0 if it has left out nothing
  bool retain_sparsity;
  const BlockSparseMatrix<T>*a, *b, *c0;  ///< c0 null: C was empty
  const BlockSparseMatrix<T>* c;
};

/// op(A) x, in double precision on the host.
template <class T>
Vector times(const BlockSparseMatrix<T>& a, Op op, const Vector& x);

/// Blocks by (block row, block column), each column-major.
template <class T>
using BlockMap = std::map<std::pair<Index, Index>, std::vector<T>>;

/// This rank's blocks, and their mirror images.
template <class T>
BlockMap<T> all_blocks(const BlockSparseMatrix<T>& a);

/// The whole matrix column-major, on every rank.
template <class T>
std::vector<T> densify(const BlockSparseMatrix<T>& a);

/// The product of the dense matrices by one call of BLAS.
template <class T>
struct DenseProduct {
  std::vector<T> c;
  double seconds = 0;  ///< of the call
};
template <class T>
DenseProduct<T> dense_product(const SparseProduct<T>& product, int threads);

/// Every element against the dense product:
///   max |C - C_ref|_ij / (eps sqrt(k) (|alpha| ||op(A)_i||_2 ||op(B)_j||_2 + |beta C0_ij|) + f),
/// k the inner order. f = 2 filter / check_bound: the filter may change a block by twice itself in the
/// Frobenius norm (what is skipped in a row of blocks, and the block dropped). With `retain_sparsity` in C's
/// blocks only.
template <class T>
CheckRecord check_against_dense(const SparseProduct<T>& product, const std::vector<T>& reference);

/// The same in `values` against blocks that another library has computed (those that only one of the two has
/// are zero in the other), and the largest difference of two elements. One process; C is not half-stored.
template <class T>
CheckRecord check_against_blocks(const SparseProduct<T>& product, const BlockMap<T>& reference);

/// Products with random vectors of +-1 in place of single columns:
///   max_i |C x - (alpha op(A) (op(B) x) + beta C0 x)|_i /
///     (eps sqrt(k) (|alpha| ||op(A)_i||_2 ||op(B) D||_F + |beta| ||C0_i||_2 ||x||_2) + 6 f sqrt(blocks)),
/// D the columns where x is not zero, and `blocks` the number of their blocks: what the filter changes in
/// them adds up with random signs, here to six standard deviations at most. With `retain_sparsity` each x has
/// one block of columns, and the rows count where C has a block there.
template <class T>
CheckRecord check_by_vectors(const SparseProduct<T>& product, std::uint64_t seed);

/// The strictest of these checks that the order allows: every element where the dense product is there, or
/// the matrices are small enough to make it.
/// @param dense  the dense product, or empty; made where it is needed
template <class T>
CheckRecord check_product(const SparseProduct<T>& product, std::vector<T>& dense, int threads,
                          std::uint64_t seed);

}  // namespace tessera::program
