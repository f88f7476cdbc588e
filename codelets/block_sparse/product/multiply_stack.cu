// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/product/kernels/stack_compiler.hpp>
#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int side = 16, depth = 16;  ///< a block has side x side threads; columns of A in shared memory

/// Block (r, t): tile t of the block of C of run r; thread (x, y) has the elements (x + side p, y + side q).
template <class S, int each>
__global__ void __launch_bounds__(side* side)
    generic_stack_kernel(int m, int n, int k, const StackRun* runs, const StackEntry* entries,
                         const __grid_constant__ StackFactors<S> factors, S* __restrict__ c, bool add) {
  constexpr int tile = side * each;
  __shared__ S left[depth][tile], right[tile][depth + 1];
  const int tiles = (m + tile - 1) / tile;
  const int row = static_cast<int>(blockIdx.y) % tiles * tile,
            col = static_cast<int>(blockIdx.y) / tiles * tile;
  const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
  const StackRun run = runs[blockIdx.x];
  if (run.count == 0 && add) return;
  S sum[each][each];
  for (auto& line : sum)
    for (S& element : line) element = S(0);
  for (int e = run.first; e < run.first + run.count; ++e) {
    const StackEntry entry = entries[e];
    const S *const a = factors.a[entry.panel] + entry.a, *const b = factors.b[entry.panel] + entry.b;
    for (int l0 = 0; l0 < k; l0 += depth) {
      __syncthreads();
      for (int i = threadIdx.x; i < tile * depth; i += side * side) {
        const int r = row + i % tile, l = l0 + i / tile;
        left[i / tile][i % tile] = r < m && l < k ? a[r + l * m] : S(0);
      }
      for (int i = threadIdx.x; i < tile * depth; i += side * side) {
        const int l = l0 + i % depth, j = col + i / depth;
        right[i / depth][i % depth] = l < k && j < n ? b[l + j * k] : S(0);
      }
      __syncthreads();
#pragma unroll
      for (int l = 0; l < depth; ++l)
#pragma unroll
        for (int q = 0; q < each; ++q)
#pragma unroll
          for (int p = 0; p < each; ++p) sum[p][q] += left[l][x + side * p] * right[y + side * q][l];
    }
  }
  for (int q = 0; q < each; ++q)
    for (int p = 0; p < each; ++p) {
      const int i = row + x + side * p, j = col + y + side * q;
      if (i >= m || j >= n) continue;
      S& element = c[run.c + i + j * m];
      element = add ? element + sum[p][q] : sum[p][q];
    }
}

template <class T>
StackFactors<DeviceScalar<T>> device_factors(const StackFactors<T>& factors) {
  StackFactors<DeviceScalar<T>> cast;
  std::transform(std::begin(factors.a), std::end(factors.a), cast.a,
                 [](const T* p) { return device_cast(p); });
  std::transform(std::begin(factors.b), std::end(factors.b), cast.b,
                 [](const T* p) { return device_cast(p); });
  return cast;
}

template <class S, int each>
void launch(cudaStream_t stream, const StackClass& shape, const StackEntry* entries, const StackRun* runs,
            const StackFactors<S>& factors, S* c, bool add) {
  constexpr int tile = side * each;
  const dim3 grid(static_cast<unsigned>(shape.runs),
                  static_cast<unsigned>(ceil_div(shape.m, tile) * ceil_div(shape.n, tile)));
  generic_stack_kernel<S, each>
      <<<grid, side * side, 0, stream>>>(shape.m, shape.n, shape.k, runs, entries, factors, c, add);
}

/// So many runs keep the GPU busy if each group of warps has one of its own.
bool fills_gpu(const StackPlan& plan, int runs) {
  constexpr int rounds = 4;  // of thread blocks: the last ones leave part of the GPU idle
  int device = 0, multiprocessors = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  return runs >= rounds * multiprocessors * plan.blocks_per_multiprocessor * plan.parts;
}

}  // namespace

