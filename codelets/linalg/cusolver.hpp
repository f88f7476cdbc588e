// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#if TESSERA_WITH_CUDA

#include <cusolverDn.h>

#include <tessera/codelets/linalg/cublas.hpp>

/// cuSOLVER for the four scalar types, with the conventions of blas.hpp (`he*` and `un*` names also stand for
/// the real routines), lower triangles. Matrices, values, tau and info are device memory. The routines run on
/// the handle's stream, and cuSOLVER may wait for it inside. Work sizes are in elements unless a name says
/// bytes; a size query reads no memory.
namespace tessera::detail::cusolver {

template <class T>
inline constexpr cudaDataType data_type = is_complex<T> ? (sizeof(RealOf<T>) == 4 ? CUDA_C_32F : CUDA_C_64F)
                                                        : (sizeof(RealOf<T>) == 4 ? CUDA_R_32F : CUDA_R_64F);

/// A handle for code that runs on no worker.
class Handle {
 public:
  Handle() noexcept { status_ = cusolverDnCreate(&handle_); }
  ~Handle() { cusolverDnDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cusolverDnHandle_t() const noexcept { return handle_; }
  cusolverStatus_t status() const noexcept { return status_; }

 private:
  cusolverDnHandle_t handle_ = nullptr;
  cusolverStatus_t status_;
};

/// This thread's handle for size queries. It is kept, because making one takes long, and never destroyed,
/// because CUDA may have ended before the thread.
inline cusolverDnHandle_t query_handle() noexcept {
  thread_local const Handle* const handle = new Handle;
  return *handle;
}

class Parameters {
 public:
  Parameters() noexcept { cusolverDnCreateParams(&params_); }
  ~Parameters() { cusolverDnDestroyParams(params_); }
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;
  operator cusolverDnParams_t() const noexcept { return params_; }

 private:
  cusolverDnParams_t params_ = nullptr;
};

/// Which eigenpairs: all, the numbers [lo, hi) from 0, or those with values in (low, high].
struct Range {
  cusolverEigRange_t kind = CUSOLVER_EIG_RANGE_ALL;
  Index lo = 0, hi = 0;
  double low = 0, high = 0;
  bool all() const noexcept { return kind == CUSOLVER_EIG_RANGE_ALL; }
  static Range numbers(Index lo, Index hi) noexcept { return {CUSOLVER_EIG_RANGE_I, lo, hi, 0, 0}; }
  static Range values(double low, double high) noexcept { return {CUSOLVER_EIG_RANGE_V, 0, 0, low, high}; }
};

inline cusolverEigMode_t mode(bool vectors) noexcept {
  return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}

/// Bytes on device and host that heevd needs.
template <class T>
cusolverStatus_t heevd_bytes(cusolverDnHandle_t handle, bool vectors, Range range, Index n,
                             std::size_t* device, std::size_t* host) noexcept {
  const Parameters params;
  const cudaDataType type = data_type<T>, real = data_type<RealOf<T>>;
  if (range.all())
    return cusolverDnXsyevd_bufferSize(handle, params, mode(vectors), CUBLAS_FILL_MODE_LOWER, n, type,
                                       nullptr, n, real, nullptr, type, device, host);
  RealOf<T> low(range.low), high(range.high);
  std::int64_t found = 0;
  return cusolverDnXsyevdx_bufferSize(handle, params, mode(vectors), range.kind, CUBLAS_FILL_MODE_LOWER, n,
                                      type, nullptr, n, &low, &high, range.lo + 1, range.hi, &found, real,
                                      nullptr, type, device, host);
}

/// Eigenvalues (room for n), and with `vectors` the eigenvectors in the first columns of A: Xsyevd, and
/// Xsyevdx if not all are wanted. *found (host): their number.
template <class T>
cusolverStatus_t heevd(cusolverDnHandle_t handle, bool vectors, Range range, Index n, T* a, Index lda,
                       RealOf<T>* values, void* device, std::size_t device_bytes, void* host,
                       std::size_t host_bytes, std::int64_t* found, int* info) noexcept {
  const Parameters params;
  const cudaDataType type = data_type<T>, real = data_type<RealOf<T>>;
  *found = n;
  if (range.all())
    return cusolverDnXsyevd(handle, params, mode(vectors), CUBLAS_FILL_MODE_LOWER, n, type, a, lda, real,
                            values, type, device, device_bytes, host, host_bytes, info);
  RealOf<T> low(range.low), high(range.high);
  return cusolverDnXsyevdx(handle, params, mode(vectors), range.kind, CUBLAS_FILL_MODE_LOWER, n, type, a, lda,
                           &low, &high, range.lo + 1, range.hi, found, real, values, type, device,
                           device_bytes, host, host_bytes, info);
}

/// Bytes on device and host that potrf needs.
template <class T>
cusolverStatus_t potrf_bytes(cusolverDnHandle_t handle, Index n, std::size_t* device,
                             std::size_t* host) noexcept {
  const Parameters params;
  return cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_LOWER, n, data_type<T>, nullptr, n,
                                     data_type<T>, device, host);
}
template <class T>
cusolverStatus_t potrf(cusolverDnHandle_t handle, Index n, T* a, Index lda, void* device,
                       std::size_t device_bytes, void* host, std::size_t host_bytes, int* info) noexcept {
  const Parameters params;
  return cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_LOWER, n, data_type<T>, a, lda, data_type<T>,
                          device, device_bytes, host, host_bytes, info);
}

