// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <tessera/codelets/block_sparse/symbolic/dense_choice.hpp>

namespace tessera::detail {

namespace {

/// Rates of a kind of worker in double precision. Products of blocks: seconds for each of any size, flops and
/// bytes of operands a second. Dense products: seconds for each of any size, flops a second.
struct Rates {
  double product, flops, bytes, panel, dense_flops;
};

/// For a core with AVX-512 and a BLAS for AVX2: small products run at a higher rate than the BLAS, but each
/// one has a start-up time, so a dense product pays for very small blocks alone. With a faster BLAS all
/// thresholds would be lower.
constexpr Rates core{4.5e-9, 7e10, std::numeric_limits<double>::infinity(), 1e-5, 5.6e10};
/// A product of small blocks costs a GPU the bytes of its operands, and it costs the cores that list it more
/// than that. Dense products of a few hundred rows do not fill the GPU, hence the low rate.
constexpr Rates gpu{4e-10, 3e13, 3.5e12, 3e-5, 1.5e13};

const Rates& rates_of(WorkerKind kind) noexcept {
  return kind == WorkerKind::gpu ? gpu : core;
}

/// To expand panels and to extract the blocks of C takes time, too: the gain must exceed this factor.
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

}  // namespace tessera::detail
