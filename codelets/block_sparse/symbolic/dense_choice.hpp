// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/runtime/codelet.hpp>

/// When the products of blocks that two panels have are computed as one product of dense matrices.
namespace tessera::detail {

/// The share of a dense product's flops below which the products of blocks stay what they are. The share is
/// at most that of the elements that either panel stores, so dense arrays take at most so many times the
/// memory of the blocks: 1 / least_dense_share.
inline constexpr double least_dense_share = 0.25;

/// What the choice depends on, beside the products.
struct DenseRule {
  UseDense use = UseDense::never;
  WorkerKind worker = WorkerKind::cpu;  ///< kind of the worker that computes
  int real_bytes = 8;                   ///< 4 in single precision
  bool complex = false;
};

/// Whether products of these shapes are computed as the product of an m x k by a k x n matrix.
bool choose_dense(const DenseRule& rule, std::span<const StackClass> classes, Index m, Index n,
                  Index k) noexcept;

/// Seconds that the dense product is expected to take.
double dense_seconds(WorkerKind kind, double flops, int real_bytes) noexcept;
template <class T>
double dense_seconds(WorkerKind kind, Index m, Index n, Index k) noexcept {
  return dense_seconds(kind, flop_factor<T> * 2 * double(m) * double(n) * double(k), sizeof(RealOf<T>));
}

}  // namespace tessera::detail
