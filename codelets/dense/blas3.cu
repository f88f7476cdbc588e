// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/dense/blas3.hpp>
#include <tessera/codelets/dense/blas3.inl>
#include <tessera/codelets/linalg/cusolver.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>

namespace tessera::detail {

namespace {

using namespace device;

/// Up to this order cuBLAS' triangular products are faster than general products on blocks.
constexpr Index small_update = 8192;
constexpr int threads = 256;
/// potrf's work space begins with cuSOLVER's info.
constexpr std::size_t info_bytes = 256;

/// cuSOLVER's `info` names a pivot that is not positive, but promises nothing for a NaN: the kernel finds
/// that one on the factor's diagonal.
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

}  // namespace

template <class T>
void launch_herk_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<T> c) noexcept {
  if (c.rows <= small_update)
    la::herk(on, Uplo::lower, Op::none, -1, a, 1, c);
  else
    subtract_lower_product<T>(on, a, a, c);
}

template <class T>
void launch_her2k_subtract(const CudaContext& on, MatrixView<const T> a, MatrixView<const T> b,
                           MatrixView<T> c) noexcept {
  if (c.rows <= small_update) {
    la::her2k(on, Uplo::lower, Op::none, -1, a, b, 1, c);
    return;
  }
  subtract_lower_product<T>(on, a, b, c);
  subtract_lower_product<T>(on, b, a, c);
}

template <class T>
std::size_t potrf_bytes(Index n) {
  std::size_t device = 0, host = 0;
  cusolver::potrf_bytes<T>(cusolver::query_handle(), n, &device, &host);
  return info_bytes + device;
}

template <class T>
bool launch_potrf(const CudaContext& on, MatrixView<T> a, std::span<char> work, long long* failure) {
  if (a.rows == 0) return true;
  auto* const info = reinterpret_cast<int*>(work.data());
  std::size_t device = 0, host = 0;
  cusolver::potrf_bytes<T>(on.cusolver, a.rows, &device, &host);
  std::vector<char> host_work(host);
  if (cusolver::potrf<T>(on.cusolver, a.rows, a.data, a.ld, work.data() + info_bytes,
                         work.size() - info_bytes, host_work.data(), host, info) != CUSOLVER_STATUS_SUCCESS)
    return false;
  if (host > 0) cudaStreamSynchronize(on.stream);  // cuSOLVER 12 needs no host memory
  first_bad_pivot_kernel<<<1, threads, 0, on.stream>>>(a.rows, device_cast(a.data), a.ld, info, failure);
  return true;
}

template <class T>
void launch_hegst(const CudaContext& on, MatrixView<T> a, MatrixView<const T> l, Index base) noexcept {
  const auto solve = [&](Side side, MatrixView<const T> factor, MatrixView<T> b) {
    la::trsm(on, side, Uplo::lower, side == Side::left ? Op::none : Op::adjoint, Diag::non_unit, 1, factor,
             b);
  };
  const Index n = a.rows;
  if (n <= base) {  // twice the flops, but only two calls
    mirror_lower<T>(on, a);
    solve(Side::left, l, a);
    solve(Side::right, l, a);
    return;
  }
  const Index n1 = half(n, base), n2 = n - n1;
  const auto a11 = a.block(0, 0, n1, n1), a21 = a.block(n1, 0, n2, n1), a22 = a.block(n1, n1, n2, n2);
  const auto l11 = l.block(0, 0, n1, n1), l21 = l.block(n1, 0, n2, n1), l22 = l.block(n1, n1, n2, n2);
  const auto subtract_half_product = [&] {  // both triangles of A11 are valid
    la::gemm(on, Op::none, Op::none, T(-0.5), l21, a11, 1, a21);
  };
  launch_hegst<T>(on, a11, l11, base);
  mirror_lower<T>(on, a11);
  solve(Side::right, l11, a21);
  subtract_half_product();
  launch_her2k_subtract<T>(on, l21, a21, a22);
  subtract_half_product();
  solve(Side::left, l22, a21);
  launch_hegst<T>(on, a22, l22, base);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void launch_herk_subtract<T>(const CudaContext&, MatrixView<const T>, MatrixView<T>) noexcept; \
  template void launch_her2k_subtract<T>(const CudaContext&, MatrixView<const T>, MatrixView<const T>,    \
                                         MatrixView<T>) noexcept;                                         \
  template std::size_t potrf_bytes<T>(Index);                                                             \
  template bool launch_potrf<T>(const CudaContext&, MatrixView<T>, std::span<char>, long long*);          \
  template void launch_hegst<T>(const CudaContext&, MatrixView<T>, MatrixView<const T>, Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

template <class T>
void run(const DeviceContext& on, const HerkSubtract<T>& task) {
  launch_herk_subtract<T>(on, *task.a, *task.c);
}

template <class T>
void run(const DeviceContext& on, const Her2kSubtract<T>& task) {
  launch_her2k_subtract<T>(on, *task.a, *task.b, *task.c);
}

template <class T>
void run(const DeviceContext& on, const Potrf<T>& task) {
  DeviceFailure failure(on, StatusCode::not_positive_definite);
  if (!launch_potrf<T>(on, *task.a, *task.work, failure.index()))
    on.fail(StatusCode::no_convergence, task.first_row + 1);
  failure.report(task.first_row);
}

template <class T>
void run(const DeviceContext& on, const Hegst<T>& task) {
  launch_hegst<T>(on, *task.a, *task.l);
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_ON_GPU(Gemm<T>)             \
  TESSERA_DEFINE_ON_GPU(HerkSubtract<T>)     \
  TESSERA_DEFINE_ON_GPU(Her2kSubtract<T>)    \
  TESSERA_DEFINE_ON_GPU(GemmPairSubtract<T>) \
  TESSERA_DEFINE_ON_GPU(HemmRight<T>)        \
  TESSERA_DEFINE_ON_GPU(Trsm<T>)             \
  TESSERA_DEFINE_ON_GPU(Potrf<T>)            \
  TESSERA_DEFINE_ON_GPU(Hegst<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
