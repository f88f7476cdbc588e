// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <vector>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail::device {
namespace {

constexpr int threads = 256;

/// The bits of a real as an integer of its size. For numbers >= 0 they have the order of the numbers, and
/// infinity is below every NaN.
template <class R>
struct Bits;
template <>
struct Bits<float> {
  using type = unsigned int;
  static constexpr type infinity = 0x7F800000u, largest = 0x7FFFFFFFu;
  static __device__ type of(float x) { return __float_as_uint(x); }
};
template <>
struct Bits<double> {
  using type = unsigned long long;
  static constexpr type infinity = 0x7FF0000000000000ull, largest = 0x7FFFFFFFFFFFFFFFull;
  static __device__ type of(double x) { return static_cast<type>(__double_as_longlong(x)); }
};

/// The key of an entry: its bits if it is finite, else a NaN that is larger for lower columns. So one maximum
/// finds the first column with a bad entry or, if there is none, the largest entry.
template <class R>
__device__ typename Bits<R>::type entry_key(R x, Index column) {
  const auto bits = Bits<R>::of(fabs(x));
  return bits < Bits<R>::infinity ? bits : Bits<R>::largest - static_cast<typename Bits<R>::type>(column);
}

template <class S>
__global__ void __launch_bounds__(threads)
    max_abs_kernel(MatrixView<const S> tile, Uplo uplo, Index shift, typename Bits<Real<S>>::type* out) {
  using Key = typename Bits<Real<S>>::type;
  Key key = 0;
  for (Index j = blockIdx.x; j < tile.cols; j += gridDim.x) {
    // Row j + shift of the tile is on the diagonal of the matrix.
    const Index begin = uplo == Uplo::lower ? max(j + shift, Index(0)) : 0;
    const Index end = uplo == Uplo::upper ? min(j + shift + 1, tile.rows) : tile.rows;
    const Index stride = Index(gridDim.y) * threads;
#pragma unroll 4
    for (Index i = begin + Index(blockIdx.y) * threads + threadIdx.x; i < end; i += stride) {
      const S x = tile.data[i + j * tile.ld];
      key = max(key, entry_key(real(x), j));
      if constexpr (is_complex_scalar<S>) key = max(key, entry_key(imag(x), j));
    }
  }
  key = warp_max(key);
  __shared__ Key warps[threads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = key;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (const Key other : warps) key = max(key, other);
  atomicMax(out, key);
}

template <class R>
__global__ void report_bad_column_kernel(const typename Bits<R>::type* key, long long* bad_column) {
  if (*key > Bits<R>::infinity) *bad_column = static_cast<long long>(Bits<R>::largest - *key) + 1;
}

/// One block.
template <class S>
__global__ void __launch_bounds__(threads) check_diagonal_kernel(MatrixView<const S> l, long long* bad) {
  __shared__ unsigned long long first;
  if (threadIdx.x == 0) first = ~0ull;
  __syncthreads();
  for (Index i = threadIdx.x; i < l.cols; i += threads)
    if (!(real(l.data[i + i * l.ld]) > 0)) {
      atomicMin(&first, static_cast<unsigned long long>(i));
      break;
    }
  __syncthreads();
  if (threadIdx.x == 0 && first != ~0ull) *bad = static_cast<long long>(first) + 1;
}

/// A kernel gets up to this many pointers as an argument.
constexpr int batch = 128;
template <class R>
struct Pointers {
  const R* p[batch];
};

/// One warp finds the maximum of a batch and the earlier ones, and after the last batch the scale.
template <class R>
__global__ void choose_scale_kernel(Pointers<R> values, int count, bool first, bool last, bool power_of_four,
                                    R* scale) {
  R largest = 0;
  for (int k = threadIdx.x; k < count; k += 32) largest = fmax(largest, *values.p[k]);
  largest = warp_max(largest);
  if (threadIdx.x > 0) return;
  if (!first) largest = fmax(largest, *scale);
  if (last) {
    int exponent = 0;
    if (largest > 0) frexp(largest, &exponent);
    if (power_of_four) exponent = exponent / 2 * 2;
    exponent = min(max(exponent, std::numeric_limits<R>::min_exponent + 1),
                   std::numeric_limits<R>::max_exponent - 1);
    largest = ldexp(R(1), -exponent);
  }
  *scale = largest;
}

constexpr int copy_columns = 8;  ///< columns of a block: the loads of a thread that are in flight

template <class S>
__global__ void __launch_bounds__(threads) copy_kernel(const S* __restrict__ source, Index lds,
                                                       const Real<S>* scale, MatrixView<S> out, Index shift) {
  const Real<S> factor = *scale;
  const Index i = Index(blockIdx.x) * threads + threadIdx.x;
  if (i >= out.rows) return;
  for (Index j0 = Index(blockIdx.y) * copy_columns; j0 < out.cols; j0 += Index(gridDim.y) * copy_columns) {
    S x[copy_columns];
    const int count = static_cast<int>(min(Index(copy_columns), out.cols - j0));
#pragma unroll
    for (int k = 0; k < copy_columns; ++k)
      if (k < count) x[k] = source[i + (j0 + k) * lds];
#pragma unroll
    for (int k = 0; k < copy_columns; ++k)
      if (k < count) {
        S value = factor * x[k];
        if constexpr (is_complex_scalar<S>)
          if (i == j0 + k + shift) value = real(value);
        out.data[i + (j0 + k) * out.ld] = value;
      }
  }
}

constexpr int square = 32;  ///< rows and columns of the part that a block transposes at once

/// A block of (32, 8) threads reads a square of the source along its columns and writes it along its rows.
template <class S>
__global__ void __launch_bounds__(threads)
    copy_adjoint_kernel(const S* __restrict__ source, Index lds, const Real<S>* scale, MatrixView<S> out,
                        Index shift) {
  __shared__ Real<S> parts[is_complex_scalar<S> ? 2 : 1][square][square + 1];
  constexpr int step = threads / square;
  const Real<S> factor = *scale;
  const Index i0 = Index(blockIdx.x) * square;
  for (Index j0 = Index(blockIdx.y) * square; j0 < out.cols; j0 += Index(gridDim.y) * square) {
    // Row j of the source is column j of the destination.
    const Index j = j0 + threadIdx.x;
    S x[square / step];
#pragma unroll
    for (int k = 0; k < square / step; ++k) {
      const Index i = i0 + threadIdx.y + k * step;
      if (j < out.cols && i < out.rows) x[k] = source[j + i * lds];
    }
#pragma unroll
    for (int k = 0; k < square / step; ++k) {
      parts[0][threadIdx.y + k * step][threadIdx.x] = factor * real(x[k]);
      if constexpr (is_complex_scalar<S>)
        parts[1][threadIdx.y + k * step][threadIdx.x] = -factor * imag(x[k]);
    }
    __syncthreads();
    const Index i = i0 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < square / step; ++k) {
      const int column = threadIdx.y + k * step;
      if (i >= out.rows || j0 + column >= out.cols) continue;
      S& target = out.data[i + (j0 + column) * out.ld];
      if constexpr (is_complex_scalar<S>)
        target = S(parts[0][threadIdx.x][column],
                   i == j0 + column + shift ? Real<S>(0) : parts[1][threadIdx.x][column]);
      else
        target = parts[0][threadIdx.x][column];
    }
    __syncthreads();
  }
}

template <class R>
__global__ void divide_by_kernel(const R* values, const R* scale, Index count, R* out) {
  const Index k = Index(blockIdx.x) * threads + threadIdx.x;
  if (k < count) out[k] = values[k] / *scale;
}

template <class S>
__global__ void __launch_bounds__(threads) scale_by_root_kernel(const Real<S>* scale, MatrixView<S> x) {
  const Real<S> root = sqrt(*scale);
  if (root == 1) return;
  const Index i = Index(blockIdx.x) * threads + threadIdx.x;
  if (i >= x.rows) return;
  for (Index j = blockIdx.y; j < x.cols; j += gridDim.y) x.data[i + j * x.ld] = root * x.data[i + j * x.ld];
}

/// A thread block for a column.
template <class S>
__global__ void __launch_bounds__(threads) normalise_columns_kernel(MatrixView<S> x) {
  __shared__ double parts[threads / 32];
  S* const column = x.data + blockIdx.x * x.ld;
  double squares = 0;
  for (Index i = threadIdx.x; i < x.rows; i += threads) squares += real(conj(column[i]) * column[i]);
  squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
  __syncthreads();
  squares = 0;
  for (const double part : parts) squares += part;
  if (squares == 0) return;
  const auto factor = static_cast<Real<S>>(1 / sqrt(squares));
  for (Index i = threadIdx.x; i < x.rows; i += threads) column[i] = factor * column[i];
}

template <class S>
__global__ void __launch_bounds__(threads)
    copy_cyclic_kernel(MatrixView<const S> in, CyclicIndices rows, CyclicIndices cols, MatrixView<S> out) {
  const Index i = Index(blockIdx.x) * threads + threadIdx.x;
  if (i >= out.rows) return;
  const Index row = rows(i);
  for (Index j = blockIdx.y; j < out.cols; j += gridDim.y)
    out.data[i + j * out.ld] = in.data[row + cols(j) * in.ld];
}

}  // namespace

