// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>

namespace tessera {
namespace {

/// What a kind of worker needs in double precision: seconds a product of blocks whatever its size, flops and
/// bytes of its operands a second, seconds a dense product whatever its size, its flops a second.
struct Rates {
  double product, flops, bytes, panel, dense_flops;
};

/// A core with AVX-512 does small products at twice the rate of a BLAS that knows AVX2 alone (Debian's
/// OpenBLAS on Zen), but needs 4 ns to begin one: a dense product is faster for blocks of 5 from a share of
/// two thirds on, for blocks of 8 and more never. With a BLAS twice as fast all thresholds would be lower.
constexpr Rates core{4.5e-9, 7e10, std::numeric_limits<double>::infinity(), 1e-5, 5.6e10};
/// A product of small blocks costs a GPU the bytes of its operands, and the cores that list it more than
/// that. Dense products of a few hundred rows are far from filling the GPU. Whole products of blocks of 13, 5
/// and 5, n = 2208, on an H200, as stacks and as this chooses: 2.9 and 2.6 ms with 5 % of the blocks, 4.3 and
/// 4.6 with 30 % (stacks both), 5.9 and 4.2 with 50 %, 12.5 and 4.0 with 80 %.
constexpr Rates gpu{4e-10, 3e13, 3.5e12, 3e-5, 1.5e13};

const Rates& rates_of(WorkerKind kind) noexcept {
  return kind == WorkerKind::gpu ? gpu : core;
}

/// To expand panels and to take C's blocks out takes time, too, and what is gained should be worth it.
constexpr double least_gain = 1.15;

double block_seconds(const DenseRule& rule, const Rates& rates, const StackClass& shape) noexcept {
  const double m = shape.m, n = shape.n, k = shape.k;
  const double speedup = 8.0 / rule.real_bytes, flops = (rule.complex ? 8 : 2) * m * n * k,
               bytes = (m + n) * k * rule.real_bytes * (rule.complex ? 2 : 1);
  return shape.products * (rates.product + std::max(flops / (rates.flops * speedup), bytes / rates.bytes));
}

}  // namespace

double dense_seconds(WorkerKind kind, double flops, int real_bytes) noexcept {
  const Rates& rates = rates_of(kind);
  return rates.panel + flops / (rates.dense_flops * 8.0 / real_bytes);
}

bool choose_dense(const DenseRule& rule, std::span<const StackClass> classes, Index m, Index n,
                  Index k) noexcept {
  if (rule.use != UseDense::automatic) return rule.use == UseDense::always && !classes.empty();
  const double flops = 2 * double(m) * double(n) * double(k);
  double counted = 0, seconds = 0;
  for (const StackClass& shape : classes) {
    counted += 2.0 * shape.m * shape.n * shape.k * shape.products;
    seconds += block_seconds(rule, rates_of(rule.worker), shape);
  }
  return counted >= least_dense_share * flops &&
         seconds >= least_gain * dense_seconds(rule.worker, (rule.complex ? 4 : 1) * flops, rule.real_bytes);
}

}  // namespace tessera
