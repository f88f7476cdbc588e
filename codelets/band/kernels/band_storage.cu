// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/common/device_launch.cuh>

namespace tessera::detail::kernels {
namespace {

constexpr int threads = 256;

// While a segment is filled, its front padding holds the lowest column with a number that is not finite.
using Column = unsigned long long;
constexpr Column none = ~Column(0);

template <class S>
__global__ void gather_kernel(Index n, Index b, Index ld_to, Index first, Index count, const S* from,
                              Index ld, S* to, Column* bad) {
  const Index step = Index(gridDim.x) * blockDim.x;
  for (Index t = Index(blockIdx.x) * blockDim.x + threadIdx.x; t < count * ld_to; t += step) {
    const Index j = t / ld_to, i = t % ld_to;
    S x = S(device::Real<S>(0));
    if (i <= b && first + j + i < n) {
      x = from[i + j * ld];
      if (!device::finite(x)) atomicMin(bad, static_cast<Column>(first + j));
      if (i == 0) x = S(device::real(x));
    }
    to[t] = x;
  }
}

__global__ void end_gather_kernel(unsigned char* front, int bytes, long long* bad) {
  Column* const found = reinterpret_cast<Column*>(front);
  if (threadIdx.x == 0 && *found != none) *bad = static_cast<long long>(*found) + 1;
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < bytes) front[threadIdx.x] = 0;
}

template <class S, class R>
__global__ void tridiagonal_kernel(Index n, Index ld, Index first, Index count, const S* columns, R* d,
                                   R* e) {
  const Index j = Index(blockIdx.x) * blockDim.x + threadIdx.x;
  if (j >= count) return;
  d[j] = device::real(columns[j * ld]);
  e[j] = first + j + 1 < n ? device::real(columns[j * ld + 1]) : R(0);
}

}  // namespace

template <class T>
void launch_begin_gather(cudaStream_t stream, T* segment) noexcept {
  static_assert(BandLayout<T>::front() * sizeof(T) >= sizeof(Column));
  cudaMemsetAsync(segment, 0xff, sizeof(Column), stream);
}

template <class T>
void launch_gather_piece(cudaStream_t stream, Index n, Index bandwidth, Index first, Index count,
                         const T* from, Index ld, T* segment, Index at) noexcept {
  if (count <= 0) return;
  const Index ld_to = BandLayout<T>::leading_dimension(bandwidth);
  gather_kernel<<<device::blocks_for(count * ld_to, threads, 65536), threads, 0, stream>>>(
      n, bandwidth, ld_to, first, count, device::device_cast(from), ld,
      device::device_cast(segment) + BandLayout<T>::front() + at * ld_to, reinterpret_cast<Column*>(segment));
}

template <class T>
void launch_end_gather(cudaStream_t stream, T* segment, long long* bad) noexcept {
  end_gather_kernel<<<1, 64, 0, stream>>>(reinterpret_cast<unsigned char*>(segment),
                                          static_cast<int>(BandLayout<T>::front() * sizeof(T)), bad);
}

template <class T>
void launch_segment_to_tridiagonal(cudaStream_t stream, Index n, Index bandwidth, Index first, Index count,
                                   const T* segment, RealOf<T>* d, RealOf<T>* e) noexcept {
  if (count <= 0) return;
  tridiagonal_kernel<<<device::blocks_for(count, threads), threads, 0, stream>>>(
      n, BandLayout<T>::leading_dimension(bandwidth), first, count,
      device::device_cast(segment) + BandLayout<T>::front(), d, e);
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void launch_begin_gather<T>(cudaStream_t, T*) noexcept;                                    \
  template void launch_gather_piece<T>(cudaStream_t, Index, Index, Index, Index, const T*, Index, T*, \
                                       Index) noexcept;                                               \
  template void launch_end_gather<T>(cudaStream_t, T*, long long*) noexcept;                          \
  template void launch_segment_to_tridiagonal<T>(cudaStream_t, Index, Index, Index, Index, const T*,  \
                                                 RealOf<T>*, RealOf<T>*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
