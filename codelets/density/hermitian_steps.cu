// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_fp16.h>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/density/hermitian_steps.hpp>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int square = 32, warps = 8;  ///< a thread block has square x warps threads

// ---- products -----------------------------------------------------------------------------------------------------

/// Widths of the block columns of a lower triangle, as products: what is above the diagonal is computed in vain, and
/// narrow products are slow.
Index strip_width(Index n, Index count) noexcept {
  if (n * count <= 2560) return n;
  if (count > 1) return ceil_div(ceil_div(n, 2), 64) * 64;
  return std::clamp<Index>(ceil_div(n, 4) / 256 * 256, 1024, 2048);
}

/// The significand of x in two half numbers, high and 2048 low; x = high + low to 2^-22 |x|.
constexpr float low_scale = 2048;
struct HalfPair {
  __half high, low;
};
__device__ HalfPair split(float x) {
  const __half high = __float2half_rn(x);
  return {high, __float2half_rn((x - __half2float(high)) * low_scale)};
}

/// X = D + R with the diagonal D: pieces [low R | high R | low R] of `rows` rows, and C := D R + R D + D^2. The sum of R R
/// alone goes through tensor cores, whose sums are cut off after 24 bits: without the squares of the diagonal it is small.
__global__ void __launch_bounds__(square* warps)
    split_kernel(Index n, Index rows, const float* x, Index ldx, __half* pieces, float* c, Index ldc) {
  x += Index(blockIdx.z) * n * ldx;
  c += Index(blockIdx.z) * n * ldc;
  const Index piece = rows * n;
  pieces += Index(blockIdx.z) * 3 * piece;
  const Index i = Index(blockIdx.x) * (square * warps) + threadIdx.x;
  if (i >= rows) return;
  const float di = i < n ? x[i + i * ldx] : 0;
  for (Index j = blockIdx.y; j < n; j += gridDim.y) {
    HalfPair parts{__half(0), __half(0)};
    if (i < n) {
      const float value = x[i + j * ldx];
      if (i != j) parts = split(value);
      c[i + j * ldc] = i == j ? di * di : value * (x[j + j * ldx] + di);
    }
    __half* const to = pieces + i + j * rows;
    to[0] = to[2 * piece] = parts.low;
    to[piece] = parts.high;
  }
}

