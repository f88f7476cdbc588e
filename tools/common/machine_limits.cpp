// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "machine_limits.hpp"

#include <algorithm>
#include <barrier>
#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/cpu_workers.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/parallel_for.hpp>

#include "gpu_device.hpp"
#include "problem.hpp"
#include "process.hpp"

namespace tessera::program {
using namespace detail;

int cpu_threads(const Runtime& runtime) {
  return std::max(1, runtime.info().cpu_workers);
}

int threads_with_bytes(const Runtime& runtime, std::size_t bytes) {
  const std::size_t fitting = host_memory_limit() / 4 / std::max<std::size_t>(bytes, 1);
  return static_cast<int>(
      std::clamp<std::size_t>(fitting, 1, static_cast<std::size_t>(host_threads(runtime))));
}

namespace {

Index gemm_tile(const Runtime& runtime, Index n, Index wanted) {
  const bool gpus = runtime.gpus() > 0;
  const Index parts = gpus ? 4 : 8, largest = gpus ? 4096 : 512;
  return wanted > 0 ? wanted : std::clamp<Index>(ceil_div(n, parts), 192, largest);
}

}  // namespace

template <class T>
TiledGemm<T>::TiledGemm(Runtime& runtime, Index n, Index tile, const ProcessGrid& grid) : runtime_(runtime) {
  const Index order = gemm_tile(runtime, n, tile);
  layout_ = TileLayout{n, n, order, order, grid, Uplo::general};
  a_ = filled(11);
  b_ = filled(12);
}

template <class T>
TiledMatrix<T> TiledGemm<T>::filled(std::uint64_t seed) const {
  TiledMatrix<T> matrix(runtime_, layout_);
  fill_general(matrix, seed);
  matrix.prefetch();
  return matrix;
}

template <class T>
void TiledGemm<T>::prepare() {
  c_ = TiledMatrix<T>(runtime_, layout_);
}

template <class T>
void TiledGemm<T>::submit(Sequence& sequence) const {
  for (Index k = 0; k < a_.col_tiles(); ++k)
    for (Index j = 0; j < c_.col_tiles(); ++j)
      for (Index i = 0; i < c_.row_tiles(); ++i) {
        const Index m = c_.tile_rows(i), n = c_.tile_cols(j), depth = a_.tile_cols(k);
        sequence.insert(Gemm<T>{.a = a_.tile(i, k),
                                .b = b_.tile(k, j),
                                .c = c_.tile(i, j),
                                .part_a = {0, 0, m, depth},
                                .part_b = {0, 0, depth, n},
                                .part_c = {0, 0, m, n}});
      }
}

template <class T>
double measure_gemm_limit(Runtime& runtime, Index n, int repeat) {
  TiledGemm<T> product(runtime, n, 0, process_grid(runtime, {}));
  double best = HUGE_VAL;
  for (int run = -1; run < repeat; ++run) {
    product.prepare();
    runtime.barrier();
    const double start = now();
    Sequence sequence(runtime);
    product.submit(sequence);
    const Status status = sequence.wait();
    double seconds = now() - start;
    if (!status) throw Error(status.message());
    runtime.all_reduce_max(&seconds, 1);
    if (run >= 0) best = std::min(best, seconds);
  }
  const double order = static_cast<double>(n);
  return flop_factor<T> * 2 * order * order * order / best * 1e-9;
}

double time_on_workers(Runtime& runtime, const std::function<void(int)>& work) {
  const auto threads = static_cast<std::size_t>(cpu_threads(runtime));
  std::vector<double> start(threads), end(threads);
  std::barrier together(static_cast<std::ptrdiff_t>(threads));
  run_on_cpu_workers(runtime, [&](int thread) {
    together.arrive_and_wait();
    start[static_cast<std::size_t>(thread)] = now();
    work(thread);
    end[static_cast<std::size_t>(thread)] = now();
  });
  return *std::max_element(end.begin(), end.end()) - *std::min_element(start.begin(), start.end());
}

double measure_copy(Runtime& runtime) {
  const auto threads = static_cast<std::size_t>(cpu_threads(runtime));
  // Two arrays for each thread. The sum of all arrays exceeds the size of the caches.
  const std::size_t bytes = std::max<std::size_t>(std::size_t(32) << 20, (std::size_t(512) << 20) / threads);
  double best = HUGE_VAL;
  std::vector<std::vector<char>> from(threads), to = from;
  run_on_cpu_workers(runtime, [&](int thread) {
    from[static_cast<std::size_t>(thread)].assign(bytes, 1);
    to[static_cast<std::size_t>(thread)].assign(bytes, 2);
  });
  for (int round = 0; round < 3; ++round)
    best = std::min(best, time_on_workers(runtime, [&](int thread) {
                      const auto t = static_cast<std::size_t>(thread);
                      std::memcpy(to[t].data(), from[t].data(), bytes);
                    }));
  return 2 * static_cast<double>(bytes * threads) / best;
}

#if TESSERA_WITH_CUDA

namespace {

/// Repeats a block of random numbers in [-1, 1], because a GPU multiplies equal numbers faster than
/// random ones.
template <class T>
void fill_random(const DeviceMemory<T>& memory, std::uint64_t seed) {
  using Real = RealOf<T>;
  std::vector<Real> block(std::size_t(1) << 20);
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<Real>(random_uniform(seed, 0, static_cast<Index>(i), 0));
  const std::size_t bytes = sizeof(T) * memory.size();
  for (std::size_t at = 0; at < bytes; at += sizeof(Real) * block.size())
    require(cudaMemcpy(reinterpret_cast<char*>(memory.data()) + at, block.data(),
                       std::min(sizeof(Real) * block.size(), bytes - at), cudaMemcpyHostToDevice),
            "copying to the GPU");
}

}  // namespace

template <class T>
double time_cublas_gemm(Index n) {
  const Device device;
  const auto size = static_cast<std::size_t>(n * n);
  const DeviceMemory<T> a(size), b(size), c(size);
  fill_random(a, 1);
  fill_random(b, 2);
  const auto multiply = [&] {
    cublas::gemm<T>(device.blas(), Op::none, Op::none, n, n, n, T(1), a.data(), n, b.data(), n, T(0),
                    c.data(), n);
  };
  multiply();
  return device.time(multiply);
}

double measure_gpu_copy(std::size_t bytes) {
  const Device device;
  const DeviceMemory<char> source(bytes), target(bytes);
  require(cudaMemset(source.data(), 0, bytes), "clearing memory");
  const auto copy = [&] {
    require(cudaMemcpyAsync(target.data(), source.data(), bytes, cudaMemcpyDeviceToDevice, device.stream()),
            "copying on the GPU");
  };
  copy();
  double best = HUGE_VAL;
  for (int run = 0; run < 3; ++run) best = std::min(best, device.time(copy));
  return 2 * static_cast<double>(bytes) / best;
}

#else

template <class T>
double time_cublas_gemm(Index) {
  throw RuntimeError("this build has no CUDA");
}
double measure_gpu_copy(std::size_t) {
  throw RuntimeError("this build has no CUDA");
}

#endif

template <class T>
GpuLimits measure_gpu_limits(Index n) {
  constexpr std::size_t copied = std::size_t(1) << 30;
  const double order = static_cast<double>(n);
  const double seconds = time_cublas_gemm<T>(n);
  return {flop_factor<T> * 2 * order * order * order / seconds * 1e-9, measure_gpu_copy(copied)};
}

#define TESSERA_INSTANTIATE(T)                                 \
  template class TiledGemm<T>;                                 \
  template double measure_gemm_limit<T>(Runtime&, Index, int); \
  template double time_cublas_gemm<T>(Index);                  \
  template GpuLimits measure_gpu_limits<T>(Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
