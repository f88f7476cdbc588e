// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <algorithm>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_failure.hpp>
#include <tessera/codelets/block_sparse/product/kernels/stack_trial.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::device {
namespace {

int current_device() {
  int device = 0;
  require_success(cudaGetDevice(&device), "no GPU");
  return device;
}

int architecture_of(int device) {
  int major = 0, minor = 0;
  require_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "no GPU");
  require_success(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "no GPU");
  return 10 * major + minor;
}

StackPlan plan_of(const StackShape& shape) noexcept {
  const bool complex = shape.type == 'c' || shape.type == 'z';
  const int real_bytes = shape.type == 's' || shape.type == 'c' ? 4 : 8;
  return stack_plan(complex ? 2 * real_bytes : real_bytes, complex, shape.m, shape.n, shape.k);
}

StackCache user_cache() {
  try {
    const std::filesystem::path root = cache_directory();
    return StackCache(root / "stack_kernels", root);
  } catch (const RuntimeError&) {
    return StackCache({});
  }
}

}  // namespace

struct StackCompiler::Entry {
  enum class State { absent, ready, failed, failed_for_now };
  std::mutex mutex;  ///< of all below
  State state = State::absent;
  int attempts = 0;
  cudaLibrary_t library = nullptr;
  cudaKernel_t function = nullptr;
  StackKernel kernel;
  std::uint64_t allowed = 0;  ///< devices that grant the kernel's shared memory, one bit each

  void load(const StackBinary& binary, const StackPlan& plan) {
    require_success(
        cudaLibraryLoadData(&library, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "loading the kernel");
    require_success(cudaLibraryGetKernel(&function, library, binary.kernel.c_str()), "finding the kernel");
    kernel = {reinterpret_cast<const void*>(function), plan};
  }
  void unload() {
    if (library) cudaLibraryUnload(library);
    library = nullptr;
    kernel = {};
    allowed = 0;
  }
  /// More shared memory than a kernel has by itself must be asked for on every device.
  void allow_shared_memory(int device) {
    constexpr int always_there = 48 * 1024;
    const std::uint64_t bit = std::uint64_t(1) << (device % 64);
    if (kernel.plan.shared_bytes <= always_there || (allowed & bit)) return;
    require_success(cudaKernelSetAttributeForDevice(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    kernel.plan.shared_bytes, device),
                    "shared memory");
    allowed |= bit;
  }
  /// Memory that was short may be there again; not for ever, since an attempt takes some tenths of a second.
  bool worth_another_try() {
    constexpr int max_attempts = 3;
    const std::lock_guard lock(mutex);
    if (state == State::failed_for_now && attempts < max_attempts) state = State::absent;
    return state == State::absent;
  }
};

StackCompiler::StackCompiler(std::filesystem::path cache, std::span<const SourceFile> files)
    : StackCompiler(StackCache(std::move(cache)), files) {}

StackCompiler::StackCompiler(StackCache cache, std::span<const SourceFile> files)
    : cache_(std::move(cache)), files_(files) {}

StackCompiler::~StackCompiler() {
  for (const auto& [key, entry] : entries_) entry->unload();
}

StackCompiler& StackCompiler::shared() {
  // Never destroyed: the CUDA runtime may be gone before.
  static auto* const compiler = new StackCompiler(user_cache());
  return *compiler;
}

StackCompiler::Entry& StackCompiler::entry(int architecture, const StackShape& shape) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Entry>& place = entries_[{architecture, shape}];
  if (!place) place = std::make_unique<Entry>();
  return *place;
}

void StackCompiler::note_failure(const StackShape& shape, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++counts_.failed;
  if (new_failures_++ == 0)
    first_failure_ =
        fmt::format("{} x {} x {} of type {}: {}", shape.m, shape.n, shape.k, shape.type, reason);
}

void StackCompiler::make(Entry& entry, int architecture, int device, const StackShape& shape) {
  using State = Entry::State;
  cudaGetLastError();  // of somebody else
  ++entry.attempts;
  try {
    const std::string key = stack_binary_key(files_, architecture, shape);
    auto [binary, flaw] = cache_.read(shape, key);
    const bool compiled = !binary;
    if (compiled) binary = compile_stack(files_, architecture, shape);
    {
      const std::lock_guard lock(mutex_);
      ++(compiled ? counts_.compiled : counts_.read);
      if (!flaw.empty() && new_flaws_++ == 0) first_flaw_ = flaw;
    }
    entry.load(*binary, plan_of(shape));
    entry.allow_shared_memory(device);
    require_same_as_generic(entry.kernel, shape);
    entry.state = State::ready;
    if (compiled) cache_.write(shape, key, *binary);
    return;
  } catch (const PassingFailure& failure) {
    entry.state = State::failed_for_now;
    note_failure(shape, failure.what());
  } catch (const std::bad_alloc& failure) {
    entry.state = State::failed_for_now;
    note_failure(shape, failure.what());
  } catch (const std::exception& failure) {
    entry.state = State::failed;
    note_failure(shape, failure.what());
  }
  entry.unload();
}

const StackKernel* StackCompiler::kernel(const StackShape& shape) {
  const int device = current_device(), architecture = architecture_of(device);
  Entry& found = entry(architecture, shape);
  const std::lock_guard lock(found.mutex);
  if (found.state == Entry::State::absent) make(found, architecture, device, shape);
  if (found.state != Entry::State::ready) return nullptr;
  try {
    found.allow_shared_memory(device);
  } catch (const RuntimeError& failure) {
    note_failure(shape, failure.what());
    return nullptr;
  }
  return &found.kernel;
}

void StackCompiler::prepare(std::span<const StackShape> shapes, int threads) {
  const int device = current_device(), architecture = architecture_of(device);
  std::vector<StackShape> wanted(shapes.begin(), shapes.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::erase_if(wanted,
                [&](const StackShape& shape) { return !entry(architecture, shape).worth_another_try(); });
  parallel_for(threads, static_cast<Index>(wanted.size()), [&](Index i, int) {
    cudaSetDevice(device);
    kernel(wanted[static_cast<std::size_t>(i)]);
  });
}

StackCompiler::Counts StackCompiler::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string StackCompiler::take_failures() {
  const std::lock_guard lock(mutex_);
  if (new_failures_ == 0) return {};
  const int others = std::exchange(new_failures_, 0) - 1;
  return fmt::format("products of blocks by the generic kernel: {}{}", first_failure_,
                     others > 0 ? fmt::format(" (and {} other shapes)", others) : std::string());
}

std::string StackCompiler::take_flaws() {
  const std::lock_guard lock(mutex_);
  if (new_flaws_ == 0) return {};
  const int others = std::exchange(new_flaws_, 0) - 1;
  return first_flaw_ + (others > 0 ? fmt::format(" (and {} other files)", others) : std::string());
}

std::string StackCompiler::description() {
  const StackShape probe{'d', 23, 23, 23};
  if (kernel(probe))
    return fmt::format("{}, kept in {}", stack_compiler_version(),
                       cache_.directory().empty() ? "memory" : cache_.directory().string());
  const std::lock_guard lock(mutex_);
  return fmt::format("the generic kernel ({})", first_failure_);
}

}  // namespace tessera::device

#endif  // TESSERA_WITH_CUDA