template <class T>
void launch_generic_stack(cudaStream_t stream, const StackClass& shape, const StackEntry* entries,
                          const StackRun* runs, const StackFactors<T>& factors, T* c, bool add) {
  if (shape.runs == 0 || shape.m == 0 || shape.n == 0) return;
  const int longer = std::max(shape.m, shape.n);
  const auto run = [&](auto each) {
    launch<DeviceScalar<T>, each>(stream, shape, entries, runs, device_factors(factors), device_cast(c), add);
  };
  if (longer <= side)
    run(std::integral_constant<int, 1>());
  else if (longer <= 2 * side)
    run(std::integral_constant<int, 2>());
  else
    run(std::integral_constant<int, 4>());
}

template <class T>
void launch_stack_kernel(cudaStream_t stream, const StackKernel& kernel, const StackClass& shape,
                         const StackEntry* entries, const StackRun* runs, const StackFactors<T>& factors,
                         T* c, bool add, bool strips) {
  int count = shape.runs;
  if (count == 0) return;
  StackOrder order{strips && shape.rows > 0 ? count / shape.rows : 0, !fills_gpu(kernel.plan, count)};
  const int blocks = order.together ? count : stack_ceil(count, kernel.plan.parts);
  void* arguments[] = {&runs, &count, &entries, const_cast<StackFactors<T>*>(&factors), &c, &add, &order};
  cudaLaunchKernel(kernel.function, dim3(static_cast<unsigned>(blocks)),
                   dim3(static_cast<unsigned>(kernel.plan.threads)), arguments,
                   static_cast<std::size_t>(kernel.plan.shared_bytes), stream);
}

template <class T>
void launch_stack(cudaStream_t stream, StackCompiler& compiler, std::span<const StackClass> classes,
                  const StackEntry* entries, const StackRun* runs, const StackFactors<T>& factors, T* c,
                  bool add, bool strips) {
  for (const StackClass& shape : classes) {
    const StackKernel* const kernel =
        has_own_kernel(shape) ? compiler.kernel({type_letter<T>, shape.m, shape.n, shape.k}) : nullptr;
    if (kernel)
      launch_stack_kernel<T>(stream, *kernel, shape, entries, runs + shape.first_run, factors, c, add,
                             strips);
    else
      launch_generic_stack<T>(stream, shape, entries, runs + shape.first_run, factors, c, add);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void launch_generic_stack<T>(cudaStream_t, const StackClass&, const StackEntry*, const StackRun*, \
                                        const StackFactors<T>&, T*, bool);                                   \
  template void launch_stack_kernel<T>(cudaStream_t, const StackKernel&, const StackClass&,                  \
                                       const StackEntry*, const StackRun*, const StackFactors<T>&, T*, bool, \
                                       bool);                                                                \
  template void launch_stack<T>(cudaStream_t, StackCompiler&, std::span<const StackClass>,                   \
                                const StackEntry*, const StackRun*, const StackFactors<T>&, T*, bool, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace device

namespace {

/// B is more than the second-level cache holds.
template <class T>
bool exceeds_cache(const ReadAll<Array<T>>& factors) {
  std::size_t bytes = 0;
  for (int i = 1; i < factors.size(); i += 2) bytes += factors[i].size_bytes();
  int device = 0, cache = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device);
  return bytes > static_cast<std::size_t>(cache);
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const MultiplyStack<T>& task) {
  const std::span<T> c = *task.c;
  const bool add = !task.c.first() || !task.complete;
  if (task.c.first() && add) cudaMemsetAsync(c.data(), 0, c.size_bytes(), on.stream);
  const StackEntry* const entries = task.stack.view().data();
  const auto* const runs = reinterpret_cast<const StackRun*>(entries + stack_products(task.classes));
  device::launch_stack<T>(on.stream, device::StackCompiler::shared(), task.classes, entries, runs,
                          stack_factors(task.factors), c.data(), add, exceeds_cache(task.factors));
  *task.ran_on = ProductWorker::gpu;
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(MultiplyStack<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
