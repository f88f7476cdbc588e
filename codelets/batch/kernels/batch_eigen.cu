// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_parts.cuh>

namespace tessera::detail::kernels {

namespace {

template <class S>
batch::Work<S> batch_work(void* memory, Index n, Index count, bool vectors) {
  return batch::Work<S>(memory, n, count, vectors, vectors || !batch::reduced_in_shared<S>(n));
}

/// Matrices of a warp in the QL method: one for as long as there are warps enough for every scheduler of the GPU, since
/// lanes wait for each other.
template <class R>
int lanes_for(Index n, Index count) {
  constexpr Index schedulers = 132 * 4, shared_bytes = 64 * 1024;
  const Index fit = std::max<Index>(shared_bytes / (2 * n * static_cast<Index>(sizeof(R))), 1);
  return static_cast<int>(std::clamp<Index>(ceil_div(count, schedulers), 1, std::min<Index>(32, fit)));
}

}  // namespace

template <class T>
std::size_t eigen_batch_bytes(Index n, Index count, bool vectors) noexcept {
  return batch_work<device::DeviceScalar<T>>(nullptr, n, count, vectors).bytes;
}

template <class T>
void launch_eigen_batch(cudaStream_t stream, const EigenBatch<T>& batch, void* work) noexcept {
  using S = device::DeviceScalar<T>;
  using R = RealOf<T>;
  if (batch.count == 0 || batch.n == 0) return;
  const int n = static_cast<int>(batch.n);
  const bool vectors = batch.z != nullptr;
  const auto space = batch_work<S>(work, n, batch.count, vectors);
  S* const z = device::device_cast(batch.z);
  S* const v = vectors ? z : batch::reduced_in_shared<S>(n) ? nullptr : space.x;
  const Index ldv = vectors ? batch.ldz : n, stride_v = vectors ? batch.stride_z : Index(n) * n;
  batch::launch_reduction<S>(stream,
                             {n, batch.uplo == Uplo::upper, device::device_cast(batch.a), batch.lda, batch.stride_a, v,
                              ldv, stride_v, space.tau, space.d, space.e, space.exponent, batch.info, space.progress},
                             batch.count);
  if (vectors) batch::launch_form_q<S>(stream, n, batch.count, v, ldv, stride_v, space.tau, space.x);
  constexpr int parts = is_complex<T> ? 2 : 1;
  for (int round = 1; round <= batch::rounds; ++round) {
    batch::launch_iteration<R>(
        stream,
        {n, lanes_for<R>(n, batch.count), batch.count, space.d, space.e, batch.w, batch.stride_w,
         vectors ? space.rotations : nullptr, space.sweeps, space.place, batch.info, space.exponent, space.progress},
        round);
    if (!vectors) break;
    batch::launch_rotations<R>(
        stream,
        {n, parts * n, batch.count, reinterpret_cast<R*>(space.x), reinterpret_cast<R*>(z), parts * batch.ldz,
         parts * batch.stride_z, space.rotations, space.sweeps, space.place, space.progress},
        round);
  }
}

#define TESSERA_INSTANTIATE(T)                                            \
  template std::size_t eigen_batch_bytes<T>(Index, Index, bool) noexcept; \
  template void launch_eigen_batch<T>(cudaStream_t, const EigenBatch<T>&, void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
