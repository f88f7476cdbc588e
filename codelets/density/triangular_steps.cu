// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/density/triangular_steps.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int block = static_cast<int>(inverted_block);

/// Z's diagonal block blockIdx.x := the inverse of L's; a thread makes a column by substitution.
template <class S>
__global__ void __launch_bounds__(block)
    invert_blocks_kernel(Index n, const S* l, Index ldl, S* z, Index ldz) {
  __shared__ S factor[block][block + 1];
  __shared__ S inverse[block][block + 1];
  const Index first = Index(blockIdx.x) * block;
  const int order = static_cast<int>(min(Index(block), n - first)), column = static_cast<int>(threadIdx.x);
  for (int j = 0; j < order; ++j)
    if (column >= j && column < order) factor[column][j] = l[first + column + (first + j) * ldl];
  __syncwarp();
  for (int i = 0; i < order; ++i) {
    S sum = i == column ? S(1) : S(0);
    for (int k = column; k < i; ++k) sum = sum - factor[i][k] * inverse[k][column];
    inverse[i][column] = i < column ? S(0) : (Real<S>(1) / real(factor[i][i])) * sum;
  }
  __syncwarp();
  for (int j = 0; j < order; ++j)
    if (column < order) z[first + column + (first + j) * ldz] = inverse[column][j];
}

/// C_p := alpha A_p B_p for `pairs` products of m x k by k x n, each at a stride from the one before.
template <class T>
struct Strided {
  T* data;
  Index ld, stride;
};
template <class T>
void products(const CudaContext& on, Index pairs, Index m, Index n, Index k, T alpha, Strided<const T> a,
              Strided<const T> b, Strided<T> c) {
  cublas::gemm_strided_batched<T>(on.cublas, Op::none, Op::none, m, n, k, alpha, a.data, a.ld, a.stride,
                                  b.data, b.ld, b.stride, T(0), c.data, c.ld, c.stride, pairs);
}

/// Z_21 := -Z_22 L_21 Z_11 for pairs of diagonal blocks of orders s and m, the first at row `first`.
template <class T>
void join_inverses(const CudaContext& on, Index pairs, Index first, Index s, Index m, MatrixView<const T> l,
                   MatrixView<T> z, T* work) {
  if (pairs == 0 || m == 0) return;
  const Index step_l = 2 * s * (l.ld + 1), step_z = 2 * s * (z.ld + 1);
  const T* const l21 = l.data + first + s + first * l.ld;
  T* const z11 = z.data + first + first * z.ld;
  T *const z21 = z11 + s, *const z22 = z11 + s + s * z.ld;
  products<T>(on, pairs, m, s, s, T(1), {l21, l.ld, step_l}, {z11, z.ld, step_z}, {work, m, m * s});
  products<T>(on, pairs, m, s, m, T(-1), {z22, z.ld, step_z}, {work, m, m * s}, {z21, z.ld, step_z});
}

}  // namespace

/// The inverses of small diagonal blocks, then of blocks twice as large, and so on.
template <class T>
void run(const DeviceContext& on, const InvertTriangle<T>& task) {
  const MatrixView<const T> l = *task.l;
  const MatrixView<T> z = *task.z;
  const Index n = task.n;
  if (n == 0) return;
  la::set_zero<T>(on, z);
  invert_blocks_kernel<<<blocks_for(n, inverted_block), block, 0, on.stream>>>(n, device_cast(l.data), l.ld,
                                                                               device_cast(z.data), z.ld);
  T* const work = task.work.view().data();
  for (Index s = inverted_block; s < n; s *= 2) {
    const Index pairs = n / (2 * s), rest = 2 * s * pairs;
    join_inverses<T>(on, pairs, 0, s, s, l, z, work);
    join_inverses<T>(on, 1, rest, s, std::max<Index>(n - rest - s, 0), l, z, work);
  }
}

#define TESSERA_DEFINE(T)                     \
  TESSERA_DEFINE_ON_GPU(InvertTriangle<T>)    \
  TESSERA_DEFINE_ON_GPU(TriangularProduct<T>) \
  TESSERA_DEFINE_ON_GPU(LowerTriangularProduct<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