/// C := X X, lower triangle, in float, by three products of half numbers.
void split_square(const CudaContext& on, Index n, Index count, MatrixView<const float> x, MatrixView<float> c,
                  std::span<char> work) {
  const Index rows = split_rows(n), piece = rows * n;
  auto* const pieces = reinterpret_cast<__half*>(work.data());
  const dim3 grid(blocks_for(rows, square * warps), blocks_for(n, 16), static_cast<unsigned>(count));
  split_kernel<<<grid, square * warps, 0, on.stream>>>(n, rows, x.data, x.ld, pieces, c.data, c.ld);
  const auto product = [&](Index j, Index cols, Index k, const __half* a, const __half* b, float alpha) {
    const float one = 1;
    cublasGemmStridedBatchedEx(on.cublas, CUBLAS_OP_N, CUBLAS_OP_T, static_cast<int>(n - j),
                               static_cast<int>(cols), static_cast<int>(k), &alpha, a + j, CUDA_R_16F,
                               static_cast<int>(rows), 3 * piece, b + j, CUDA_R_16F, static_cast<int>(rows),
                               3 * piece, &one, c.data + j + j * c.ld, CUDA_R_32F, static_cast<int>(c.ld),
                               n * c.ld, static_cast<int>(count), CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  const Index width = strip_width(n, count);
  for (Index j = 0; j < n; j += width) {
    const Index cols = std::min(width, n - j);
    product(j, cols, 2 * n, pieces, pieces + piece, 1 / low_scale);
    product(j, cols, n, pieces + piece, pieces + piece, 1);
  }
}

/// A = D + R and B = E + Q with diagonals D and E: pieces [low R | high R] and [high Q; low Q], `rows` rows and columns
/// each, and C := D E + D Q + R E. The sum of R Q alone goes through tensor cores, as in split_kernel.
__global__ void __launch_bounds__(square* warps)
    split_pair_kernel(Index n, Index rows, MatrixView<const float> a, MatrixView<const float> b,
                      __half* pieces, float* c, Index ldc) {
  a.data += Index(blockIdx.z) * n * a.ld;
  b.data += Index(blockIdx.z) * n * b.ld;
  c += Index(blockIdx.z) * n * ldc;
  const Index piece = rows * rows;
  pieces += Index(blockIdx.z) * 4 * piece;
  const Index i = Index(blockIdx.x) * (square * warps) + threadIdx.x;
  if (i >= rows) return;
  const float di = i < n ? a.data[i + i * a.ld] : 0, ei = i < n ? b.data[i + i * b.ld] : 0;
  for (Index j = blockIdx.y; j < rows; j += gridDim.y) {
    HalfPair left{__half(0), __half(0)}, right = left;
    if (i < n && j < n) {
      const float x = a.data[i + j * a.ld], y = b.data[i + j * b.ld];
      if (i != j) left = split(x), right = split(y);
      c[i + j * ldc] = i == j ? di * ei : di * y + x * b.data[j + j * b.ld];
    }
    pieces[i + j * rows] = left.low;
    pieces[i + j * rows + piece] = left.high;
    __half* const column = pieces + 2 * piece + j * 2 * rows;
    column[i] = right.high;
    column[i + rows] = right.low;
  }
}

/// C := A B, in float, by three products of half numbers: its lower triangle, or all of it.
void split_product(const CudaContext& on, Index n, Index count, bool whole, MatrixView<const float> a,
                   MatrixView<const float> b, MatrixView<float> c, std::span<char> work) {
  const Index rows = split_rows(n), piece = rows * rows;
  auto* const pieces = reinterpret_cast<__half*>(work.data());
  const dim3 grid(blocks_for(rows, square * warps), blocks_for(rows, 16), static_cast<unsigned>(count));
  split_pair_kernel<<<grid, square * warps, 0, on.stream>>>(n, rows, {a.data, n, n, a.ld},
                                                            {b.data, n, n, b.ld}, pieces, c.data, c.ld);
  const auto product = [&](Index i, Index j, Index cols, Index k, const __half* left, float alpha) {
    const float one = 1;
    cublasGemmStridedBatchedEx(on.cublas, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(n - i),
                               static_cast<int>(cols), static_cast<int>(k), &alpha, left + i, CUDA_R_16F,
                               static_cast<int>(rows), 4 * piece, pieces + 2 * piece + j * 2 * rows,
                               CUDA_R_16F, static_cast<int>(2 * rows), 4 * piece, &one, c.data + i + j * c.ld,
                               CUDA_R_32F, static_cast<int>(c.ld), n * c.ld, static_cast<int>(count),
                               CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  };
  const Index width = whole ? n : strip_width(n, count);
  for (Index j = 0; j < n; j += width) {
    const Index cols = std::min(width, n - j), i = whole ? 0 : j;
    product(i, j, cols, 2 * rows, pieces, 1 / low_scale);
    product(i, j, cols, rows, pieces + piece, 1);
  }
}

/// C := op(A) op(B) + beta C, lower triangle, in strips, or all of it.
template <class T>
void strip_product(const CudaContext& on, const HermitianProduct<T>& task, MatrixView<const T> a,
                   MatrixView<const T> b, MatrixView<T> c) {
  const Index n = task.n, width = task.whole ? n : strip_width(n, task.count);
  for (Index j = 0; j < n; j += width) {
    const Index cols = std::min(width, n - j), i = task.whole ? 0 : j;
    cublas::gemm_strided_batched<T>(on.cublas, task.op_a, task.op_b, n - i, cols, task.k, T(1),
                                    a.data + (task.op_a == Op::none ? i : i * a.ld), a.ld, n * a.ld,
                                    b.data + (task.op_b == Op::none ? j * b.ld : j), b.ld, n * b.ld,
                                    T(task.c.beta()), c.data + i + j * c.ld, c.ld, n * c.ld, task.count);
  }
}

// ---- steps --------------------------------------------------------------------------------------------------------

/// Of an element that counts `weight` times.
template <class X>
__device__ void add(HermitianSums& sums, X before, X after, double weight, bool on_diagonal) {
  const double re = real(after), im = imag(after);
  if (on_diagonal) sums.trace += weight * re;
  sums.square += weight * (re * re + im * im);
  sums.dot += weight * (double(real(before)) * re + double(imag(before)) * im);
}

__device__ HermitianSums sum_of_block(HermitianSums sums) {
  __shared__ HermitianSums parts[warps];
  sums.trace = warp_sum(sums.trace), sums.square = warp_sum(sums.square), sums.dot = warp_sum(sums.dot);
  const int thread = threadIdx.x + threadIdx.y * blockDim.x;
  if (thread % 32 == 0) parts[thread / 32] = sums;
  __syncthreads();
  HermitianSums all;
  if (thread == 0)
    for (const HermitianSums& part : parts)
      all.trace += part.trace, all.square += part.square, all.dot += part.dot;
  return all;
}

/// The type that holds both.
template <class S, class X>
using Wider = std::conditional_t<sizeof(S) >= sizeof(X), S, X>;
template <class To, class From>
__device__ To converted(From x) {
  if constexpr (is_complex_scalar<From>)
    return {Real<To>(x.re), Real<To>(x.im)};
  else
    return To(x);
}

/// A thread block takes squares in turn: of the lower triangle (diagonal) with their mirror images, or of the whole tile.
template <class S, class X, bool reads_x>
__global__ void __launch_bounds__(square* warps)
    step_kernel(Index rows, Index cols, bool diagonal, double c0, double c1, double c2, MatrixView<const S> y,
                X* x, Index ldx, const Index* own, HermitianSums* partial) {
  using W = Wider<S, X>;
  __shared__ X tile[square][square + 1];
  const bool reads_y = y.data != nullptr;
  if (reads_y) y.data += Index(blockIdx.y) * y.cols * y.ld;
  const Index counted = own ? own[blockIdx.y] : cols;
  x += Index(blockIdx.y) * cols * ldx;
  const Index high = (rows + square - 1) / square, wide = (cols + square - 1) / square;
  const Index squares = diagonal ? high * (high + 1) / 2 : high * wide;
  HermitianSums sums;
  for (Index index = blockIdx.x; index < squares; index += gridDim.x) {
    Index row = index % high, col = index / high;
    if (diagonal) {
      row = static_cast<Index>((sqrt(8.0 * static_cast<double>(index) + 1.0) - 1.0) / 2.0);
      while (row * (row + 1) / 2 > index) --row;
      while ((row + 1) * (row + 2) / 2 <= index) ++row;
      col = index - row * (row + 1) / 2;
    }
    const Index i = row * square + threadIdx.x;
    for (int k = threadIdx.y; k < square; k += warps) {
      const Index j = col * square + k;
      if (i >= rows || j >= cols || (diagonal && i < j)) continue;
      const X before = reads_x ? x[i + j * ldx] : X(0);
      const bool inside = !reads_y || (i < y.rows && j < y.cols);
      W value = reads_y && inside ? Real<W>(c2) * converted<W>(y.data[i + j * y.ld]) : W(0);
      if constexpr (reads_x) value += Real<W>(c1) * converted<W>(before);
      if (diagonal && i == j && inside) value = W(real(value) + Real<W>(c0));
      const X after = converted<X>(value);
      x[i + j * ldx] = after;
      tile[k][threadIdx.x] = after;
      // Beside the diagonal an element counts for its mirror image, too.
      const bool on_diagonal = diagonal && i == j;
      const int weight = !diagonal ? 2 : int(j < counted) + int(!on_diagonal && i < counted);
      add(sums, before, after, weight, on_diagonal);
    }
    if (!diagonal) continue;
    __syncthreads();
    const Index image_row = col * square + threadIdx.x;
    for (int k = threadIdx.y; k < square; k += warps) {
      const Index image_col = row * square + k;
      if (image_col < rows && image_row < image_col)
        x[image_row + image_col * ldx] = conj(tile[threadIdx.x][k]);
    }
    __syncthreads();
  }
  const HermitianSums all = sum_of_block(sums);
  if (threadIdx.x == 0 && threadIdx.y == 0) partial[Index(blockIdx.y) * gridDim.x + blockIdx.x] = all;
}

/// sums[b] := the sum of the partial sums of matrix b, in their order.
__global__ void __launch_bounds__(square* warps)
    add_partial_kernel(int count, const HermitianSums* partial, HermitianSums* sums) {
  partial += Index(blockIdx.x) * count;
  HermitianSums mine;
  for (int k = threadIdx.x; k < count; k += square * warps)
    mine.trace += partial[k].trace, mine.square += partial[k].square, mine.dot += partial[k].dot;
  const HermitianSums all = sum_of_block(mine);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

template <bool reads_x, class S, class T>
void launch_step(const CudaContext& on, double c0, double c1, double c2, MatrixView<const S> y,
                 MatrixView<T> x, Index count, bool diagonal, const Index* own, std::span<HermitianSums> sums,
                 std::span<char> work) {
  auto* const partial = reinterpret_cast<HermitianSums*>(work.data());
  const MatrixView<const S> one_y{y.data, y.rows, y.cols / count, y.ld};
  const Index cols = x.cols / count, high = ceil_div(x.rows, square);
  const Index squares = diagonal ? high * (high + 1) / 2 : high * ceil_div(cols, square);
  const unsigned blocks = blocks_for(squares, 2, step_blocks);
  step_kernel<DeviceScalar<S>, DeviceScalar<T>, reads_x>
      <<<dim3(blocks, static_cast<unsigned>(count)), dim3(square, warps), 0, on.stream>>>(
          x.rows, cols, diagonal, c0, c1, c2, device_view(one_y), device_cast(x.data), x.ld, own, partial);
  add_partial_kernel<<<static_cast<unsigned>(count), square * warps, 0, on.stream>>>(static_cast<int>(blocks),
                                                                                     partial, sums.data());
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const HermitianProduct<T>& task) {
  const auto a = *task.a, b = *task.b;
  const auto c = *task.c;
  if (task.n == 0 || task.count == 0) return;
  const bool plain = task.op_a == Op::none && task.op_b == Op::none && task.k == task.n;
  // Up to this order cuBLAS' triangular product is faster than products of strips.
  constexpr Index small = 8192;
  if constexpr (std::is_same_v<T, float>) {
    const bool square = task.squares() && !task.whole;
    if (plain && task.c.beta() == 0 && task.work &&
        task.work.view().size() >= split_work(task.n, task.count, square)) {
      if (square)
        split_square(on, task.n, task.count, a, c, *task.work);
      else
        split_product(on, task.n, task.count, task.whole, a, b, c, *task.work);
      return;
    }
  }
  if (task.squares() && !task.whole && task.count == 1 && task.n <= small)
    la::herk<T>(on, Uplo::lower, task.op_a, 1, a, task.c.beta(), c);
  else
    strip_product<T>(on, task, a, b, c);
}

template <class T>
void run(const DeviceContext& on, const PolynomialStep<T>& task) {
  launch_step<true, T, T>(on, task.c0, task.c1, task.c2, task.y ? *task.y : MatrixView<const T>{}, *task.x,
                          task.count, task.diagonal, task.own ? task.own.view().data() : nullptr, *task.sums,
                          *task.work);
}

template <class S, class T>
void run(const DeviceContext& on, const ShiftedCopy<S, T>& task) {
  launch_step<false, S, T>(on, task.c0, 0, task.c2, *task.y, *task.x, task.count, task.diagonal, nullptr,
                           *task.sums, *task.work);
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_ON_GPU(HermitianProduct<T>) \
  TESSERA_DEFINE_ON_GPU(PolynomialStep<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#undef TESSERA_DEFINE
#define TESSERA_DEFINE_COPY(S, T) TESSERA_DEFINE_ON_GPU(ShiftedCopy<S, T>)
TESSERA_FOR_HERMITIAN_COPIES(TESSERA_DEFINE_COPY)

}  // namespace tessera::detail
