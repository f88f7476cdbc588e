// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/kernels/blas3_cuda.hpp>
#include <tessera/codelets/dense/kernels/hermitian_cuda.hpp>
#include <tessera/codelets/linalg/cusolver.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {
namespace {

using namespace device;
using cublas::stream_of;

/// Up to this order cuBLAS' triangular products are faster than general ones on blocks.
constexpr Index small_update = 8192;
constexpr int threads = 256;
/// potrf's work space begins with cuSOLVER's info.
constexpr std::size_t info_bytes = 256;

/// Of a pivot that is not positive cuSOLVER's `info` tells. Of a NaN it promises nothing: then the factor's
/// diagonal does.
template <class S>
__global__ void __launch_bounds__(threads)
    first_bad_pivot_kernel(long long n, const S* l, Index ldl, const int* info, long long* failure) {
  __shared__ unsigned long long first;
  if (threadIdx.x == 0) first = *info > 0 ? *info : n + 1;
  __syncthreads();
  for (long long j = threadIdx.x; j < n; j += threads) {
    const auto pivot = real(l[j + j * ldl]);
    if (!(pivot > 0) || !isfinite(pivot)) {
      atomicMin(&first, static_cast<unsigned long long>(j + 1));
      break;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && first <= n && *failure == 0) *failure = static_cast<long long>(first);
}

/// The first half, a multiple of the smallest block.
Index half(Index n, Index base) noexcept {
  return ceil_div(ceil_div(n, base), 2) * base;
}

/// C := C - 1/2 L A with the n x n matrix A, both of whose triangles are there.
template <class T>
void subtract_half_product(cublasHandle_t handle, Index m, Index n, const T* l, Index ldl, const T* a, T* c,
                           Index lda) noexcept {
  cublas::gemm<T>(handle, Op::none, Op::none, m, n, n, T(-0.5), l, ldl, a, lda, T(1), c, lda);
}

template <class T>
void hegst(cublasHandle_t handle, Index n, T* a, Index lda, const T* l, Index ldl, Index base) noexcept {
  const auto solve = [&](Side side, Index rows, Index cols, const T* factor, T* b) {
    cublas::trsm<T>(handle, side, Uplo::lower, side == Side::left ? Op::none : Op::adjoint, Diag::non_unit,
                    rows, cols, T(1), factor, ldl, b, lda);
  };
  if (n <= base) {  // twice the flops, but in two calls
    launch_mirror_lower<T>(stream_of(handle), n, a, lda);
    solve(Side::left, n, n, l, a);
    solve(Side::right, n, n, l, a);
    return;
  }
  const Index n1 = half(n, base), n2 = n - n1;
  T *a21 = a + n1, *a22 = a21 + n1 * lda;
  const T *l21 = l + n1, *l22 = l21 + n1 * ldl;
  hegst<T>(handle, n1, a, lda, l, ldl, base);
  launch_mirror_lower<T>(stream_of(handle), n1, a, lda);
  solve(Side::right, n2, n1, l, a21);
  subtract_half_product<T>(handle, n2, n1, l21, ldl, a, a21, lda);
  launch_her2k_subtract<T>(handle, {l21, n2, n1, ldl}, {a21, n2, n1, lda}, {a22, n2, n2, lda});
  subtract_half_product<T>(handle, n2, n1, l21, ldl, a, a21, lda);
  solve(Side::left, n2, n1, l22, a21);
  hegst<T>(handle, n2, a22, lda, l22, ldl, base);
}

}  // namespace

template <class T>
void launch_herk_subtract(cublasHandle_t handle, MatrixView<const T> a, MatrixView<T> c) noexcept {
  if (c.rows <= small_update)
    cublas::herk<T>(handle, Uplo::lower, Op::none, c.rows, a.cols, -1, a.data, a.ld, 1, c.data, c.ld);
  else
    subtract_lower_product<T>(handle, c.rows, a.cols, a.data, a.ld, a.data, a.ld, c.data, c.ld);
}

template <class T>
void launch_her2k_subtract(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> b,
                           MatrixView<T> c) noexcept {
  if (c.rows <= small_update) {
    cublas::her2k<T>(handle, Uplo::lower, Op::none, c.rows, a.cols, T(-1), a.data, a.ld, b.data, b.ld, 1,
                     c.data, c.ld);
    return;
  }
  subtract_lower_product<T>(handle, c.rows, a.cols, a.data, a.ld, b.data, b.ld, c.data, c.ld);
  subtract_lower_product<T>(handle, c.rows, a.cols, b.data, b.ld, a.data, a.ld, c.data, c.ld);
}

template <class T>
std::size_t potrf_bytes(Index n) {
  std::size_t device = 0, host = 0;
  cusolver::potrf_bytes<T>(cusolver::query_handle(), n, &device, &host);
  return info_bytes + device;
}

template <class T>
bool launch_potrf(cusolverDnHandle_t handle, cudaStream_t stream, MatrixView<T> a, char* work,
                  std::size_t bytes, long long* failure) {
  if (a.rows == 0) return true;
  auto* const info = reinterpret_cast<int*>(work);
  std::size_t device = 0, host = 0;
  cusolver::potrf_bytes<T>(handle, a.rows, &device, &host);
  std::vector<char> host_work(host);
  if (cusolver::potrf<T>(handle, a.rows, a.data, a.ld, work + info_bytes, bytes - info_bytes,
                         host_work.data(), host, info) != CUSOLVER_STATUS_SUCCESS)
    return false;
  if (host > 0) cudaStreamSynchronize(stream);  // cuSOLVER 12 wants none
  first_bad_pivot_kernel<<<1, threads, 0, stream>>>(a.rows, device_cast(a.data), a.ld, info, failure);
  return true;
}

template <class T>
void launch_hegst(cublasHandle_t handle, MatrixView<T> a, MatrixView<const T> l, Index base) noexcept {
  if (a.rows > 0) hegst<T>(handle, a.rows, a.data, a.ld, l.data, l.ld, base);
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void launch_herk_subtract<T>(cublasHandle_t, MatrixView<const T>, MatrixView<T>) noexcept; \
  template void launch_her2k_subtract<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>,    \
                                         MatrixView<T>) noexcept;                                     \
  template std::size_t potrf_bytes<T>(Index);                                                         \
  template bool launch_potrf<T>(cusolverDnHandle_t, cudaStream_t, MatrixView<T>, char*, std::size_t,  \
                                long long*);                                                          \
  template void launch_hegst<T>(cublasHandle_t, MatrixView<T>, MatrixView<const T>, Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

template <class T>
void run(const DeviceContext& on, const HerkSubtract<T>& task) {
  launch_herk_subtract<T>(on.cublas, *task.a, *task.c);
}

template <class T>
void run(const DeviceContext& on, const Her2kSubtract<T>& task) {
  launch_her2k_subtract<T>(on.cublas, *task.a, *task.b, *task.c);
}

template <class T>
void run(const DeviceContext& on, const GemmPairSubtract<T>& task) {
  const auto c = *task.c;
  const auto subtract = [&](MatrixView<const T> a, MatrixView<const T> b) {
    cublas::gemm<T>(on.cublas, Op::none, Op::adjoint, c.rows, c.cols, a.cols, T(-1), a.data, a.ld, b.data,
                    b.ld, T(1), c.data, c.ld);
  };
  subtract(*task.a1, *task.b1);
  subtract(*task.a2, *task.b2);
}

template <class T>
void run(const DeviceContext& on, const HemmRight<T>& task) {
  const auto a = *task.a, b = *task.b;
  const auto c = *task.c;
  cublas::hemm<T>(on.cublas, Side::right, Uplo::lower, c.rows, c.cols, task.alpha, a.data, a.ld, b.data, b.ld,
                  T(1), c.data, c.ld);
}

template <class T>
void run(const DeviceContext& on, const Trsm<T>& task) {
  const auto l = *task.l;
  const auto b = *task.b;
  cublas::trsm<T>(on.cublas, task.side, Uplo::lower, task.op, Diag::non_unit, b.rows, b.cols, T(1), l.data,
                  l.ld, b.data, b.ld);
}

template <class T>
void run(const DeviceContext& on, const Potrf<T>& task) {
  DeviceFailure failure(on, StatusCode::not_positive_definite);
  const auto work = *task.work;
  if (!launch_potrf<T>(on.cusolver, on.stream, *task.a, work.data(), work.size(), failure.index()))
    on.fail(StatusCode::no_convergence, task.first_row + 1);
  failure.report(task.first_row);
}

template <class T>
void run(const DeviceContext& on, const Hegst<T>& task) {
  launch_hegst<T>(on.cublas, *task.a, *task.l);
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_ON_GPU(HerkSubtract<T>)     \
  TESSERA_DEFINE_ON_GPU(Her2kSubtract<T>)    \
  TESSERA_DEFINE_ON_GPU(GemmPairSubtract<T>) \
  TESSERA_DEFINE_ON_GPU(HemmRight<T>)        \
  TESSERA_DEFINE_ON_GPU(Trsm<T>)             \
  TESSERA_DEFINE_ON_GPU(Potrf<T>)            \
  TESSERA_DEFINE_ON_GPU(Hegst<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
