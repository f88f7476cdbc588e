// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_plan_judge.hpp"

#include <complex>
#include <optional>

#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "gpu_device.hpp"
#include "random_stack.hpp"
#include "scalar_types.hpp"

namespace tessera::program {

#if TESSERA_WITH_CUDA

namespace {

/// What a plan became.
struct PlanKernel {
  std::optional<device::StackBinary> binary{};
  std::string flaw{};
  std::unique_ptr<device::LoadedStackKernel> loaded{};  ///< once it has been tried
};

std::vector<PlanKernel> compile_plans(const device::StackShape& shape, const std::vector<StackPlan>& plans,
                                      int threads) {
  std::vector<PlanKernel> kernels(plans.size());
  const int architecture = device::gpu_architecture(0);
  parallel_for(threads, static_cast<Index>(plans.size()), [&](Index i, int) {
    PlanKernel& kernel = kernels[static_cast<std::size_t>(i)];
    try {
      kernel.binary = device::compile_stack(device::stack_kernel_files(), architecture, shape,
                                            plans[static_cast<std::size_t>(i)]);
    } catch (const RuntimeError& error) {
      kernel.flaw = error.what();
    }
  });
  return kernels;
}

template <class T>
class GpuPlanJudge final : public PlanJudge {
 public:
  GpuPlanJudge(const device::StackShape& shape, const std::vector<StackPlan>& plans, int threads,
               std::uint64_t seed)
      : shape_(shape),
        plans_(plans),
        kernels_(compile_plans(shape, plans, threads)),
        a_(device::small_integers<T>(random_stack_blocks * shape.m * shape.k, splitmix(seed, 1))),
        b_(device::small_integers<T>(random_stack_blocks * shape.k * shape.n, splitmix(seed, 2))),
        large_(random_stack(shape.m, shape.n, shape.k, large_stack_products, splitmix(seed, 3))),
        small_(random_stack(shape.m, shape.n, shape.k, small_stack_products, splitmix(seed, 4))),
        c_(static_cast<std::size_t>(large_.shape.runs) * static_cast<std::size_t>(shape.m * shape.n)) {
    clear();
  }

  PlanSeconds time(std::size_t plan) override {
    const StackKernel& kernel = tried(plan);
    return {seconds(kernel, large_), seconds(kernel, small_)};
  }
  void require_right(std::size_t plan) override {
    const StackKernel& kernel = tried(plan);
    for (const Stack* stack : {&large_, &small_}) {
      const std::vector<T> found = result([&] { launch(kernel, *stack); });
      const std::vector<T> expected = result([&] {
        device::launch_generic_stack<T>(device_.stream(), stack->shape, stack->entries.data(),
                                        stack->runs.data(), factors(), c_.data());
      });
      if (found != expected) throw RuntimeError("it computes something else than the generic kernel");
    }
  }

 private:
  using StackKernel = device::StackKernel;
  struct Stack {
    StackClass shape;
    DeviceMemory<StackEntry> entries;
    DeviceMemory<StackRun> runs;
    explicit Stack(const RandomStack& stack) : shape(stack.shape), entries(stack.entries), runs(stack.runs) {}
  };

  StackFactors<T> factors() const {
    StackFactors<T> factors{};
    factors.a[0] = a_.data(), factors.b[0] = b_.data();
    return factors;
  }
  const StackKernel& tried(std::size_t plan) {
    PlanKernel& kernel = kernels_[plan];
    if (!kernel.binary) throw RuntimeError(kernel.flaw);
    if (!kernel.loaded) {
      auto loaded = std::make_unique<device::LoadedStackKernel>(*kernel.binary, plans_[plan]);
      loaded->allow_shared_memory(0);
      device::require_same_as_generic(loaded->kernel(), shape_);
      kernel.loaded = std::move(loaded);
    }
    return kernel.loaded->kernel();
  }
  void launch(const StackKernel& kernel, const Stack& stack) const {
    device::launch_stack_kernel<T>(device_.stream(), kernel, stack.shape, stack.entries.data(),
                                   stack.runs.data(), factors(), c_.data());
    require(cudaGetLastError(), "starting the kernel");
  }
  /// Of one stack, as often as gives a few million products, after once to warm up.
  double seconds(const StackKernel& kernel, const Stack& stack) const {
    constexpr Index products = 3000000;
    const Index rounds = products / stack.shape.products;
    launch(kernel, stack);
    return device_.time([&] {
      for (Index round = 0; round < rounds; ++round) launch(kernel, stack);
    }) / static_cast<double>(rounds);
  }
  void clear() const {
    require(cudaDeviceSynchronize(), "waiting for the GPU");
    require(cudaMemset(c_.data(), 0, c_.size() * sizeof(T)), "clearing C");
    require(cudaDeviceSynchronize(), "clearing C");
  }
  template <class Work>
  std::vector<T> result(const Work& work) const {
    clear();
    work();
    require(cudaDeviceSynchronize(), "the kernel");
    return c_.get(c_.size());
  }

  Device device_;
  device::StackShape shape_;
  std::vector<StackPlan> plans_;
  std::vector<PlanKernel> kernels_;
  DeviceMemory<T> a_, b_;
  Stack large_, small_;
  DeviceMemory<T> c_;
};

}  // namespace

TuningTarget tuning_target() {
  const FirstGpu gpu;
  return {device::gpu_model(0), device::stack_source_version(device::stack_kernel_files())};
}

std::unique_ptr<PlanJudge> make_gpu_plan_judge(const device::StackShape& shape,
                                               const std::vector<StackPlan>& plans, int threads,
                                               std::uint64_t seed) {
  return with_scalar_type(shape.type, [&]<class T>() -> std::unique_ptr<PlanJudge> {
    return std::make_unique<GpuPlanJudge<T>>(shape, plans, threads, seed);
  });
}

#else

TuningTarget tuning_target() {
  throw RuntimeError("this program was built without CUDA");
}

std::unique_ptr<PlanJudge> make_gpu_plan_judge(const device::StackShape&, const std::vector<StackPlan>&, int,
                                               std::uint64_t) {
  throw RuntimeError("this program was built without CUDA");
}

#endif

}  // namespace tessera::program
