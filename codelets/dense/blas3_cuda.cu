// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/dense/blas3_cuda.hpp>
#include <tessera/codelets/dense/hermitian_cuda.hpp>
#include <tessera/codelets/device_scalar.cuh>

namespace tessera {
namespace {

using namespace device;
using cublas::stream_of;

/// Orders up to which one thread block does the whole work in shared memory.
template <class S>
constexpr int potrf_base = sizeof(S) == 16 ? 32 : 64;
constexpr int hegst_base = 32, threads = 256;
/// Up to this order cuBLAS' triangular products are faster than general ones on blocks, and a Hermitian
/// product is faster than its expansion.
constexpr Index small_update = 8192, small_product = 512;

/// Thread (x, y) of a square has the elements (x + side i, y + side j) of a small matrix.
constexpr int side = 16;
static_assert(side * side == threads);

/// Right-looking; a column is divided by its diagonal element at the end only, one barrier a column so.
template <class S>
__global__ void __launch_bounds__(threads)
    potrf_base_kernel(int n, S* a, Index lda, long long first_row, long long* failure) {
  constexpr int base = potrf_base<S>;
  __shared__ S l[base][base + 1];  // l[column][row]
  const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
  for (int j = y; j < n; j += side)
    for (int i = x; i < n; i += side)
      if (i >= j) l[j][i] = a[i + j * lda];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const Real<S> pivot = real(l[k][k]);
    if (!(pivot > 0) || !isfinite(pivot)) {  // the same for all threads
      if (threadIdx.x == 0 && *failure == 0) *failure = first_row + k + 1;
      return;
    }
    const Real<S> inverse = 1 / pivot;
    for (int j = k + 1 + (y + side - (k + 1) % side) % side; j < n; j += side) {
      const S factor = conj(l[k][j]) * inverse;
      for (int i = x; i < n; i += side)
        if (i >= j) l[j][i] -= l[k][i] * factor;
    }
  }
  __syncthreads();
  for (int j = y; j < n; j += side) {
    const Real<S> root = sqrt(real(l[j][j]));
    for (int i = x; i < n; i += side)
      if (i >= j) a[i + j * lda] = i == j ? S(root) : l[j][i] / root;
  }
}

/// L^-1 A by rows, then its product with L^-H by columns, on the whole square. Rows and columns are divided
/// by the diagonal elements at the end only.
template <class S>
__global__ void __launch_bounds__(threads)
    hegst_base_kernel(int n, S* a, Index lda, const S* factor, Index ldl) {
  __shared__ S x[hegst_base][hegst_base + 1], l[hegst_base][hegst_base + 1];  // [column][row]
  const int first = static_cast<int>(threadIdx.x) % side, second = static_cast<int>(threadIdx.x) / side;
  for (int j = second; j < n; j += side)
    for (int i = first; i < n; i += side) {
      if (i < j) continue;
      const S value = a[i + j * lda];
      x[j][i] = i == j ? S(real(value)) : value;
      if (i != j) x[i][j] = conj(value);
      l[j][i] = factor[i + j * ldl];
    }
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const Real<S> inverse = 1 / real(l[k][k]);
    for (int j = second; j < n; j += side) {
      const S multiple = x[j][k] * inverse;
      for (int i = first; i < n; i += side)
        if (i > k) x[j][i] -= l[k][i] * multiple;
    }
  }
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    const Real<S> inverse = 1 / real(l[k][k]);
    for (int j = second; j < n; j += side) {
      if (j <= k) continue;
      const S multiple = conj(l[k][j]) * inverse;
      for (int i = first; i < n; i += side) x[j][i] -= x[k][i] * multiple;
    }
  }
  __syncthreads();
  for (int j = second; j < n; j += side)
    for (int i = first; i < n; i += side) {
      if (i < j) continue;
      const S value = x[j][i] / (real(l[i][i]) * real(l[j][j]));
      a[i + j * lda] = i == j ? S(real(value)) : value;
    }
}

/// The first half, a multiple of the smallest block.
Index half(Index n, Index base) noexcept {
  return ceil_div(ceil_div(n, base), 2) * base;
}

