// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_scalar.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/density/submatrix_steps.hpp>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int threads = 256, in_block = threads / 32;  ///< and warps of a thread block

template <class To, class From>
__device__ To in_precision(From x) {
  if constexpr (is_complex_scalar<From>)
    return {Real<To>(x.re), Real<To>(x.im)};
  else
    return To(x);
}

// ---- gather -------------------------------------------------------------------------------------------------------

/// A thread block takes a column of blocks of a submatrix, a warp a block of it.
template <class S, class X>
__global__ void __launch_bounds__(threads)
    gather_kernel(const Index* begins, const ColumnBlock* blocks, const S* values,
                  const SubmatrixMember* members, Index place_count, const SubmatrixPlace* places, X* x,
                  Index ldx, Index cols) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (Index p = blockIdx.x; p < place_count; p += gridDim.x) {
    const SubmatrixPlace column = places[p];
    const SubmatrixMember member = members[column.matrix];
    X* const to = x + (Index(column.matrix) * cols + column.first) * ldx;
    for (Index k = begins[column.block] + warp; k < begins[column.block + 1]; k += in_block) {
      const ColumnBlock block = blocks[k];
      Index low = member.first_place, high = member.end_place;
      while (low < high) {
        const Index middle = (low + high) / 2;
        if (places[middle].block < block.row)
          low = middle + 1;
        else
          high = middle;
      }
      if (low == member.end_place || places[low].block != block.row) continue;
      const Index first = places[low].first;
      for (int e = lane; e < block.rows * column.size; e += 32)
        to[first + e % block.rows + Index(e / block.rows) * ldx] = in_precision<X>(values[block.element + e]);
    }
  }
}

template <class X>
__global__ void __launch_bounds__(threads)
    padding_kernel(const SubmatrixMember* members, X* x, Index rows, Index ldx, Index cols, double padding) {
  const Index m = blockIdx.x;
  for (Index i = members[m].order + threadIdx.x; i < rows; i += threads)
    x[i + (m * cols + i) * ldx] = X(Real<X>(padding));
}

// ---- Lanczos ------------------------------------------------------------------------------------------------------

template <class X>
__device__ double squared_modulus(X x) {
  return double(real(x)) * double(real(x)) + double(imag(x)) * double(imag(x));
}
__device__ double sum_of_threads(double x) {
  __shared__ double parts[in_block];
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

/// The first vector of each matrix, of norm 1; what was before it is zero.
template <class X>
__global__ void __launch_bounds__(threads) start_kernel(Index n, X* v, X* before, double* last) {
  v += Index(blockIdx.x) * n, before += Index(blockIdx.x) * n;
  double square = 0;
  for (Index i = threadIdx.x; i < n; i += threads) {
    v[i] = X(Real<X>(submatrix_start(i)));
    before[i] = X(0);
    square += squared_modulus(v[i]);
  }
  const auto scale = Real<X>(1 / sqrt(sum_of_threads(square)));
  for (Index i = threadIdx.x; i < n; i += threads) v[i] = scale * v[i];
  if (threadIdx.x == 0) last[blockIdx.x] = 0;
}

/// w := A v; a warp takes a column of A, which is its row's conjugate.
template <class X>
__global__ void __launch_bounds__(threads) apply_kernel(MatrixView<const X> a, Index n, const X* v, X* w) {
  a.data += Index(blockIdx.y) * n * a.ld;
  v += Index(blockIdx.y) * n, w += Index(blockIdx.y) * n;
  const Index j = Index(blockIdx.x) * in_block + threadIdx.x / 32;
  if (j >= n) return;
  X sum(0);
  for (Index i = threadIdx.x % 32; i < n; i += 32) sum += conj(a.data[i + j * a.ld]) * v[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) w[j] = sum;
}

/// The coefficients of a step, and the next vector in place of the one before.
template <class X>
__global__ void __launch_bounds__(threads)
    recurrence_kernel(Index n, X* v, X* before, const X* w, double* last, double* tridiagonal, Index step,
                      Index steps) {
  const Index m = blockIdx.x;
  v += m * n, before += m * n, w += m * n;
  double dot = 0, square = 0;
  for (Index i = threadIdx.x; i < n; i += threads) dot += double(real(conj(v[i]) * w[i]));
  dot = sum_of_threads(dot);
  const double beside = last[m];
  for (Index i = threadIdx.x; i < n; i += threads) {
    const X next = w[i] - (Real<X>(dot) * v[i] + Real<X>(beside) * before[i]);
    before[i] = next;
    square += squared_modulus(next);
  }
  const double norm = sqrt(sum_of_threads(square));
  const auto scale = Real<X>(norm > 0 ? 1 / norm : 0);
  for (Index i = threadIdx.x; i < n; i += threads) {
    const X next = scale * before[i];
    before[i] = v[i];
    v[i] = next;
  }
  if (threadIdx.x != 0) return;
  last[m] = norm;
  tridiagonal[2 * steps * m + step] = dot;
  tridiagonal[2 * steps * m + steps + step] = norm;
}

// ---- columns ------------------------------------------------------------------------------------------------------

template <class S, class X>
__global__ void __launch_bounds__(threads)
    convert_kernel(Index rows, Index cols, const S* from, Index ld, X* to) {
  for (Index j = blockIdx.y; j < cols; j += gridDim.y)
    for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < rows; i += Index(gridDim.x) * threads)
      to[i + j * rows] = in_precision<X>(from[i + j * ld]);
}

