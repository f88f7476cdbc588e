// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/codelets/linalg/hermitian.hpp>
#include <tessera/codelets/linalg/split_products.hpp>

/// The products of split_products.hpp for complex<double>: by three real products of planes, in one batch.
namespace tessera::detail {

namespace {

using T = std::complex<double>;
using namespace three_products;
constexpr int threads = 256;

struct Pair {
  double re, im;
};
const Pair* pairs(const T* x) noexcept {
  return reinterpret_cast<const Pair*>(x);
}

/// Real part, imaginary part (of the adjoint, if sign is -1) and their sum, `distance` from one to the next.
__global__ void planes_kernel(Index rows, Index cols, const Pair* x, Index ldx, double sign, double* planes,
                              Index ld, Index distance) {
  for (Index j = blockIdx.y; j < cols; j += gridDim.y)
    for (Index i = blockIdx.x * Index(threads) + threadIdx.x; i < rows; i += Index(gridDim.x) * threads) {
      const Pair value = x[i + j * ldx];
      double* const to = planes + i + j * ld;
      to[0] = value.re;
      to[distance] = sign * value.im;
      to[2 * distance] = value.re + sign * value.im;
    }
}

/// C := alpha (P1 - P2 + i (P3 - P1 - P2)) + beta C.
__global__ void combine_kernel(Index rows, Index cols, const double* planes, Index distance, double alpha,
                               double beta, Pair* c, Index ldc) {
  for (Index j = blockIdx.y; j < cols; j += gridDim.y)
    for (Index i = blockIdx.x * Index(threads) + threadIdx.x; i < rows; i += Index(gridDim.x) * threads) {
      const double* const from = planes + i + j * rows;
      const double first = from[0], second = from[distance], third = from[2 * distance];
      Pair& to = c[i + j * ldc];
      Pair value{alpha * (first - second), alpha * (third - first - second)};
      if (beta != 0) value.re += beta * to.re, value.im += beta * to.im;
      to = value;
    }
}

dim3 grid_of(Index rows, Index cols) noexcept {
  const unsigned along = device::blocks_for(rows, threads, device::full_grid);
  return {along, device::blocks_for(cols, 1, std::max<Index>(device::full_grid / along, 1))};
}

/// An operand in three planes.
struct Planes {
  const double* data;
  cublasOperation_t op;
  Index ld, distance;
};
Planes split(const CudaContext& on, Op op, la::Factor<T> x, double* to) noexcept {
  const Index ld = padded_rows(x.rows);
  const Planes planes{to, op == Op::adjoint ? CUBLAS_OP_T : CUBLAS_OP_N, ld, ld * x.cols};
  if (x.rows > 0 && x.cols > 0)
    planes_kernel<<<grid_of(x.rows, x.cols), threads, 0, on.stream>>>(
        x.rows, x.cols, pairs(x.data), x.ld, op == Op::adjoint ? -1. : 1., to, ld, planes.distance);
  return planes;
}

/// C := alpha A B + beta C; results: three planes of C.
void multiply(const CudaContext& on, double alpha, const Planes& a, const Planes& b, Index k, double beta,
              MatrixView<T> c, double* results) noexcept {
  if (c.rows == 0 || c.cols == 0) return;
  const Index distance = c.rows * c.cols;
  const double one = 1, zero = 0;
  cublasDgemmStridedBatched_64(on.cublas, a.op, b.op, c.rows, c.cols, k, &one, a.data, a.ld, a.distance,
                               b.data, b.ld, b.distance, &zero, results, c.rows, distance, 3);
  combine_kernel<<<grid_of(c.rows, c.cols), threads, 0, on.stream>>>(
      c.rows, c.cols, results, distance, alpha, beta, reinterpret_cast<Pair*>(c.data), c.ld);
}

}  // namespace

template <>
void split_gemm<T>(const CudaContext& on, Op op_a, Op op_b, double alpha, la::Factor<T> a, la::Factor<T> b,
                   double beta, MatrixView<T> c, std::span<char> work) noexcept {
  const Index k = la::inner_size(op_a, a), left = 3 * padded_rows(a.rows) * a.cols;
  const Index most = columns_at_once(work.size(), a.rows, a.cols, c.rows, k);
  if (c.rows == 0 || c.cols == 0 || k == 0 || most < std::min(c.cols, fewest_columns))
    return cublas::gemm_by_three(on.cublas, op_a, op_b, c.rows, c.cols, k, alpha, a.data, a.ld, b.data, b.ld,
                                 beta, c.data, c.ld);
  auto* const space = reinterpret_cast<double*>(work.data());
  const Planes split_a = split(on, op_a, a, space);
  const Index width = padded_rows(ceil_div(c.cols, ceil_div(c.cols, most)));
  for (Index column = 0; column < c.cols; column += width) {
    const Index columns = std::min(width, c.cols - column);
    const la::Factor<T> part =
        op_b == Op::none ? b.block(0, column, k, columns) : b.block(column, 0, columns, k);
    const Planes split_b = split(on, op_b, part, space + left);
    multiply(on, alpha, split_a, split_b, k, beta, c.block(0, column, c.rows, columns),
             space + left + 3 * split_b.distance);
  }
}

template <>
void split_subtract_lower_product<T>(const CudaContext& on, la::Factor<T> x, la::Factor<T> y, MatrixView<T> c,
                                     std::span<char>) noexcept {
  constexpr Index small = 2048;  // cuBLAS has no batches of these products
  for_each_lower_product(c.rows, [&](Index row, Index col, Index m, Index width, Index count, Index step) {
    if (std::min(m, width) < small)
      cublas::gemm_strided_batched<T>(on.cublas, Op::none, Op::adjoint, m, width, x.cols, -1, x.data + row,
                                      x.ld, step, y.data + col, y.ld, step, 1, c.data + row + col * c.ld,
                                      c.ld, step * (c.ld + 1), count);
    else
      for (Index i = 0; i < count; ++i, row += step, col += step)
        cublas::gemm_by_three(on.cublas, Op::none, Op::adjoint, m, width, x.cols, -1, x.data + row, x.ld,
                              y.data + col, y.ld, 1, c.data + row + col * c.ld, c.ld);
  });
}

}  // namespace tessera::detail
