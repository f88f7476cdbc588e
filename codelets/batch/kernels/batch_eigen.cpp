// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/codelets/batch/kernels/batch_eigen.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail::kernels {

namespace {

/// What heevd needs for a matrix.
template <class T>
struct HostWork {
  Index work_size, rwork_size, iwork_size;
  T *a, *work;
  RealOf<T>* rwork;
  int* iwork;
  std::size_t bytes = 0;
  HostWork(void* memory, Index n, bool vectors) {
    constexpr Index block = 64;
    const Index reduction = (block + 2) * n + 1;
    if constexpr (is_complex<T>) {
      work_size = (vectors ? n * n : 0) + reduction;
      rwork_size = vectors ? 1 + 5 * n + 2 * n * n : n;
    } else {
      work_size = (vectors ? 1 + 6 * n + 2 * n * n : 0) + reduction;
      rwork_size = 0;
    }
    iwork_size = vectors ? 3 + 5 * n : 1;
    const auto take = [&]<class X>(X*& part, Index elements) {
      part = reinterpret_cast<X*>(static_cast<char*>(memory) + bytes);
      bytes += (static_cast<std::size_t>(elements) * sizeof(X) + 63) / 64 * 64;
    };
    take(a, vectors ? 0 : n * n);
    take(work, work_size);
    take(rwork, rwork_size);
    take(iwork, iwork_size);
  }
};

/// The first column, from 1, of a triangle with NaN or infinity; 0: none.
template <class T>
int first_bad_column(Uplo uplo, Index n, const T* a, Index lda) noexcept {
  for (Index j = 0; j < n; ++j) {
    const Index begin = uplo == Uplo::upper ? 0 : j, end = uplo == Uplo::upper ? j + 1 : n;
    for (Index i = begin; i < end; ++i) {
      const T x = a[i + j * lda];
      // LAPACK does not read the imaginary part of the diagonal either.
      if (!std::isfinite(real_part(x)) || (i != j && !std::isfinite(imag_part(x))))
        return static_cast<int>(j + 1);
    }
  }
  return 0;
}

}  // namespace

template <class T>
std::size_t eigen_batch_host_bytes(Index n, bool vectors) noexcept {
  return HostWork<T>(nullptr, n, vectors).bytes;
}

template <class T>
void eigen_batch_on_host(const EigenBatch<T>& batch, void* memory) noexcept {
  const Index n = batch.n;
  const bool vectors = batch.z != nullptr;
  const HostWork<T> space(memory, n, vectors);
  const Uplo uplo = batch.uplo == Uplo::upper ? Uplo::upper : Uplo::lower;
  for (Index k = 0; k < batch.count && n > 0; ++k) {
    const T* const a = batch.a + k * batch.stride_a;
    T* const z = vectors ? batch.z + k * batch.stride_z : space.a;
    RealOf<T>* const w = batch.w + k * batch.stride_w;
    const Index ldz = vectors ? batch.ldz : n;
    int info = -first_bad_column(uplo, n, a, batch.lda);
    if (info == 0) {
      if (z != a) blas::lacpy(uplo, n, n, a, batch.lda, z, ldz);
      info = blas::heevd(vectors ? 'V' : 'N', uplo, n, z, ldz, w, space.work, space.work_size, space.rwork,
                         space.rwork_size, space.iwork, space.iwork_size);
      // heevd's info beyond n names a block in which the divide and conquer has failed.
      if (info > 0) info = static_cast<int>(std::min<Index>(info, n));
    }
    if (info != 0) std::fill_n(w, n, std::numeric_limits<RealOf<T>>::quiet_NaN());
    batch.info[k] = info;
  }
}

#define TESSERA_INSTANTIATE(T)                                          \
  template std::size_t eigen_batch_host_bytes<T>(Index, bool) noexcept; \
  template void eigen_batch_on_host<T>(const EigenBatch<T>&, void*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::kernels