template <class T>
void launch_max_abs(cudaStream_t stream, MatrixView<const T> tile, Uplo uplo, Index row0, Index col0,
                    RealOf<T>* out, long long* bad_column) {
  using Key = typename Bits<RealOf<T>>::type;
  cudaMemsetAsync(out, 0, sizeof *out, stream);
  if (tile.rows == 0 || tile.cols == 0) return;
  constexpr Index wanted = 132 * 8;  // blocks that fill the device
  const unsigned columns = blocks_for(tile.cols, 1, wanted);
  const dim3 grid(columns,
                  std::min(blocks_for(tile.rows, 4 * threads, wanted), blocks_for(wanted, columns, wanted)));
  auto* const key = reinterpret_cast<Key*>(out);
  max_abs_kernel<<<grid, threads, 0, stream>>>(device_view(tile), uplo, col0 - row0, key);
  report_bad_column_kernel<RealOf<T>><<<1, 1, 0, stream>>>(key, bad_column);
}

template <class T>
void launch_check_diagonal(cudaStream_t stream, MatrixView<const T> l, long long* bad) {
  check_diagonal_kernel<<<1, threads, 0, stream>>>(device_view(l), bad);
}

template <class R>
void launch_choose_scale(cudaStream_t stream, std::span<const R* const> values, R* scale,
                         bool power_of_four) {
  std::size_t done = 0;
  do {
    Pointers<R> pointers;
    const std::size_t count = std::min<std::size_t>(batch, values.size() - done);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(done), count, pointers.p);
    choose_scale_kernel<<<1, 32, 0, stream>>>(pointers, static_cast<int>(count), done == 0,
                                              done + count == values.size(), power_of_four, scale);
    done += count;
  } while (done < values.size());
}