/// p := 3 p - 2 r
template <class X>
__global__ void __launch_bounds__(threads)
    mcweeny_kernel(Index rows, Index cols, X* p, Index ldp, const X* r) {
  for (Index j = blockIdx.y; j < cols; j += gridDim.y)
    for (Index i = Index(blockIdx.x) * threads + threadIdx.x; i < rows; i += Index(gridDim.x) * threads)
      p[i + j * ldp] = Real<X>(3) * p[i + j * ldp] - Real<X>(2) * r[i + j * rows];
}

dim3 grid_over(Index rows, Index cols) {
  return dim3(blocks_for(rows, threads), blocks_for(cols, 4, 65535));
}

/// Some matrices of a batch, in T.
template <class T>
struct Some {
  const T* data;
  Index ld, stride;
};

/// Products of some matrices of the batch with their columns.
template <class F, class T>
class ColumnProducts {
 public:
  ColumnProducts(const CudaContext& on, const DensityColumns<F, T>& task, T* work)
      : on_(on), task_(task), copies_(work) {
    const Index at_once = std::min(columns_at_once, task.count);
    T* const skinny = work + (std::is_same_v<F, T> ? 0 : 2 * at_once * task.n * task.n);
    for (int k = 0; k < 3; ++k) column_[k] = skinny + k * at_once * task.n * task.width;
  }
  void run(Index first, Index count) {
    const Index n = task_.n, width = task_.width;
    count_ = count;
    const MatrixView<T> p = task_.p.view().block(0, first * width, n, count * width);
    const Some<T> x = in_t(*task_.x, first, 0);
    const auto [u, v, r] = column_;
    const auto column = [&](T* c) { return Some<T>{c, n, n * width}; };
    const Some<T> wanted{p.data, p.ld, p.ld * width};
    const T* last = v;
    if (!task_.z) {
      times(x, x, p.data, p.ld);
      times(x, wanted, v, n);
    } else {
      const Some<T> z = in_t(*task_.z, first, 1);
      const auto s_view = *task_.s;
      const Some<T> s{s_view.data + first * n * s_view.ld, s_view.ld, n * s_view.ld};
      const auto times_q = [&](T* from, T* between, T* to, Index ld) {
        times(z, column(from), between, n);
        times(x, column(between), from, n);
        times(z, column(from), to, ld);
      };
      times(x, z, u, n);
      times(z, column(u), v, n);
      times(s, column(v), u, n);
      times_q(u, v, p.data, p.ld);
      times(s, wanted, u, n);
      times_q(u, v, r, n);
      last = r;
    }
    mcweeny_kernel<<<grid_over(n, p.cols), threads, 0, on_.stream>>>(n, p.cols, device_cast(p.data), p.ld,
                                                                     device_cast(last));
  }

