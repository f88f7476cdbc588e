// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/block_kernel.hpp>

#if TESSERA_WITH_CUDA
#include <future>
#include <system_error>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#endif

namespace tessera::detail {

namespace kernels {

template <class T>
void small_products(Index m, Index n, Index k, const T* a, const T* b, const StackEntry* entries, Index count,
                    T* c) noexcept {
  TESSERA_DISPATCH(cpu_level(), small_products<T>(m, n, k, a, b, entries, count, c));
}

namespace {

/// Prefetches the next block: blocks of C and B lie apart and are too small for the processor to predict. Of
/// a large block the beginning suffices.
inline void prefetch(const void* block, std::ptrdiff_t bytes) noexcept {
  constexpr std::ptrdiff_t line = 64, most = 4608;
  const char* const at = static_cast<const char*>(block);
  for (std::ptrdiff_t i = 0; i < std::min(bytes, most); i += line) __builtin_prefetch(at + i);
}

/// Computes the class with a kernel that libxsmm compiles for its shape; false if it declines.
template <class T>
bool multiply_by_kernel(const StackClass& shape, const StackEntry* entries, const StackRun* runs,
                        const StackFactors<T>& factors, T* c) noexcept {
  const BlockKernel<T> multiply = find_block_kernel<T>(shape.m, shape.n, shape.k);
  if (!multiply) return false;
  const auto size_b = static_cast<std::ptrdiff_t>(sizeof(T)) * shape.k * shape.n,
             size_c = static_cast<std::ptrdiff_t>(sizeof(T)) * shape.m * shape.n;
  const std::int32_t last = shape.first_entry + shape.products - 1;
  for (std::int32_t r = 0; r < shape.runs; ++r) {
    T* const block = c + runs[r].c;
    prefetch(c + runs[std::min(r + 2, shape.runs - 1)].c, size_c);
    for (std::int32_t e = runs[r].first, end = e + runs[r].count; e < end; ++e) {
      const StackEntry &entry = entries[e], &next = entries[std::min(e + 2, last)];
      prefetch(factors.b[next.panel] + next.b, size_b);
      multiply(factors.a[entry.panel] + entry.a, factors.b[entry.panel] + entry.b, block);
    }
  }
  return true;
}

/// The products of one run without a kernel for its shape.
template <class T>
void multiply_run(const StackClass& shape, const StackEntry* first, const StackEntry* end,
                  const StackFactors<T>& factors, T* c) noexcept {
  const bool small = double(shape.m) * shape.n * shape.k <= small_block_limit;
  while (first < end) {
    const auto panel = first->panel;
    const T *const a = factors.a[panel], *const b = factors.b[panel];
    const StackEntry* const next =
        std::find_if(first, end, [&](const StackEntry& entry) { return entry.panel != panel; });
    if (small)
      small_products<T>(shape.m, shape.n, shape.k, a, b, first, next - first, c);
    else
      for (const StackEntry* e = first; e < next; ++e)
        multiply_blocks<T>(shape.m, shape.n, shape.k, a + e->a, b + e->b, c);
    first = next;
  }
}

}  // namespace

template <class T>
void multiply_stack(std::span<const StackClass> classes, const StackEntry* entries, const StackRun* runs,
                    const StackFactors<T>& factors, T* c) noexcept {
  for (const StackClass& shape : classes) {
    const StackRun* const first = runs + shape.first_run;
    if (multiply_by_kernel<T>(shape, entries, first, factors, c)) continue;
    for (std::int32_t r = 0; r < shape.runs; ++r)
      multiply_run<T>(shape, entries + first[r].first, entries + first[r].first + first[r].count, factors,
                      c + first[r].c);
  }
}

}  // namespace kernels

namespace {

/// Rates of a kind of worker for small blocks in double precision: flops and bytes a second, and seconds a
/// launch. No cache holds the blocks of A and B that the products of a run need.
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

#if TESSERA_WITH_CUDA

namespace {

/// Runs `work` on a new thread whose current device is the GPU. To restore the device of the caller would
/// make a context on a device that it may never use.
/// @returns false without a thread for it
template <class Work>
bool on_device(int device, const Work& work) {
  std::future<void> done;
  try {
    done = std::async(std::launch::async, [&] {
      cudaSetDevice(device);
      work();
    });
  } catch (const std::system_error&) {
    return false;
  }
  done.get();
  return true;
}

}  // namespace

void report_stack_kernels(const Runtime& runtime) {
  if (runtime.first_gpu() < 0) return;
  if (const std::string failures = device::StackCompiler::shared().take_failures(); !failures.empty())
    runtime.log(LogLevel::warning, failures);
  if (const std::string flaws = device::StackCompiler::shared().take_flaws(); !flaws.empty())
    runtime.log(LogLevel::warning, flaws);
}

template <class T>
void prepare_stack_kernels(const Runtime& runtime, std::span<const StackClass> classes) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return;
  std::vector<device::StackShape> shapes;
  for (const StackClass& shape : classes)
    if (device::has_own_kernel(shape)) shapes.push_back({type_letter<T>, shape.m, shape.n, shape.k});
  if (shapes.empty() || device::StackCompiler::shared().prepared(gpu, shapes)) return;
  // Without a thread each kernel is made when a task first asks for it.
  on_device(gpu, [&] { device::StackCompiler::shared().prepare(shapes, runtime.workers()); });
  report_stack_kernels(runtime);
}

std::string describe_stack_kernels(const Runtime& runtime) {
  const int gpu = runtime.first_gpu();
  if (gpu < 0) return {};
  std::string description;
  if (!on_device(gpu, [&] { description = device::StackCompiler::shared().description(); }))
    return "unknown: no thread can be made";
  return description;
}

std::vector<std::pair<std::string, std::string>> describe_tuned_kernels() {
  std::vector<std::pair<std::string, std::string>> lines;
  const std::string version = device::stack_source_version(device::stack_kernel_files());
  for (const auto& [gpu, tuned] : device::TunedPlanStore::of_user().read_all(version)) {
    std::string text;
    for (const device::TunedPlan& plan : tuned.plans)
      text += fmt::format("{}{} {}x{}x{}", text.empty() ? "" : ", ", plan.shape.type, plan.shape.m,
                          plan.shape.n, plan.shape.k);
    if (!tuned.flaw.empty()) text += fmt::format("{}{}", text.empty() ? "" : "; ", tuned.flaw);
    lines.emplace_back(gpu, text.empty() ? "none" : text);
  }
  return lines;
}

#else

void report_stack_kernels(const Runtime&) {}

template <class T>
void prepare_stack_kernels(const Runtime&, std::span<const StackClass>) {}

std::string describe_stack_kernels(const Runtime&) {
  return {};
}

std::vector<std::pair<std::string, std::string>> describe_tuned_kernels() {
  return {};
}

#endif

template <class T>
void run(const HostContext&, const MultiplyStack<T>& task) {
  const std::span<T> c = *task.c;
  if (task.c.first()) std::fill(c.begin(), c.end(), T(0));
  const StackEntry* const entries = task.stack.view().data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(task.classes));
  kernels::multiply_stack<T>(task.classes, entries, runs, stack_factors(task.factors), c.data());
  *task.ran_on = ProductWorker::cpu;
}

#define TESSERA_DEFINE(T)                                                                                   \
  template void kernels::small_products<T>(Index, Index, Index, const T*, const T*, const StackEntry*,      \
                                           Index, T*) noexcept;                                             \
  template void kernels::multiply_stack<T>(std::span<const StackClass>, const StackEntry*, const StackRun*, \
                                           const StackFactors<T>&, T*) noexcept;                            \
  template void prepare_stack_kernels<T>(const Runtime&, std::span<const StackClass>);                      \
  template ProductSeconds stack_seconds<T>(std::span<const StackClass>) noexcept;                           \
  TESSERA_DEFINE_TASK(MultiplyStack<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
