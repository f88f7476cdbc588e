// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <tessera/runtime/sequence.hpp>
#include <tessera/tiled_matrix.hpp>

/// Upper limits of the machine's performance: rates of dense products and of copies, measured on
/// the processors where tasks run.
namespace tessera::program {
using namespace detail;

/// Number of threads for a library that replaces the CPU workers; at least one.
int cpu_threads(const Runtime& runtime);
/// The host's threads, but no more than may each have so many bytes of its own, together a quarter of the memory; at least
/// one.
int threads_with_bytes(const Runtime& runtime, std::size_t bytes);

/// C := A B by tiles through the runtime, A and B random and square.
template <class T>
class TiledGemm {
 public:
  /// @param tile  0: large enough for full speed, and small enough that no worker is idle while the
  /// last tiles are computed
  TiledGemm(Runtime& runtime, Index n, Index tile, const ProcessGrid& grid);
  /// Creates a new C.
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

/// GFLOP/s of tiled products of order n through the runtime on all workers: the best of `repeat`
/// runs after one warm-up run; collective.
template <class T>
double measure_gemm_limit(Runtime& runtime, Index n, int repeat);

/// Runs `work(thread)` on all CPU workers, which start together. Returns the seconds from the start
/// to the end of the last one. Hardware threads that share a core, and lower clock rates under
/// load, slow `work` down just as they slow tasks down.
double time_on_workers(Runtime& runtime, const std::function<void(int)>& work);

/// Bytes read and written per second, on all CPU workers, by copies of arrays that do not fit into
/// the caches.
double measure_copy(Runtime& runtime);

/// Seconds of a product of random matrices of order n by cuBLAS on the first GPU.
/// @throws RuntimeError without a GPU, like all functions below
template <class T>
double time_cublas_gemm(Index n);
/// Bytes read and written per second by a copy of `bytes` bytes in the GPU's memory.
double measure_gpu_copy(std::size_t bytes);

/// Upper limits of one GPU: a product of matrices of order n by cuBLAS, and a copy in its memory.
struct GpuLimits {
  double gflops = 0;
  double copy_rate = 0;  ///< bytes read and written per second
};
template <class T>
GpuLimits measure_gpu_limits(Index n);

}  // namespace tessera::program