/// Calls that one of four routines which belongs to T.
#define TESSERA_CUSOLVER(s, d, c, z, ...)                    \
  if constexpr (std::is_same_v<T, float>)                    \
    return cusolverDn##s(__VA_ARGS__);                       \
  else if constexpr (std::is_same_v<T, double>)              \
    return cusolverDn##d(__VA_ARGS__);                       \
  else if constexpr (std::is_same_v<T, std::complex<float>>) \
    return cusolverDn##c(__VA_ARGS__);                       \
  else                                                       \
    return cusolverDn##z(__VA_ARGS__)

// The routines below count sizes in 32 bits, as cuSOLVER does.

template <class T>
cusolverStatus_t hegvd_size(cusolverDnHandle_t handle, bool vectors, int n, int* lwork) noexcept {
  const cublas::CudaTypeOf<T>* const none = nullptr;
  TESSERA_CUSOLVER(Ssygvd_bufferSize, Dsygvd_bufferSize, Chegvd_bufferSize, Zhegvd_bufferSize, handle,
                   CUSOLVER_EIG_TYPE_1, mode(vectors), CUBLAS_FILL_MODE_LOWER, n, none, n, none, n, nullptr,
                   lwork);
}
/// All pairs of A x = lambda B x; B becomes its Cholesky factor. info > n: order info - n of B fails.
template <class T>
cusolverStatus_t hegvd(cusolverDnHandle_t handle, bool vectors, int n, T* a, int lda, T* b, int ldb,
                       RealOf<T>* values, T* work, int lwork, int* info) noexcept {
  TESSERA_CUSOLVER(Ssygvd, Dsygvd, Chegvd, Zhegvd, handle, CUSOLVER_EIG_TYPE_1, mode(vectors),
                   CUBLAS_FILL_MODE_LOWER, n, cublas::cast(a), lda, cublas::cast(b), ldb, values,
                   cublas::cast(work), lwork, info);
}
template <class T>
cusolverStatus_t hegvdx_size(cusolverDnHandle_t handle, bool vectors, Range range, int n,
                             int* lwork) noexcept {
  const cublas::CudaTypeOf<T>* const none = nullptr;
  int found = 0;
  const RealOf<T> low(range.low), high(range.high);
  TESSERA_CUSOLVER(Ssygvdx_bufferSize, Dsygvdx_bufferSize, Chegvdx_bufferSize, Zhegvdx_bufferSize, handle,
                   CUSOLVER_EIG_TYPE_1, mode(vectors), range.kind, CUBLAS_FILL_MODE_LOWER, n, none, n, none,
                   n, low, high, static_cast<int>(range.lo + 1), static_cast<int>(range.hi), &found, nullptr,
                   lwork);
}
template <class T>
cusolverStatus_t hegvdx(cusolverDnHandle_t handle, bool vectors, Range range, int n, T* a, int lda, T* b,
                        int ldb, int* found, RealOf<T>* values, T* work, int lwork, int* info) noexcept {
  const RealOf<T> low(range.low), high(range.high);
  TESSERA_CUSOLVER(Ssygvdx, Dsygvdx, Chegvdx, Zhegvdx, handle, CUSOLVER_EIG_TYPE_1, mode(vectors), range.kind,
                   CUBLAS_FILL_MODE_LOWER, n, cublas::cast(a), lda, cublas::cast(b), ldb, low, high,
                   static_cast<int>(range.lo + 1), static_cast<int>(range.hi), found, values,
                   cublas::cast(work), lwork, info);
}

template <class T>
cusolverStatus_t hetrd_size(cusolverDnHandle_t handle, int n, int* lwork) noexcept {
  const cublas::CudaTypeOf<T>* const none = nullptr;
  TESSERA_CUSOLVER(Ssytrd_bufferSize, Dsytrd_bufferSize, Chetrd_bufferSize, Zhetrd_bufferSize, handle,
                   CUBLAS_FILL_MODE_LOWER, n, none, n, nullptr, nullptr, none, lwork);
}
/// A = Q T Q^H: d, e real; the reflectors of Q below the first subdiagonal and in tau.
template <class T>
cusolverStatus_t hetrd(cusolverDnHandle_t handle, int n, T* a, int lda, RealOf<T>* d, RealOf<T>* e, T* tau,
                       T* work, int lwork, int* info) noexcept {
  TESSERA_CUSOLVER(Ssytrd, Dsytrd, Chetrd, Zhetrd, handle, CUBLAS_FILL_MODE_LOWER, n, cublas::cast(a), lda, d,
                   e, cublas::cast(tau), cublas::cast(work), lwork, info);
}

template <class T>
cusolverStatus_t unmtr_size(cusolverDnHandle_t handle, int n, int columns, int* lwork) noexcept {
  const cublas::CudaTypeOf<T>* const none = nullptr;
  TESSERA_CUSOLVER(Sormtr_bufferSize, Dormtr_bufferSize, Cunmtr_bufferSize, Zunmtr_bufferSize, handle,
                   CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, columns, none, n, none, none, n,
                   lwork);
}
/// C := Q C with hetrd's Q (n x n), C of `columns` columns. cuSOLVER's declaration lets A change, but A
/// stays.
template <class T>
cusolverStatus_t unmtr(cusolverDnHandle_t handle, int n, int columns, const T* a, int lda, const T* tau, T* c,
                       int ldc, T* work, int lwork, int* info) noexcept {
  TESSERA_CUSOLVER(Sormtr, Dormtr, Cunmtr, Zunmtr, handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                   CUBLAS_OP_N, n, columns, cublas::cast(const_cast<T*>(a)), lda,
                   cublas::cast(const_cast<T*>(tau)), cublas::cast(c), ldc, cublas::cast(work), lwork, info);
}

#undef TESSERA_CUSOLVER

}  // namespace tessera::detail::cusolver

#endif  // TESSERA_WITH_CUDA