template <class T>
void potrf(cublasHandle_t handle, Index n, T* a, Index lda, Index first_row, long long* failure) noexcept {
  constexpr Index base = potrf_base<DeviceScalar<T>>;
  if (n <= base) {
    potrf_base_kernel<<<1, threads, 0, stream_of(handle)>>>(static_cast<int>(n), device_cast(a), lda,
                                                            first_row, failure);
    return;
  }
  const Index n1 = half(n, base), n2 = n - n1;
  T *a21 = a + n1, *a22 = a21 + n1 * lda;
  potrf<T>(handle, n1, a, lda, first_row, failure);
  cublas::trsm<T>(handle, Side::right, Uplo::lower, Op::adjoint, Diag::non_unit, n2, n1, T(1), a, lda, a21,
                  lda);
  launch_herk_subtract<T>(handle, {a21, n2, n1, lda}, {a22, n2, n2, lda});
  potrf<T>(handle, n2, a22, lda, first_row + n1, failure);
}

/// C := C - 1/2 L A with the Hermitian n x n matrix A, of which the upper triangle may be overwritten.
template <class T>
void subtract_half_product(cublasHandle_t handle, Index m, Index n, const T* l, Index ldl, T* a, T* c,
                           Index lda) noexcept {
  if (n <= small_product)
    cublas::hemm<T>(handle, Side::right, Uplo::lower, m, n, T(-0.5), a, lda, l, ldl, T(1), c, lda);
  else
    cublas::gemm<T>(handle, Op::none, Op::none, m, n, n, T(-0.5), l, ldl, a, lda, T(1), c, lda);
}

template <class T>
void hegst(cublasHandle_t handle, Index n, T* a, Index lda, const T* l, Index ldl) noexcept {
  if (n <= hegst_base) {
    hegst_base_kernel<<<1, threads, 0, stream_of(handle)>>>(static_cast<int>(n), device_cast(a), lda,
                                                            device_cast(l), ldl);
    return;
  }
  const Index n1 = half(n, hegst_base), n2 = n - n1;
  T *a21 = a + n1, *a22 = a21 + n1 * lda;
  const T *l21 = l + n1, *l22 = l21 + n1 * ldl;
  hegst<T>(handle, n1, a, lda, l, ldl);
  if (n1 > small_product) launch_mirror_lower<T>(stream_of(handle), n1, a, lda);
  cublas::trsm<T>(handle, Side::right, Uplo::lower, Op::adjoint, Diag::non_unit, n2, n1, T(1), l, ldl, a21,
                  lda);
  subtract_half_product<T>(handle, n2, n1, l21, ldl, a, a21, lda);
  launch_her2k_subtract<T>(handle, {l21, n2, n1, ldl}, {a21, n2, n1, lda}, {a22, n2, n2, lda});
  subtract_half_product<T>(handle, n2, n1, l21, ldl, a, a21, lda);
  cublas::trsm<T>(handle, Side::left, Uplo::lower, Op::none, Diag::non_unit, n2, n1, T(1), l22, ldl, a21,
                  lda);
  hegst<T>(handle, n2, a22, lda, l22, ldl);
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
void launch_potrf(cublasHandle_t handle, MatrixView<T> a, long long* failure) noexcept {
  if (a.rows > 0) potrf<T>(handle, a.rows, a.data, a.ld, 0, failure);
}

template <class T>
void launch_hegst(cublasHandle_t handle, MatrixView<T> a, MatrixView<const T> l) noexcept {
  if (a.rows > 0) hegst<T>(handle, a.rows, a.data, a.ld, l.data, l.ld);
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template void launch_herk_subtract<T>(cublasHandle_t, MatrixView<const T>, MatrixView<T>) noexcept; \
  template void launch_her2k_subtract<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>,    \
                                         MatrixView<T>) noexcept;                                     \
  template void launch_potrf<T>(cublasHandle_t, MatrixView<T>, long long*) noexcept;                  \
  template void launch_hegst<T>(cublasHandle_t, MatrixView<T>, MatrixView<const T>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
