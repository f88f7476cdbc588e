// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#if TESSERA_WITH_CUDA

#include <algorithm>
#include <complex>
#include <vector>

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail::device {
namespace {

int current_device() {
  int device = 0;
  require_success(cudaGetDevice(&device), "no GPU");
  return device;
}

StackCache user_cache() {
  try {
    const std::filesystem::path root = cache_directory();
    return StackCache(root / "stack_kernels", root);
  } catch (const RuntimeError&) {
    return StackCache({});
  }
}

// ---- the trial ----------------------------------------------------------------------------------------

void require(cudaError_t error) {
  require_success(error, "the trial");
}

class Stream {
 public:
  Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An array on the device, copied on a stream.
template <class E>
class Array {
 public:
  Array(const Stream& stream, const std::vector<E>& values) : stream_(stream), size_(values.size()) {
    require(cudaMalloc(reinterpret_cast<void**>(&data_), sizeof(E) * size_));
    require(cudaMemcpyAsync(data_, values.data(), sizeof(E) * size_, cudaMemcpyHostToDevice, stream.get()));
    require(cudaStreamSynchronize(stream.get()));  // `values` may be gone soon
  }
  ~Array() { cudaFree(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  E* data() const noexcept { return data_; }
  std::vector<E> get() const {
    std::vector<E> values(size_);
    require(cudaMemcpyAsync(values.data(), data_, sizeof(E) * size_, cudaMemcpyDeviceToHost, stream_.get()));
    require(cudaStreamSynchronize(stream_.get()));
    return values;
  }

 private:
  const Stream& stream_;
  std::size_t size_;
  E* data_ = nullptr;
};

template <class T>
void compare(const StackKernel& kernel, const StackShape& shape) {
  constexpr std::int32_t blocks = 3, counts[] = {1, 2, 5, 1, 3, 4, 1};
  const std::int32_t m = shape.m, n = shape.n, k = shape.k;
  std::vector<StackRun> runs;
  std::vector<StackEntry> entries;
  // In C the blocks lie in another order. A gap of one number between blocks makes some of them aligned.
  const auto count_of_runs = static_cast<std::int32_t>(std::size(counts));
  for (std::int32_t r = 0; r < count_of_runs; ++r) {
    runs.push_back(
        {1 + (r * 3 % count_of_runs) * (m * n + 1), static_cast<std::int32_t>(entries.size()), counts[r]});
    for (std::int32_t e = 0; e < counts[r]; ++e)
      entries.push_back({(r + e) % blocks * (m * k + 1) - (e % 2 == 1 && (r + e) % blocks > 0),
                         (r + 2 * e) % blocks * (k * n + 1) - (e % 2 == 1 && (r + 2 * e) % blocks > 0),
                         e % 2});
  }
  const StackClass all{m, n, k, 0, count_of_runs, 0, static_cast<std::int32_t>(entries.size())};
  const Stream stream;
  const auto c = small_integers<T>(1 + count_of_runs * (m * n + 1), 3);
  const Array<T> a(stream, small_integers<T>(blocks * (m * k + 1), 1)),
      b(stream, small_integers<T>(blocks * (k * n + 1), 2)), own(stream, c), generic(stream, c);
  const Array<StackRun> device_runs(stream, runs);
  const Array<StackEntry> device_entries(stream, entries);
  // Products of two pairs of panels, the second of which begins one element later.
  StackFactors<T> factors{};
  factors.a[0] = a.data(), factors.b[0] = b.data();
  factors.a[1] = a.data() + 1, factors.b[1] = b.data() + 1;
  launch_stack_kernel<T>(stream.get(), kernel, all, device_entries.data(), device_runs.data(), factors,
                         own.data());
  require(cudaGetLastError());
  launch_generic_stack<T>(stream.get(), all, device_entries.data(), device_runs.data(), factors,
                          generic.data());
  require(cudaGetLastError());
  if (own.get() != generic.get()) throw RuntimeError("the compiled kernel computes something else");
}

}  // namespace

void require_same_as_generic(const StackKernel& kernel, const StackShape& shape) {
  switch (shape.type) {
    case 's':
      return compare<float>(kernel, shape);
    case 'd':
      return compare<double>(kernel, shape);
    case 'c':
      return compare<std::complex<float>>(kernel, shape);
    default:
      return compare<std::complex<double>>(kernel, shape);
  }
}

// ---- a kernel in the process --------------------------------------------------------------------------

LoadedStackKernel::LoadedStackKernel(const StackBinary& binary, const StackPlan& plan) {
  require_success(
      cudaLibraryLoadData(&library_, binary.code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading the kernel");
  cudaKernel_t function = nullptr;
  const cudaError_t found = cudaLibraryGetKernel(&function, library_, binary.kernel.c_str());
  if (found != cudaSuccess) cudaLibraryUnload(library_);
  require_success(found, "finding the kernel");
  kernel_ = {reinterpret_cast<const void*>(function), plan};
}

LoadedStackKernel::~LoadedStackKernel() {
  cudaLibraryUnload(library_);
}

void LoadedStackKernel::allow_shared_memory(int device) {
  constexpr int always_there = 48 * 1024;
  const std::uint64_t bit = std::uint64_t(1) << (device % 64);
  if (kernel_.plan.shared_bytes <= always_there || (allowed_ & bit)) return;
  auto* const function =
      static_cast<cudaKernel_t>(const_cast<void*>(kernel_.function));  // NOLINT: what the runtime gave
  require_success(cudaKernelSetAttributeForDevice(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                  kernel_.plan.shared_bytes, device),
                  "shared memory");
  allowed_ |= bit;
}

std::string gpu_model(int device) {
  cudaDeviceProp properties;
  require_success(cudaGetDeviceProperties(&properties, device), "no GPU");
  return properties.name;
}

int gpu_architecture(int device) {
  int major = 0, minor = 0;
  require_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "no GPU");
  require_success(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "no GPU");
  return 10 * major + minor;
}

// ---- those of all shapes ------------------------------------------------------------------------------

struct StackCompiler::Entry {
  enum class State { absent, ready, failed, failed_for_now };
  std::mutex mutex;  ///< of all below
  State state = State::absent;
  int attempts = 0;
  std::unique_ptr<LoadedStackKernel> loaded;

  /// Memory that was short may be free again. The number of attempts is bounded, since each one compiles.
  bool worth_another_try() {
    constexpr int max_attempts = 3;
    const std::lock_guard lock(mutex);
    if (state == State::failed_for_now && attempts < max_attempts) state = State::absent;
    return state == State::absent;
  }
};

struct StackCompiler::Model {
  int architecture = 0;
  std::map<StackShape, StackPlan> tuned;
  std::map<StackShape, std::unique_ptr<Entry>> entries;
};

StackCompiler::StackCompiler(std::filesystem::path cache, std::span<const SourceFile> files)
    : StackCompiler(StackCache(std::move(cache)), files) {}

StackCompiler::StackCompiler(StackCache cache, std::span<const SourceFile> files, TunedPlanStore plans)
    : cache_(std::move(cache)), files_(files), plans_(std::move(plans)) {}

StackCompiler::~StackCompiler() = default;

StackCompiler& StackCompiler::shared() {
  // Never destroyed: the CUDA runtime may be gone before.
  static auto* const compiler =
      new StackCompiler(user_cache(), stack_kernel_files(), TunedPlanStore::of_user());
  return *compiler;
}

StackCompiler::Model& StackCompiler::model_of(int device) {
  const std::lock_guard lock(mutex_);
  Model*& of_device = models_of_devices_[device];
  if (of_device) return *of_device;
  const std::string name = gpu_model(device);
  std::unique_ptr<Model>& model = models_[name];
  if (!model) {
    model = std::make_unique<Model>();
    model->architecture = gpu_architecture(device);
    const TunedPlans found = plans_.read(name, stack_source_version(files_));
    for (const TunedPlan& tuned : found.plans) model->tuned[tuned.shape] = tuned.plan;
    note_flaw(found.flaw);
  }
  of_device = model.get();
  return *of_device;
}

StackCompiler::Entry& StackCompiler::entry(Model& model, const StackShape& shape) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Entry>& place = model.entries[shape];
  if (!place) place = std::make_unique<Entry>();
  return *place;
}

void StackCompiler::note_failure(const StackShape& shape, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ++counts_.failed;
  if (new_failures_++ == 0) first_failure_ = fmt::format("{}: {}", describe_shape(shape), reason);
}

/// With the mutex locked.
void StackCompiler::note_flaw(const std::string& flaw) {
  if (!flaw.empty() && new_flaws_++ == 0) first_flaw_ = flaw;
}

std::string StackCompiler::make_with(Entry& entry, const Model& model, int device, const StackShape& shape,
                                     const StackPlan& plan) {
  using State = Entry::State;
  std::string failure;
  try {
    const std::string key = stack_binary_key(files_, model.architecture, shape, plan);
    auto [binary, flaw] = cache_.read(shape, key);
    const bool compiled = !binary;
    if (compiled) binary = compile_stack(files_, model.architecture, shape, plan);
    {
      const std::lock_guard lock(mutex_);
      ++(compiled ? counts_.compiled : counts_.read);
      note_flaw(flaw);
    }
    entry.loaded = std::make_unique<LoadedStackKernel>(*binary, plan);
    entry.loaded->allow_shared_memory(device);
    require_same_as_generic(entry.loaded->kernel(), shape);
    entry.state = State::ready;
    if (compiled) cache_.write(shape, key, *binary);
    return {};
  } catch (const PassingFailure& error) {
    entry.state = State::failed_for_now;
    failure = error.what();
  } catch (const std::bad_alloc& error) {
    entry.state = State::failed_for_now;
    failure = error.what();
  } catch (const std::exception& error) {
    entry.state = State::failed;
    failure = error.what();
  }
  entry.loaded.reset();
  return failure;
}

void StackCompiler::make(Entry& entry, const Model& model, int device, const StackShape& shape) {
  cudaGetLastError();  // forgets an error of other code
  ++entry.attempts;
  if (const auto tuned = model.tuned.find(shape); tuned != model.tuned.end()) {
    const std::string reason = make_with(entry, model, device, shape, tuned->second);
    if (entry.state == Entry::State::failed) {
      const std::lock_guard lock(mutex_);
      note_flaw(fmt::format("tuned parameters of {}: not used ({})", describe_shape(shape), reason));
    } else {
      if (!reason.empty()) note_failure(shape, reason);
      return;
    }
  }
  const std::string reason = make_with(entry, model, device, shape, formula_plan(shape));
  if (!reason.empty()) note_failure(shape, reason);
}

const StackKernel* StackCompiler::kernel(const StackShape& shape) {
  const int device = current_device();
  Model& model = model_of(device);
  Entry& found = entry(model, shape);
  const std::lock_guard lock(found.mutex);
  if (found.state == Entry::State::absent) make(found, model, device, shape);
  if (found.state != Entry::State::ready) return nullptr;
  try {
    found.loaded->allow_shared_memory(device);
  } catch (const RuntimeError& failure) {
    note_failure(shape, failure.what());
    return nullptr;
  }
  return &found.loaded->kernel();
}

void StackCompiler::prepare(std::span<const StackShape> shapes, int threads) {
  const int device = current_device();
  Model& model = model_of(device);
  std::vector<StackShape> wanted(shapes.begin(), shapes.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::erase_if(wanted, [&](const StackShape& shape) { return !entry(model, shape).worth_another_try(); });
  parallel_for(threads, static_cast<Index>(wanted.size()), [&](Index i, int) {
    cudaSetDevice(device);
    kernel(wanted[static_cast<std::size_t>(i)]);
  });
}

bool StackCompiler::prepared(int device, std::span<const StackShape> shapes) {
  std::vector<Entry*> made;
  {
    const std::lock_guard lock(mutex_);
    const auto model = models_of_devices_.find(device);
    if (model == models_of_devices_.end() || !model->second) return false;
    for (const StackShape& shape : shapes) {
      const auto entry = model->second->entries.find(shape);
      if (entry == model->second->entries.end()) return false;
      made.push_back(entry->second.get());
    }
  }
  // Without the lock: who makes a kernel has its entry's, and then takes this one.
  return std::none_of(made.begin(), made.end(), [](Entry* entry) { return entry->worth_another_try(); });
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
  return first_flaw_ + (others > 0 ? fmt::format(" (and {} others)", others) : std::string());
}

std::string StackCompiler::description() {
  const StackShape probe{'d', 23, 23, 23};
  if (kernel(probe))
    return fmt::format("{}, kept in {}", stack_compiler_version(),
                       cache_.directory().empty() ? "memory" : cache_.directory().string());
  const std::lock_guard lock(mutex_);
  return fmt::format("the generic kernel ({})", first_failure_);
}

}  // namespace tessera::detail::device

#endif  // TESSERA_WITH_CUDA
