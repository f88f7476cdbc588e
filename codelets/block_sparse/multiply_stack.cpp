// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/multiply_stack_arguments.hpp>

namespace tessera {
namespace {

using namespace multiply_stack_codelets;

template <class T>
void multiply_task(const TaskContext&, TaskBuffers buffers, const MultiplyStackArguments& arguments) {
  const std::span<T> c = buffers.array<T>(3);
  if (arguments.clear) std::fill(c.begin(), c.end(), T(0));
  const auto* const entries = buffers.array<const StackEntry>(0).data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(arguments.shapes()));
  kernels::multiply_stack<T>(arguments.shapes(), entries, runs, buffers.array<const T>(1).data(),
                             buffers.array<const T>(2).data(), c.data());
  *arguments.ran_on = ProductWorker::cpu;
}

template <class T>
Codelet multiply_codelet = make_codelet<MultiplyStackArguments, multiply_task<T>>("multiply_stack",
                                                                                  type_letter<T>);

/// What a kind of worker can do with small blocks in double precision: flops and bytes a second, and seconds
/// a launch. Of the blocks of A and B that the products of a run need none is found in a cache.
struct Rates {
  double flops, bytes, launch;
};
constexpr Rates core{3.5e10, 1.5e10, 2e-6}, gpu{3e13, 3.5e12, 8e-6};

/// Every class at the speed of its products or of their blocks, whichever takes longer.
template <class T>
double stack_seconds(std::span<const StackClass> classes, const Rates& rates) noexcept {
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
void insert_multiply_stack(Sequence& sequence, int priority, std::span<const StackClass> classes, bool clear,
                           ProductWorker* ran_on, const Data& stack, const Data& a, const Data& b,
                           const Data& c) {
  sequence.insert(
      multiply_codelet<T>,
      MultiplyStackArguments{classes.data(), static_cast<std::int32_t>(classes.size()), clear, ran_on,
                             stack_seconds<T>(classes, core), stack_seconds<T>(classes, gpu)},
      {.priority = priority, .flops = stack_flops(classes, is_complex<T>)},
      {read(stack), read(a), read(b), clear ? write(c) : read_write(c)});
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template void insert_multiply_stack<T>(Sequence&, int, std::span<const StackClass>, bool, ProductWorker*, \
                                         const Data&, const Data&, const Data&, const Data&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