 private:
  Some<T> in_t(MatrixView<const F> batch, Index first, Index copy) const {
    const Index n = task_.n;
    const F* const from = batch.data + first * n * batch.ld;
    if constexpr (std::is_same_v<F, T>) {
      return {from, batch.ld, n * batch.ld};
    } else {
      T* const to = copies_ + copy * std::min(columns_at_once, task_.count) * n * n;
      convert_kernel<<<grid_over(n, n * count_), threads, 0, on_.stream>>>(n, n * count_, device_cast(from),
                                                                           batch.ld, device_cast(to));
      return {to, n, n * n};
    }
  }
  void times(const Some<T>& factor, const Some<T>& from, T* to, Index ld) const {
    cublas::gemm_strided_batched<T>(on_.cublas, Op::none, Op::none, task_.n, task_.width, task_.n, T(1),
                                    factor.data, factor.ld, factor.stride, from.data, from.ld, from.stride,
                                    T(0), to, ld, ld * task_.width, count_);
  }
  const CudaContext& on_;
  const DensityColumns<F, T>& task_;
  T* const copies_;
  std::array<T*, 3> column_;
  Index count_ = 0;
};

}  // namespace

template <class S, class T>
void run(const DeviceContext& on, const GatherSubmatrices<S, T>& task) {
  const MatrixView<T> x = *task.x;
  const Index cols = x.cols / task.count;
  const auto places = *task.places;
  cudaMemset2DAsync(x.data, static_cast<std::size_t>(x.ld) * sizeof(T), 0,
                    static_cast<std::size_t>(x.rows) * sizeof(T), static_cast<std::size_t>(x.cols),
                    on.stream);
  gather_kernel<<<blocks_for(static_cast<Index>(places.size()), 1, full_grid), threads, 0, on.stream>>>(
      task.begins.view().data(), task.blocks.view().data(), device_cast(task.values.view().data()),
      task.members.view().data(), static_cast<Index>(places.size()), places.data(), device_cast(x.data), x.ld,
      cols);
  if (task.padding != 0)
    padding_kernel<<<static_cast<unsigned>(task.count), threads, 0, on.stream>>>(
        task.members.view().data(), device_cast(x.data), x.rows, x.ld, cols, task.padding);
}

template <class T>
void run(const DeviceContext& on, const SubmatrixLanczos<T>& task) {
  using X = DeviceScalar<T>;
  const Index n = task.n, all = n * task.count;
  const auto matrices = static_cast<unsigned>(task.count);
  auto* const last = reinterpret_cast<double*>(task.work.view().data());
  X* const v = reinterpret_cast<X*>(last + 2 * ceil_div(task.count, 2));  // at a multiple of 16 bytes
  X *const before = v + all, *const w = before + all;
  double* const tridiagonal = task.tridiagonal.view().data();
  start_kernel<<<matrices, threads, 0, on.stream>>>(n, v, before, last);
  for (Index step = 0; step < task.steps; ++step) {
    apply_kernel<<<dim3(blocks_for(n, in_block), matrices), threads, 0, on.stream>>>(device_view(*task.x), n,
                                                                                     v, w);
    recurrence_kernel<<<matrices, threads, 0, on.stream>>>(n, v, before, w, last, tridiagonal, step,
                                                           task.steps);
  }
}

template <class F, class T>
void run(const DeviceContext& on, const DensityColumns<F, T>& task) {
  ColumnProducts<F, T> products(on, task, reinterpret_cast<T*>(task.work.view().data()));
  for (Index first = 0; first < task.count; first += columns_at_once)
    products.run(first, std::min(columns_at_once, task.count - first));
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(SubmatrixLanczos<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)
#undef TESSERA_DEFINE
#define TESSERA_DEFINE_ITERATES(F, T) \
  TESSERA_DEFINE_ON_GPU(DensityColumns<F, T>) TESSERA_DEFINE_ON_GPU(GatherSubmatrices<T, F>)
TESSERA_FOR_ITERATES(TESSERA_DEFINE_ITERATES)

}  // namespace tessera::detail
