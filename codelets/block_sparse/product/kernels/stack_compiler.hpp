// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <tessera/codelets/block_sparse/product/kernels/stack_program.hpp>
#include <tessera/codelets/block_sparse/product/kernels/tuned_plans.hpp>
#include <tessera/codelets/block_sparse/symbolic/stack.hpp>
#include <tessera/codelets/common/splitmix.hpp>

struct CUstream_st;  // cudaStream_t points to one

/// The kernels of single shapes that a process has: compiled when they are first asked for, or read from
/// disk, loaded, and tried once on a small stack against the generic kernel.
namespace tessera::detail::device {

/// The generic kernel computes shapes with fewer products in a stack than this, since compiling costs time.
/// Which kernel computes a class depends on the class alone, never on what has been compiled before, so that
/// the bits of a result do not, either.
inline constexpr std::int32_t least_own_products = 256;

/// The class is computed by a kernel of its shape (where that can be compiled).
constexpr bool has_own_kernel(const StackClass& shape) noexcept {
  const auto fits = [](std::int32_t size) { return 1 <= size && size <= largest_own_size; };
  return fits(shape.m) && fits(shape.n) && fits(shape.k) && shape.products >= least_own_products;
}

/// What the CUDA runtime launches; the same on all GPUs of one architecture.
struct StackKernel {
  const void* function = nullptr;
  StackPlan plan{};
};

/// Machine code in this process, on all GPUs of its architecture.
class LoadedStackKernel {
 public:
  /// @throws PassingFailure, RuntimeError
  LoadedStackKernel(const StackBinary& binary, const StackPlan& plan);
  ~LoadedStackKernel();
  LoadedStackKernel(const LoadedStackKernel&) = delete;
  LoadedStackKernel& operator=(const LoadedStackKernel&) = delete;
  /// More shared memory than a kernel has by itself must be asked for on every device before a launch.
  /// @throws PassingFailure, RuntimeError
  void allow_shared_memory(int device);
  const StackKernel& kernel() const noexcept { return kernel_; }

 private:
  CUlib_st* library_ = nullptr;
  StackKernel kernel_;
  std::uint64_t allowed_ = 0;  ///< devices that grant the kernel's shared memory, one bit each
};

/// What plans are kept under: the name of the device's model. @throws RuntimeError
std::string gpu_model(int device);
/// 90 for sm_90. @throws RuntimeError
int gpu_architecture(int device);

/// Kernels have the plan that was found best for the model of the device, where there is one that is valid
/// and of this version of the kernel, and the formula's plan otherwise. Which one is decided once for a
/// process, when the first kernel for a model is asked for.
class StackCompiler {
 public:
  /// `cache`: where binaries are kept; empty: nowhere. `files`: stack_kernel.cuh and what it includes.
  explicit StackCompiler(std::filesystem::path cache,
                         std::span<const SourceFile> files = stack_kernel_files());
  explicit StackCompiler(StackCache cache, std::span<const SourceFile> files = stack_kernel_files(),
                         TunedPlanStore plans = TunedPlanStore());
  ~StackCompiler();
  StackCompiler(const StackCompiler&) = delete;
  StackCompiler& operator=(const StackCompiler&) = delete;
  /// The library's own, with the user's cache directory.
  static StackCompiler& shared();

  /// The kernel for the current device; null: it could not be compiled or failed its trial, and the answer
  /// stays null until `prepare` tries again. Any number of threads may call this at once. The first call for
  /// a shape compiles the kernel, allocates memory on the device and waits.
  const StackKernel* kernel(const StackShape& shape);
  /// Makes kernels for the current device on `threads` threads. It also tries shapes again, up to three times
  /// in all, for which memory was short.
  void prepare(std::span<const StackShape> shapes, int threads);
  /// Whether `prepare` would have nothing to do on a device. Asks nothing of CUDA.
  bool prepared(int device, std::span<const StackShape> shapes);

  struct Counts {
    int compiled = 0, read = 0, failed = 0;
  };
  Counts counts() const;
  /// One line about all failures since the last call; empty: none.
  std::string take_failures();
  /// The same about files that were rejected: those in the cache (StackCache), whose kernels were compiled
  /// again, and tuned plans, instead of which the formula's are used.
  std::string take_flaws();
  /// The compiler and where binaries are kept, or why the current device uses the generic kernel.
  std::string description();

 private:
  struct Entry;
  struct Model;
  Model& model_of(int device);
  Entry& entry(Model& model, const StackShape& shape);
  /// With the entry locked.
  void make(Entry& entry, const Model& model, int device, const StackShape& shape);
  /// Compiles or reads, loads and tries the kernel; why it cannot be used, or empty.
  std::string make_with(Entry& entry, const Model& model, int device, const StackShape& shape,
                        const StackPlan& plan);
  void note_failure(const StackShape& shape, const std::string& reason);
  void note_flaw(const std::string& flaw);
  StackCache cache_;
  std::span<const SourceFile> files_;
  TunedPlanStore plans_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Model>> models_;
  std::map<int, Model*> models_of_devices_;
  Counts counts_;
  std::string first_failure_, first_flaw_;
  int new_failures_ = 0, new_flaws_ = 0;
};

/// Integers of -3 to 3: sums are exact whatever their order.
template <class T>
std::vector<T> small_integers(Index count, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::uint64_t number = 0;
  const auto draw = [&] {
    return static_cast<RealOf<T>>(static_cast<int>(splitmix(seed, number++) % 7) - 3);
  };
  for (T& value : values) {
    const RealOf<T> real = draw();
    if constexpr (is_complex<T>)
      value = T(real, draw());
    else
      value = real;
  }
  return values;
}

/// Computes a small stack of small integers, which no rounding touches, by the kernel and by the generic one
/// on the current device, and waits. Blocks lie at odd offsets. @throws RuntimeError where the results differ
/// anywhere, also beside the blocks of C, or the device fails
void require_same_as_generic(const StackKernel& kernel, const StackShape& shape);

// What computes stacks on a GPU. All pointers but `classes` are device memory, everything is enqueued on the
// stream. A group of threads computes a block of C, its products in the order of its run: the bits of a
// result depend on the shape, the kernel, the run and whether the class has many runs.

/// The products of all classes, each class by the kernel of its shape if it should have one (has_own_kernel)
/// and has, else by the generic kernel. Compiles what has not been prepared. They are added to C; or, without
/// `add`, they replace what C has in the blocks that have runs.
template <class T>
void launch_stack(CUstream_st* stream, StackCompiler& compiler, std::span<const StackClass> classes,
                  const StackEntry* entries, const StackRun* runs, const StackFactors<T>& factors, T* c,
                  bool add = true, bool strips = false);

/// The products of one class by any kernel; `runs` are those of the class. `strips`: in an order in which A and
/// B are read less often where the second-level cache cannot hold B.
template <class T>
void launch_stack_kernel(CUstream_st* stream, const StackKernel& kernel, const StackClass& shape,
                         const StackEntry* entries, const StackRun* runs, const StackFactors<T>& factors,
                         T* c, bool add = true, bool strips = false);

/// The same for sizes that are known at run time only, of any size: tiles of C of up to 64 x 64 in registers,
/// A and B in steps of 16 through shared memory.
template <class T>
void launch_generic_stack(CUstream_st* stream, const StackClass& shape, const StackEntry* entries,
                          const StackRun* runs, const StackFactors<T>& factors, T* c, bool add = true);

}  // namespace tessera::detail::device

#endif  // TESSERA_WITH_CUDA
