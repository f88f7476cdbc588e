// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <tessera/block_sparse_matrix.hpp>

#include "probes.hpp"
#include "report.hpp"

/// Checks and statistics of block-sparse products; collective, with the same result on every rank.
namespace tessera::program {

/// The operands, parameters and result of C := alpha op(A) op(B) + beta C0.
template <class T>
struct SparseProduct {
  Op op_a, op_b;
  T alpha, beta;
  double filter;  ///< 0 if the filter left out nothing
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

/// The blocks of this rank, and those that follow from them by symmetry.
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

/// Compares every element with the dense product:
///   max |C - C_ref|_ij / (eps sqrt(k) (|alpha| ||op(A)_i||_2 ||op(B)_j||_2 + |beta C0_ij|) + f),
/// where k is the inner dimension and f = 2 filter / check_bound. The filter may change a block by
/// up to twice its bound in the Frobenius norm: by the products that it skips for a row of blocks,
/// and by the block that it drops. With `retain_sparsity`, only elements in blocks of C count.
template <class T>
CheckRecord check_against_dense(const SparseProduct<T>& product, const std::vector<T>& reference);

/// The same comparison, in `values`, with blocks that another library computed, and the largest
/// difference of two elements. A block that only one of the two has is zero in the other. For one
/// process; C must not be half-stored.
template <class T>
CheckRecord check_against_blocks(const SparseProduct<T>& product, const BlockMap<T>& reference);

/// Uses products with random vectors of +-1 instead of single columns:
///   max_i |C x - (alpha op(A) (op(B) x) + beta C0 x)|_i /
///     (eps sqrt(k) (|alpha| ||op(A)_i||_2 ||op(B) D||_F + |beta| ||C0_i||_2 ||x||_2) +
///      6 f sqrt(blocks)),
/// where D selects the columns in which x is not zero, and `blocks` is the number of their blocks.
/// The changes by the filter add up with random signs; the bound allows for six standard
/// deviations. With `retain_sparsity`, each x is nonzero in one block of columns, and only rows in
/// which C has a block there count.
template <class T>
CheckRecord check_by_vectors(const SparseProduct<T>& product, std::uint64_t seed);

/// The strictest of these checks that the order allows: every element, if the dense product is
/// given or the matrices are small enough to compute it.
/// @param dense  the dense product, or empty; computed if it is needed
template <class T>
CheckRecord check_product(const SparseProduct<T>& product, std::vector<T>& dense, int threads,
                          std::uint64_t seed);

}  // namespace tessera::program
