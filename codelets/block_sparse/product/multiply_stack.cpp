// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>

namespace tessera {
namespace {

/// What a kind of worker can do with small blocks in double precision: flops and bytes a second, and seconds
/// a launch. Of the blocks of A and B that the products of a run need none is found in a cache.
struct Rates {
  double flops, bytes, launch;
};
constexpr Rates core{3.5e10, 1.5e10, 2e-6}, gpu{3e13, 3.5e12, 8e-6};

/// Every class at the speed of its products or of their blocks, whichever takes longer.
template <class T>
double seconds_at(const Rates& rates, std::span<const StackClass> classes) noexcept {
  constexpr double single_speedup = sizeof(RealOf<T>) == 4 ? 2 : 1;
  double seconds = rates.launch;
  for (const StackClass& shape : classes) {
    const double m = shape.m, n = shape.n, k = shape.k, products = shape.products, runs = shape.runs;
    const double flops = flop_factor<T> * 2 * m * n * k * products;
    const double bytes = sizeof(T) * ((m + n) * k * products + 2 * m * n * runs) +
                         sizeof(StackEntry) * products + sizeof(StackRun) * runs;
    seconds += std::max(flops / (rates.flops * single_speedup), bytes / rates.bytes);
  }
  return seconds;
}

}  // namespace

double stack_flops(std::span<const StackClass> classes, bool complex) noexcept {
  double flops = 0;
  for (const StackClass& shape : classes) flops += 2.0 * shape.m * shape.n * shape.k * shape.products;
  return complex ? 4 * flops : flops;
}

template <class T>
ProductSeconds stack_seconds(std::span<const StackClass> classes) noexcept {
  return {.cpu = seconds_at<T>(core, classes), .gpu = seconds_at<T>(gpu, classes)};
}

template <class T>
void run(const HostContext&, const MultiplyStack<T>& task) {
  const std::span<T> c = *task.c;
  if (task.c.first()) std::fill(c.begin(), c.end(), T(0));
  const StackEntry* const entries = task.stack.view().data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(task.classes));
  kernels::multiply_stack<T>(task.classes, entries, runs, task.a.view().data(), task.b.view().data(),
                             c.data());
  *task.ran_on = ProductWorker::cpu;
}

#define TESSERA_DEFINE(T)                                                         \
  template ProductSeconds stack_seconds<T>(std::span<const StackClass>) noexcept; \
  TESSERA_DEFINE_TASK(MultiplyStack<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