template <class T>
void launch_copy(cudaStream_t stream, MatrixView<const T> source, Op op, const RealOf<T>* scale,
                 MatrixView<T> destination, Index row0, Index col0) {
  if (destination.rows == 0 || destination.cols == 0) return;
  const auto out = device_view(destination);
  const auto* const in = device_cast(source.data);
  constexpr Index most = 65535;
  if (op == Op::none) {
    const dim3 grid(blocks_for(out.rows, threads), blocks_for(out.cols, copy_columns, most));
    copy_kernel<<<grid, threads, 0, stream>>>(in, source.ld, scale, out, col0 - row0);
  } else {
    const dim3 grid(blocks_for(out.rows, square), blocks_for(out.cols, square, most));
    const dim3 block(square, threads / square);
    copy_adjoint_kernel<<<grid, block, 0, stream>>>(in, source.ld, scale, out, col0 - row0);
  }
}

template <class T>
void launch_copy_cyclic(cudaStream_t stream, MatrixView<const T> source, const CyclicIndices& rows,
                        const CyclicIndices& cols, MatrixView<T> destination) {
  if (destination.rows == 0 || destination.cols == 0) return;
  const dim3 grid(blocks_for(destination.rows, threads), blocks_for(destination.cols, copy_columns, 65535));
  copy_cyclic_kernel<<<grid, threads, 0, stream>>>(device_view(source), rows, cols, device_view(destination));
}

template <class R>
void launch_divide_by(cudaStream_t stream, const R* values, const R* scale, Index count, R* out) {
  if (count == 0) return;
  divide_by_kernel<<<blocks_for(count, threads), threads, 0, stream>>>(values, scale, count, out);
}

template <class T>
void launch_scale_by_root(cudaStream_t stream, const RealOf<T>* scale, MatrixView<T> x) {
  if (x.rows == 0 || x.cols == 0) return;
  const dim3 grid(blocks_for(x.rows, threads), blocks_for(x.cols, 4, 65535));
  scale_by_root_kernel<<<grid, threads, 0, stream>>>(scale, device_view(x));
}

template <class T>
void launch_normalise_columns(cudaStream_t stream, MatrixView<T> x) {
  if (x.rows == 0 || x.cols == 0) return;
  normalise_columns_kernel<<<static_cast<unsigned>(x.cols), threads, 0, stream>>>(device_view(x));
}

