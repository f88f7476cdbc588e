// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/vectors/krylov.hpp>
#include <tessera/codelets/block_sparse/vectors/pointer_list.cuh>
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

constexpr int threads = 256;
using Pair = Complex<double>;

template <class S>
__device__ Pair wide(S x) {
  return {double(device::real(x)), double(device::imag(x))};
}

template <class S>
__device__ S narrow(Pair x) {
  if constexpr (is_complex_scalar<S>)
    return S(Real<S>(x.re), Real<S>(x.im));
  else
    return S(x.re);
}

/// The sum of the block's threads, in thread 0, in a fixed order.
__device__ inline Pair block_sum(Pair x) {
  __shared__ double re[threads / 32], im[threads / 32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) re[threadIdx.x / 32] = x.re, im[threadIdx.x / 32] = x.im;
  __syncthreads();
  Pair sum(0.0);
  if (threadIdx.x == 0)
    for (int w = 0; w < threads / 32; ++w) sum += Pair(re[w], im[w]);
  return sum;
}

template <class S>
__global__ void __launch_bounds__(threads)
    random_kernel(Index run_count, const RowRun* __restrict__ runs, std::uint64_t seed, S* w) {
  for (Index r = blockIdx.x; r < run_count; r += gridDim.x) {
    const RowRun run = runs[r];
    for (Index i = Index(blockIdx.y) * threads + threadIdx.x; i < run.count;
         i += Index(gridDim.y) * threads) {
      const std::uint64_t number = 2 * static_cast<std::uint64_t>(run.first + i);
      w[run.row + i] = narrow<S>(
          {normal_number(seed, number), is_complex_scalar<S> ? normal_number(seed, number + 1) : 0.0});
    }
  }
}

/// One block for each v.
template <class S>
__global__ void __launch_bounds__(threads)
    project_kernel(Pointers<const S> v, Index count, const S* __restrict__ w, double* h) {
  const S* const __restrict__ vector = v.pointer[blockIdx.x];
  Pair sum(0.0);
  for (Index i = threadIdx.x; i < count; i += threads) sum += device::conj(wide(vector[i])) * wide(w[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) h[2 * blockIdx.x] = sum.re, h[2 * blockIdx.x + 1] = sum.im;
}

template <class S>
__global__ void __launch_bounds__(threads)
    subtract_kernel(Pointers<const S> v, const double* __restrict__ h, Index count, S* w) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads) {
    S x = w[i];
    for (int k = 0; k < v.count; ++k) x -= narrow<S>(Pair(h[2 * k], h[2 * k + 1])) * v.pointer[k][i];
    w[i] = x;
  }
}

template <class S>
__global__ void __launch_bounds__(threads)
    square_kernel(Index count, const S* __restrict__ w, double* square) {
  Pair sum(0.0);
  for (Index i = threadIdx.x; i < count; i += threads) sum += Pair(norm(wide(w[i])));
  sum = block_sum(sum);
  if (threadIdx.x == 0) *square = sum.re;
}

/// sum := parts (+ sum).
__global__ void __launch_bounds__(threads)
    add_numbers_kernel(Pointers<const double> parts, bool overwrite, Index count, double* sum) {
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads) {
    double total = overwrite ? 0.0 : sum[i];
    for (int p = 0; p < parts.count; ++p) total += parts.pointer[p][i];
    sum[i] = total;
  }
}

template <class S>
__global__ void __launch_bounds__(threads)
    normalise_kernel(Index count, const S* __restrict__ w, const double* __restrict__ square, double least,
                     S* v) {
  const double norm = sqrt(*square);
  const auto factor = static_cast<Real<S>>(1 / norm);
  for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < count; i += Index(gridDim.x) * threads)
    v[i] = norm > least ? factor * w[i] : S(0);
}

/// launch(pointers, number of the first) for all arrays, as many at a time as a kernel takes; once without any.
template <class S, class T, class Launch>
void for_pointers(const ReadAll<Array<T>>& arrays, const Launch& launch) {
  int next = 0;
  do {
    Pointers<const S> pointers;
    const int first = next;
    for (; next < arrays.size() && pointers.count < max_pointers; ++next)
      pointers.add(device_cast(arrays[next].data()));
    launch(pointers, first);
  } while (next < arrays.size());
}

unsigned blocks_of(Index count) {
  return blocks_for(count, threads, full_grid);
}

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const RandomSegment<T>& task) {
  using namespace device;
  const auto runs = *task.runs;
  const auto w = *task.w;
  const unsigned x = blocks_for(static_cast<Index>(runs.size()), 1, full_grid);
  random_kernel<<<dim3(x, blocks_for(full_grid, x, 64)), threads, 0, on.stream>>>(
      static_cast<Index>(runs.size()), runs.data(), task.seed, device_cast(w.data()));
  square_kernel<DeviceScalar<T>><<<1, threads, 0, on.stream>>>(
      static_cast<Index>(w.size()), device_cast(w.data()), task.square.view().data());
}

template <class T>
void run(const DeviceContext& on, const ProjectSegment<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const auto w = *task.w;
  double* const h = task.h.view().data();
  for_pointers<S>(task.v, [&](const Pointers<const S>& v, int first) {
    if (v.count > 0)
      project_kernel<S><<<static_cast<unsigned>(v.count), threads, 0, on.stream>>>(
          v, static_cast<Index>(w.size()), device_cast(w.data()), h + 2 * first);
  });
}

template <class T>
void run(const DeviceContext& on, const SubtractSegment<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const auto w = *task.w;
  const auto count = static_cast<Index>(w.size());
  const double* const h = task.h.view().data();
  for_pointers<S>(task.v, [&](const Pointers<const S>& v, int first) {
    subtract_kernel<S>
        <<<blocks_of(count), threads, 0, on.stream>>>(v, h + 2 * first, count, device_cast(w.data()));
  });
  if (task.square)
    square_kernel<S><<<1, threads, 0, on.stream>>>(count, device_cast(w.data()), task.square.view().data());
}

void run(const DeviceContext& on, const AddNumbers& task) {
  using namespace device;
  const auto sum = *task.sum;
  const auto count = static_cast<Index>(sum.size());
  for_pointers<double>(task.parts, [&](const Pointers<const double>& parts, int first) {
    add_numbers_kernel<<<blocks_of(count), threads, 0, on.stream>>>(parts, first == 0, count, sum.data());
  });
}

template <class T>
void run(const DeviceContext& on, const NormaliseSegment<T>& task) {
  using namespace device;
  using S = DeviceScalar<T>;
  const auto w = *task.w;
  const auto count = static_cast<Index>(w.size());
  normalise_kernel<S><<<blocks_of(count), threads, 0, on.stream>>>(
      count, device_cast(w.data()), task.square.view().data(), task.least, device_cast(task.v.view().data()));
}

#define TESSERA_DEFINE(T)                   \
  TESSERA_DEFINE_ON_GPU(RandomSegment<T>)   \
  TESSERA_DEFINE_ON_GPU(ProjectSegment<T>)  \
  TESSERA_DEFINE_ON_GPU(SubtractSegment<T>) \
  TESSERA_DEFINE_ON_GPU(NormaliseSegment<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
TESSERA_DEFINE_ON_GPU(AddNumbers)

}  // namespace tessera::detail
