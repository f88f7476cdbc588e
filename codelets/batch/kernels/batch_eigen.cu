// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/batch/kernels/batch_parts.cuh>

namespace tessera::detail::kernels {

namespace {

/// From this order on divide and conquer is faster than the QL method, whose steps follow each other.
template <class T>
constexpr Index divide_from = sizeof(RealOf<T>) == 4 ? 144
                              : is_complex<T>        ? 96
                                                     : 112;

template <class S>
batch::Work<S> batch_work(void* memory, Index n, Index count, bool vectors) {
  return batch::Work<S>(memory, n, count, vectors, vectors || !batch::reduced_in_shared<S>(n));
}

/// The work space with divide and conquer.
template <class T>
struct DivideParts {
  using S = device::DeviceScalar<T>;
  T *v, *tau;
  RealOf<T>*d, *e;
  int* exponent;
  void* stage;  ///< of one stage after the other
  std::size_t bytes;
  DivideParts(void* memory, Index n, Index count, bool vectors) {
    batch::Taker part{static_cast<char*>(memory)};
    v = part.take<T>(vectors || !batch::reduced_in_shared<S>(n) ? n * n * count : 0);
    tau = part.take<T>(n * count);
    d = part.take<RealOf<T>>(n * count);
    e = part.take<RealOf<T>>(n * count);
    exponent = part.take<int>(count);
    stage = part.take<char>(static_cast<Index>(
        std::max({batch::divide_bytes<S>(n, count, vectors), vectors ? batch::back_bytes<T>(n, count) : 0,
                  batch::reduced_by_panels<S>(n) ? batch::panels_bytes<T>(n, count) : 0})));
    bytes = part.at;
  }
};

/// Matrices of a warp in the QL method: one for as long as there are warps enough for every scheduler of the
/// GPU, since lanes wait for each other.
template <class R>
int lanes_for(Index n, Index count) {
  constexpr Index schedulers = 132 * 4, shared_bytes = 64 * 1024;
  const Index fit = std::max<Index>(shared_bytes / (2 * n * static_cast<Index>(sizeof(R))), 1);
  return static_cast<int>(std::clamp<Index>(ceil_div(count, schedulers), 1, std::min<Index>(32, fit)));
}

template <class T>
void launch_by_iteration(cudaStream_t stream, const EigenBatch<T>& batch, void* work) {
  using S = device::DeviceScalar<T>;
  using R = RealOf<T>;
  const int n = static_cast<int>(batch.n);
  const bool vectors = batch.z != nullptr;
  S* const z = device::device_cast(batch.z);
  if (vectors && n <= batch::small_order) {
    const batch::Reduction<S> reduction{.n = n,
                                        .upper = batch.uplo == Uplo::upper,
                                        .a = device::device_cast(batch.a),
                                        .lda = batch.lda,
                                        .stride_a = batch.stride_a,
                                        .info = batch.info};
    return batch::launch_small_eigen<S>(
        stream, {reduction, batch.count, batch.w, batch.stride_w, z, batch.ldz, batch.stride_z});
  }
  const auto space = batch_work<S>(work, n, batch.count, vectors);
  S* const v = vectors ? z : batch::reduced_in_shared<S>(n) ? nullptr : space.x;
  const Index ldv = vectors ? batch.ldz : n, stride_v = vectors ? batch.stride_z : Index(n) * n;
  batch::launch_reduction<S>(
      stream,
      {n, batch.uplo == Uplo::upper, device::device_cast(batch.a), batch.lda, batch.stride_a, v, ldv,
       stride_v, space.tau, space.d, space.e, space.exponent, batch.info, space.progress},
      batch.count);
  if (vectors) batch::launch_form_q<S>(stream, n, batch.count, v, ldv, stride_v, space.tau, space.x);
  constexpr int parts = is_complex<T> ? 2 : 1;
  for (int round = 1; round <= batch::rounds; ++round) {
    batch::launch_iteration<R>(stream,
                               {n, lanes_for<R>(n, batch.count), batch.count, space.d, space.e, batch.w,
                                batch.stride_w, vectors ? space.rotations : nullptr, space.sweeps,
                                space.place, batch.info, space.exponent, space.progress},
                               round);
    if (!vectors) break;
    batch::launch_rotations<R>(
        stream,
        {n, parts * n, batch.count, reinterpret_cast<R*>(space.x), reinterpret_cast<R*>(z), parts * batch.ldz,
         parts * batch.stride_z, space.rotations, space.sweeps, space.place, space.progress},
        round);
  }
}

template <class T>
void launch_by_division(cudaStream_t stream, cublasContext* cublas, const EigenBatch<T>& batch, void* work) {
  using S = device::DeviceScalar<T>;
  const Index n = batch.n;
  const bool vectors = batch.z != nullptr;
  const DivideParts<T> space(work, n, batch.count, vectors);
  S* const v = vectors || !batch::reduced_in_shared<S>(n) ? device::device_cast(space.v) : nullptr;
  const batch::Reduction<S> reduction{static_cast<int>(n),
                                      batch.uplo == Uplo::upper,
                                      device::device_cast(batch.a),
                                      batch.lda,
                                      batch.stride_a,
                                      v,
                                      n,
                                      n * n,
                                      device::device_cast(space.tau),
                                      space.d,
                                      space.e,
                                      space.exponent,
                                      batch.info,
                                      nullptr};
  if (batch::reduced_by_panels<S>(n))
    batch::launch_reduction_by_panels<T>(stream, cublas, reduction, batch.count, space.stage);
  else
    batch::launch_reduction<S>(stream, reduction, batch.count);
  batch::launch_divide<S>(stream,
                          {static_cast<int>(n), batch.count, space.d, space.e, space.exponent, batch.info,
                           batch.w, batch.stride_w, device::device_cast(batch.z), batch.ldz, batch.stride_z},
                          space.stage);
  if (vectors)
    batch::launch_back<T>(stream, cublas, n, batch.count, space.v, n, n * n, space.tau, batch.z, batch.ldz,
                          batch.stride_z, space.stage);
}

}  // namespace

template <class T>
std::size_t eigen_batch_bytes(Index n, Index count, bool vectors) noexcept {
  if (n >= divide_from<T>) return DivideParts<T>(nullptr, n, count, vectors).bytes;
  if (vectors && n <= batch::small_order) return 256;  // nothing is kept between kernels
  return batch_work<device::DeviceScalar<T>>(nullptr, n, count, vectors).bytes;
}

template <class T>
void launch_eigen_batch(cudaStream_t stream, cublasContext* cublas, const EigenBatch<T>& batch,
                        void* work) noexcept {
  if (batch.count == 0 || batch.n == 0) return;
  if (batch.n < divide_from<T>) return launch_by_iteration(stream, batch, work);
  // The merges of a level are numbered in a dimension of the grid that ends at 65535; a tree has less than n
  // / 16 pieces.
  const Index limit = std::max<Index>(65535 * 16 / batch.n, 1);
  for (Index first = 0; first < batch.count; first += limit) {
    EigenBatch<T> part = batch;
    part.count = std::min(limit, batch.count - first);
    part.a += first * batch.stride_a;
    part.w += first * batch.stride_w;
    if (part.z) part.z += first * batch.stride_z;
    part.info += first;
    launch_by_division(stream, cublas, part, work);
  }
}

#define TESSERA_INSTANTIATE(T)                                            \
  template std::size_t eigen_batch_bytes<T>(Index, Index, bool) noexcept; \
  template void launch_eigen_batch<T>(cudaStream_t, cublasContext*, const EigenBatch<T>&, void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
