// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// What the machine can do at most: rates of dense products and of copies, measured where tasks compute.
namespace tessera::program {
using namespace detail;

/// Threads of a library that runs in place of the CPU workers; at least one.
int cpu_threads(const Runtime& runtime);

/// C := A B by tiles through the runtime, A and B random and square.
template <class T>
class TiledGemm {
 public:
  /// @param tile  0: large enough for full speed, small enough that the last tiles leave no worker idle
  TiledGemm(Runtime& runtime, Index n, Index tile, const ProcessGrid& grid);
  /// C anew.
  void prepare();
  void submit(Sequence& sequence) const;
  const TiledMatrix<T>& a() const noexcept { return a_; }
  const TiledMatrix<T>& b() const noexcept { return b_; }
  const TiledMatrix<T>& c() const noexcept { return c_; }

 private:
  TiledMatrix<T> filled(std::uint64_t seed) const;
  Runtime& runtime_;
  TileLayout layout_;
  TiledMatrix<T> a_, b_, c_;
};

/// GFLOP/s of tiled products of order n through the runtime on all workers, best of `repeat` after one to
/// warm up; collective.
template <class T>
double measure_gemm_limit(Runtime& runtime, Index n, int repeat);

/// Runs `work(thread)` on all CPU workers; seconds from the first's start, for which all wait, until the last
/// is done. Processors that share a core, and clocks that fall when many cores compute, slow it as they slow
/// tasks.
double time_on_workers(Runtime& runtime, const std::function<void(int)>& work);

/// Bytes read and written per second by copies of arrays that are larger than the caches, on all CPU workers.
double measure_copy(Runtime& runtime);

/// Seconds of a product of random matrices of order n by cuBLAS on the first GPU.
/// @throws RuntimeError without a GPU, as all that follows
template <class T>
double time_cublas_gemm(Index n);
/// Bytes read and written per second by a copy of `bytes` bytes in the GPU's memory.
double measure_gpu_copy(std::size_t bytes);

/// What one GPU reaches by itself: a product of matrices of order n by cuBLAS, and a copy in its memory.
struct GpuLimits {
  double gflops = 0;
  double copy_rate = 0;  ///< bytes read and written per second
};
template <class T>
GpuLimits measure_gpu_limits(Index n);

}  // namespace tessera::program