#define TESSERA_INSTANTIATE(T)                                                                         \
  template void launch_max_abs<T>(cudaStream_t, MatrixView<const T>, Uplo, Index, Index, RealOf<T>*,   \
                                  long long*);                                                         \
  template void launch_check_diagonal<T>(cudaStream_t, MatrixView<const T>, long long*);               \
  template void launch_copy<T>(cudaStream_t, MatrixView<const T>, Op, const RealOf<T>*, MatrixView<T>, \
                               Index, Index);                                                          \
  template void launch_copy_cyclic<T>(cudaStream_t, MatrixView<const T>, const CyclicIndices&,         \
                                      const CyclicIndices&, MatrixView<T>);                            \
  template void launch_scale_by_root<T>(cudaStream_t, const RealOf<T>*, MatrixView<T>);                \
  template void launch_normalise_columns<T>(cudaStream_t, MatrixView<T>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#define TESSERA_INSTANTIATE_REAL(R)                                                        \
  template void launch_choose_scale<R>(cudaStream_t, std::span<const R* const>, R*, bool); \
  template void launch_divide_by<R>(cudaStream_t, const R*, const R*, Index, R*);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE_REAL)

}  // namespace tessera::detail::device

namespace tessera::detail {

template <class T>
void run(const DeviceContext& on, const MaxAbs<T>& task) {
  DeviceFailure failure(on, StatusCode::not_finite);
  device::launch_max_abs<T>(on.stream, *task.tile, task.uplo, task.row0, task.col0, task.out.view().data(),
                            failure.index());
  failure.report(task.col0);
}

template <class T>
void run(const DeviceContext& on, const CheckDiagonal<T>& task) {
  DeviceFailure failure(on, StatusCode::not_positive_definite);
  device::launch_check_diagonal<T>(on.stream, *task.l, failure.index());
  failure.report(task.first_row);
}

template <class R>
void run(const DeviceContext& on, const ChooseScale<R>& task) {
  std::vector<const R*> values;
  for (int k = 0; k < task.values.size(); ++k) values.push_back(task.values[k].data());
  device::launch_choose_scale<R>(on.stream, values, task.scale.view().data(), task.power_of_four);
}

void run(const DeviceContext& on, const CopyBytes& task) {
  const auto source = *task.source;
  cudaMemcpyAsync(task.destination.view().data(), source.data(), source.size(), cudaMemcpyDeviceToDevice,
                  on.stream);
}

template <class T>
void run(const DeviceContext& on, const CopyTile<T>& task) {
  device::launch_copy<T>(on.stream, task.from.of(*task.source), task.op, task.scale.view().data(),
                         task.to.of(*task.destination), task.row0, task.col0);
}

template <class T>
void run(const DeviceContext& on, const CopyCyclic<T>& task) {
  device::launch_copy_cyclic<T>(on.stream, *task.source, task.rows, task.cols, task.to.of(*task.destination));
}

template <class R>
void run(const DeviceContext& on, const ExportValues<R>& task) {
  device::launch_divide_by<R>(on.stream, task.values.view().data() + task.first, task.scale.view().data(),
                              task.count, task.out.view().data());
}

template <class R>
void run(const DeviceContext& on, const DivideScales<R>& task) {
  device::launch_divide_by<R>(on.stream, task.a.view().data(), task.b.view().data(), 1,
                              task.quotient.view().data());
}

template <class T>
void run(const DeviceContext& on, const ScaleByRoot<T>& task) {
  device::launch_scale_by_root<T>(on.stream, task.scale.view().data(), *task.x);
}

template <class T>
void run(const DeviceContext& on, const NormaliseColumns<T>& task) {
  device::launch_normalise_columns<T>(on.stream, *task.x);
}

TESSERA_DEFINE_ON_GPU(CopyBytes)
#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_ON_GPU(MaxAbs<T>)        \
  TESSERA_DEFINE_ON_GPU(CheckDiagonal<T>) \
  TESSERA_DEFINE_ON_GPU(CopyTile<T>)      \
  TESSERA_DEFINE_ON_GPU(CopyCyclic<T>)    \
  TESSERA_DEFINE_ON_GPU(ScaleByRoot<T>)   \
  TESSERA_DEFINE_ON_GPU(NormaliseColumns<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#define TESSERA_DEFINE_REAL(R)           \
  TESSERA_DEFINE_ON_GPU(ChooseScale<R>)  \
  TESSERA_DEFINE_ON_GPU(ExportValues<R>) \
  TESSERA_DEFINE_ON_GPU(DivideScales<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE_REAL)

}  // namespace tessera::detail
