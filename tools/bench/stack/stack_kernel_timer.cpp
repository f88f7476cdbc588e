// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stack_kernel_timer.hpp"

#include <complex>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/error.hpp>

#include "gpu_device.hpp"

namespace tessera::program {
using namespace detail;

#if TESSERA_WITH_CUDA

template <class T>
struct StackKernelTimer<T>::Detail {
  struct Item {
    std::vector<StackClass> classes;
    DeviceMemory<StackEntry> entries;
    DeviceMemory<StackRun> runs;
    const DeviceMemory<T>&a, &b, &c;
    Item(const StackItem& item, const DeviceMemory<T>& panel_a, const DeviceMemory<T>& panel_b,
         const DeviceMemory<T>& panel_c)
        : classes(item.classes), entries(item.entries), runs(item.runs), a(panel_a), b(panel_b), c(panel_c) {}
  };
  using Panels = std::vector<std::unique_ptr<DeviceMemory<T>>>;
  Device device;
  Panels a, b, c;
  std::vector<std::unique_ptr<Item>> items;

  static const DeviceMemory<T>& panel(Panels& panels, const std::vector<Data>& host, std::size_t number) {
    panels.resize(host.size());
    if (!panels[number]) panels[number] = std::make_unique<DeviceMemory<T>>(panel_values<T>(host[number]));
    return *panels[number];
  }
  void add(const StackProblem<T>& problem, const StackItem& item) {
    items.push_back(std::make_unique<Item>(item, panel(a, problem.a, item.a), panel(b, problem.b, item.b),
                                           panel(c, problem.c, item.c)));
  }
  void launch(bool own) const {
    device::StackCompiler& compiler = device::StackCompiler::shared();
    for (const auto& item : items) {
      StackFactors<T> factors{};
      factors.a[0] = item->a.data(), factors.b[0] = item->b.data();
      if (own) {
        device::launch_stack<T>(device.stream(), compiler, item->classes, item->entries.data(),
                                item->runs.data(), factors, item->c.data());
        continue;
      }
      for (const StackClass& shape : item->classes)
        device::launch_generic_stack<T>(device.stream(), shape, item->entries.data(),
                                        item->runs.data() + shape.first_run, factors, item->c.data());
    }
  }
};

template <class T>
StackKernelTimer<T>::StackKernelTimer(const StackProblem<T>& problem, std::size_t items)
    : detail_(std::make_unique<Detail>()) {
  for (std::size_t i = 0; i < std::min(items, problem.items.size()); ++i) {
    const StackItem& item = problem.items[i];
    detail_->add(problem, item);
    flops_ += stack_flops(item.classes, is_complex<T>);
    for (const StackClass& shape : item.classes)
      operand_bytes_ += static_cast<double>(shape.products) * (shape.m + shape.n) * shape.k * sizeof(T);
  }
}

template <class T>
StackKernelTimes StackKernelTimer<T>::measure(Index rounds) const {
  const auto seconds = [&](bool own) {
    detail_->launch(own);
    return detail_->device.time([&] {
      for (Index round = 0; round < rounds; ++round) detail_->launch(own);
    }) / static_cast<double>(rounds);
  };
  return {seconds(true), seconds(false)};
}

template <class T>
std::vector<std::vector<T>> StackKernelTimer<T>::results() const {
  require(cudaDeviceSynchronize(), "waiting for the GPU");
  for (const auto& panel : detail_->c)
    if (panel) require(cudaMemset(panel->data(), 0, panel->size() * sizeof(T)), "clearing C");
  require(cudaDeviceSynchronize(), "clearing C");
  detail_->launch(true);
  require(cudaDeviceSynchronize(), "the kernels");
  std::vector<std::vector<T>> values;
  for (const auto& panel : detail_->c) values.push_back(panel ? panel->get(panel->size()) : std::vector<T>());
  return values;
}

#else

template <class T>
struct StackKernelTimer<T>::Detail {};
template <class T>
StackKernelTimer<T>::StackKernelTimer(const StackProblem<T>&, std::size_t) {
  throw RuntimeError("this build has no CUDA");
}
template <class T>
StackKernelTimes StackKernelTimer<T>::measure(Index) const {
  return {};
}
template <class T>
std::vector<std::vector<T>> StackKernelTimer<T>::results() const {
  return {};
}

#endif

template <class T>
StackKernelTimer<T>::~StackKernelTimer() = default;
template <class T>
double StackKernelTimer<T>::flops() const {
  return flops_;
}
template <class T>
double StackKernelTimer<T>::operand_bytes() const {
  return operand_bytes_;
}

template class StackKernelTimer<float>;
template class StackKernelTimer<double>;
template class StackKernelTimer<std::complex<float>>;
template class StackKernelTimer<std::complex<double>>;

}  // namespace tessera::program
