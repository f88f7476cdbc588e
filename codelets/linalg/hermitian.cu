// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int mirror_tile = 32, mirror_rows = 8;

/// One thread block transposes one tile of the lower triangle; the tiles are numbered row by row.
template <class S>
__global__ void __launch_bounds__(mirror_tile* mirror_rows) mirror_lower_kernel(Index n, S* a, Index lda) {
  __shared__ S tile[mirror_tile][mirror_tile + 1];
  const Index index = blockIdx.x;
  Index row = static_cast<Index>((sqrt(8.0 * static_cast<double>(index) + 1.0) - 1.0) / 2.0);
  while (row * (row + 1) / 2 > index) --row;
  while ((row + 1) * (row + 2) / 2 <= index) ++row;
  const Index i0 = row * mirror_tile, j0 = (index - row * (row + 1) / 2) * mirror_tile;
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < mirror_tile; y += mirror_rows)
    if (i0 + x < n && j0 + y < n) tile[y][x] = a[i0 + x + (j0 + y) * lda];
  __syncthreads();
  for (int y = threadIdx.y; y < mirror_tile; y += mirror_rows) {
    if (i0 + y >= n || j0 + x >= n) continue;
    if (i0 != j0 || x < y)
      a[j0 + x + (i0 + y) * lda] = conj(tile[x][y]);
    else if (is_complex_scalar<S> && x == y)
      a[j0 + x + (i0 + y) * lda] = S(real(tile[x][x]));
  }
}

}  // namespace

template <class T>
void mirror_lower(const CudaContext& on, MatrixView<T> a) noexcept {
  const Index tiles = ceil_div(a.rows, mirror_tile);
  if (a.rows > 0)
    mirror_lower_kernel<<<static_cast<unsigned>(tiles * (tiles + 1) / 2), dim3(mirror_tile, mirror_rows), 0,
                          on.stream>>>(a.rows, device_cast(a.data), a.ld);
}

template <class T>
void subtract_lower_product(const CudaContext& on, MatrixView<const T> x, MatrixView<const T> y,
                            MatrixView<T> c) noexcept {
  for_each_lower_product(c.rows, [&](Index row, Index col, Index m, Index width, Index count, Index step) {
    cublas::gemm_strided_batched<T>(on.cublas, Op::none, Op::adjoint, m, width, x.cols, T(-1), x.data + row,
                                    x.ld, step, y.data + col, y.ld, step, T(1), c.data + row + col * c.ld,
                                    c.ld, step * (c.ld + 1), count);
  });
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template void mirror_lower<T>(const CudaContext&, MatrixView<T>) noexcept;                            \
  template void subtract_lower_product<T>(const CudaContext&, MatrixView<const T>, MatrixView<const T>, \
                                          MatrixView<T>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
