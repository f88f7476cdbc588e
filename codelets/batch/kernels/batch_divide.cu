// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda/std/limits>

#include <tessera/codelets/batch/kernels/batch_parts.cuh>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>

namespace tessera::detail::kernels::batch {

namespace {

template <class R>
__global__ void widen_kernel(Index elements, const R* d, const R* e, double* wide_d, double* wide_e,
                             Index count, long long* failure) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) failure[i] = 0;
  if (i >= elements) return;
  wide_d[i] = d[i];
  wide_e[i] = e[i];
}

/// Rounds values and vectors, which lie in ascending order, to the types of the output. One block of threads for some
/// columns of a matrix.
template <class S>
__global__ void __launch_bounds__(256) store_kernel(DivideAndConquer<S> to, const double* spectra,
                                                    const double* vectors, const long long* failure) {
  using R = Real<S>;
  const Index matrix = blockIdx.x;
  const int n = to.n;
  const bool good = to.info[matrix] == 0 && failure[matrix] == 0;
  if (blockIdx.y == 0) {
    const int exponent = to.exponent[matrix];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      to.w[matrix * to.stride_w + i] = good ? static_cast<R>(ldexp(spectra[3 * matrix * n + i], exponent))
                                            : cuda::std::numeric_limits<R>::quiet_NaN();
  }
  if (!to.z) return;
  for (int j = blockIdx.y; j < n; j += gridDim.y)
    for (int i = threadIdx.x; i < n; i += blockDim.x)
      to.z[matrix * to.stride_z + j * to.ldz + i] = S(static_cast<R>(vectors[(matrix * n + j) * n + i]));
}

__global__ void report_kernel(Index count, int n, const long long* failure, int* info) {
  const Index i = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count && failure[i] != 0 && info[i] == 0) info[i] = n;
}

struct DivideWork {
  double *d, *e;
  long long* failure;
  char* forest;
  std::size_t bytes;
  DivideWork(void* memory, Index n, Index count, bool vectors) {
    Taker part{static_cast<char*>(memory)};
    d = part.take<double>(n * count);
    e = part.take<double>(n * count);
    failure = part.take<long long>(count);
    forest = part.take<char>(
        static_cast<Index>(divide_and_conquer::forest_scratch_bytes({n * count, n, n}, vectors)) +
        (vectors ? 0 : 3 * n * count * static_cast<Index>(sizeof(double))));
    bytes = part.at;
  }
};

}  // namespace

template <class S>
std::size_t divide_bytes(Index n, Index count, bool vectors) {
  return DivideWork(nullptr, n, count, vectors).bytes;
}

template <class S>
void launch_divide(cudaStream_t stream, const DivideAndConquer<S>& problem, void* memory) {
  const Index n = problem.n, count = problem.count, elements = n * count;
  const DivideWork work(memory, n, count, problem.z != nullptr);
  widen_kernel<<<blocks_for(elements, 256), 256, 0, stream>>>(elements, problem.d, problem.e, work.d, work.e,
                                                              count, work.failure);
  const LeafForest leaves{.forest = {elements, n, n},
                          .d = work.d,
                          .e = work.e,
                          .epsilon = static_cast<double>(precision<Real<S>>),
                          .failure = work.failure,
                          .failure_stride = 1};
  LeafResults found{};
  if (problem.z) {
    found = launch_leaf_vectors(stream, leaves, work.forest);
  } else {
    double* const spectra = reinterpret_cast<double*>(work.forest);
    launch_leaf_values(stream, leaves, false, spectra, spectra + 3 * elements);
    found.spectra = spectra;
  }
  const dim3 grid(static_cast<unsigned>(count),
                  problem.z ? static_cast<unsigned>(std::min<Index>(n, 64)) : 1u);
  store_kernel<<<grid, 256, 0, stream>>>(problem, found.spectra, found.vectors, work.failure);
  report_kernel<<<blocks_for(count, 256), 256, 0, stream>>>(count, problem.n, work.failure, problem.info);
}

#define TESSERA_INSTANTIATE(T)                                            \
  template std::size_t divide_bytes<DeviceScalar<T>>(Index, Index, bool); \
  template void launch_divide(cudaStream_t, const DivideAndConquer<DeviceScalar<T>>&, void*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels::batch
