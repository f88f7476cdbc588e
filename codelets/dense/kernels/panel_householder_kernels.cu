// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cooperative_groups.h>

#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/kernels/panel_tall_kernels.cuh>

/// Householder QR of a panel by one cluster of thread blocks, column by column, for panels on which Cholesky
/// QR is not safe. The GPU schedules a cluster as a whole, so its barrier cannot block beside other kernels.
namespace tessera::detail::panel_cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int cluster_blocks = 8;
constexpr int reflection_threads = 1024;

template <class S>
struct Reflections {
  const std::int32_t* flag;
  DeviceMatrix<const S> p;
  DeviceMatrix<S> v, t, r;
  long long rows;
  int cols;
};

/// The reflection (I - tau u u^H)^H that takes (alpha, x) with |x|^2 = `tail` to (beta, 0), u = (1, x scale):
/// LAPACK larfg.
template <class W>
struct Reflection {
  double beta;
  W tau, scale;
  __device__ Reflection(W alpha, double tail) : beta(device::real(alpha)), tau(0.), scale(0.) {
    // Below this bound the squares have lost their accuracy; relative to the scaled panel they are
    // negligible.
    if (tail < 1e-280) tail = 0;
    const double imaginary = device::imag(alpha);
    if (tail == 0 && imaginary * imaginary < 1e-280) return;
    const double norm = sqrt(device::norm(alpha) + tail);
    beta = device::real(alpha) >= 0 ? -norm : norm;
    if constexpr (device::is_complex_scalar<W>)
      tau = W((beta - alpha.re) / beta, -alpha.im / beta);
    else
      tau = (beta - alpha) / beta;
    scale = reciprocal(alpha - W(beta));
  }
};

/// The power of two by which a panel is multiplied so that squares of its entries neither overflow nor
/// vanish.
template <class S>
__device__ double panel_scale(const Reflections<S>& a, long long begin, long long end, double* maximum,
                              const cg::cluster_group& cluster) {
  __shared__ double warp_maximum[reflection_threads / 32];
  double largest = 0;
  for (int j = threadIdx.x / 32; j < a.cols; j += reflection_threads / 32)
    for (long long i = begin + threadIdx.x % 32; i < end; i += 32) {
      const auto x = widen(a.p(i, j));
      largest = fmax(largest, fmax(fabs(device::real(x)), fabs(device::imag(x))));
    }
  largest = device::warp_max(largest);
  if (threadIdx.x % 32 == 0) warp_maximum[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (double x : warp_maximum) largest = fmax(largest, x);
    *maximum = largest;
  }
  cluster.sync();
  for (int rank = 0; rank < cluster_blocks; ++rank)
    largest = fmax(largest, *cluster.map_shared_rank(maximum, rank));
  cluster.sync();
  if (!(largest > 0) || !isfinite(largest) || (largest > 1e-30 && largest < 1e30)) return 1;
  return ldexp(1., -max(-1000, min(1000, ilogb(largest))));
}

template <class S>
__global__ void __cluster_dims__(cluster_blocks) __launch_bounds__(reflection_threads)
    reflections_kernel(Reflections<S> a) {
  using W = Wide<S>;
  constexpr int warps = reflection_threads / 32;
  if (a.flag && !*a.flag) return;
  const auto cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank()), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int n = a.cols, steps = static_cast<int>(min(a.rows, static_cast<long long>(n)));
  const long long chunk = (a.rows + cluster_blocks - 1) / cluster_blocks;
  const long long begin = min(a.rows, rank * chunk), end = min(a.rows, begin + chunk);
  // Two copies of each: a block may be one column ahead of blocks that still read.
  extern __shared__ double2 shared_memory[];
  W* const shared = reinterpret_cast<W*>(shared_memory);
  const auto partial = [&](int buffer) { return shared + buffer * n; };
  const auto pivot_row = [&](int buffer) { return shared + (2 + buffer) * n; };
  W *const dots = shared + 4 * n, *const pivots = shared + 5 * n;
  __shared__ double maximum;

  const double scale = panel_scale(a, begin, end, &maximum, cluster);
  for (int j = warp; j < n; j += warps)
    for (long long i = begin + lane; i < end; i += 32) a.v(i, j) = narrow<S>(widen(a.p(i, j)) * scale);
  if (rank == 0)
    for (int k = threadIdx.x; k < n * n; k += reflection_threads)
      a.t(k % n, k / n) = a.r(k % n, k / n) = S(0);
  __syncthreads();

  for (int j = 0; j < steps; ++j) {
    const int buffer = j & 1, owner = static_cast<int>(j / chunk);
    const long long first = max(begin, static_cast<long long>(j) + 1);
    // Inner products of column j with each column, below row j.
    for (int l = warp; l < n; l += warps) {
      W sum(0);
      for (long long i = first + lane; i < end; i += 32)
        sum += device::conj(widen(a.v(i, j))) * widen(a.v(i, l));
      sum = device::warp_sum(sum);
      if (lane == 0) partial(buffer)[l] = sum;
    }
    if (rank == owner)
      for (int l = threadIdx.x; l < n; l += reflection_threads) pivot_row(buffer)[l] = widen(a.v(j, l));
    cluster.sync();
    for (int l = threadIdx.x; l < n; l += reflection_threads) {
      W sum(0);
      for (int k = 0; k < cluster_blocks; ++k) sum += cluster.map_shared_rank(partial(buffer), k)[l];
      dots[l] = sum;
      pivots[l] = cluster.map_shared_rank(pivot_row(buffer), owner)[l];
    }
    __syncthreads();
    const Reflection<W> h(pivots[j], device::real(dots[j]));
    const auto weight = [&](int l) {
      return device::conj(h.tau) * (pivots[l] + device::conj(h.scale) * dots[l]);
    };
    for (int l = j + 1 + warp; l < n; l += warps) {
      const W factor = h.scale * weight(l);
      for (long long i = first + lane; i < end; i += 32)
        a.v(i, l) = narrow<S>(widen(a.v(i, l)) - widen(a.v(i, j)) * factor);
    }
    __syncthreads();
    for (long long i = first + threadIdx.x; i < end; i += reflection_threads)
      a.v(i, j) = narrow<S>(widen(a.v(i, j)) * h.scale);
    if (rank == owner)
      for (int l = j + threadIdx.x; l < n; l += reflection_threads) a.v(j, l) = S(l == j ? 1 : 0);
    if (rank == 0) {
      for (int l = j + threadIdx.x; l < n; l += reflection_threads)
        a.r(j, l) = narrow<S>((l == j ? W(h.beta) : pivots[l] - weight(l)) * (1 / scale));
      // T(0:j, j) = -tau T(0:j, 0:j) V^H v_j
      for (int i = threadIdx.x; i < j; i += reflection_threads) {
        W sum(0);
        for (int l = i; l < j; ++l)
          sum += widen(a.t(i, l)) * (device::conj(pivots[l]) + h.scale * device::conj(dots[l]));
        a.t(i, j) = narrow<S>(-(h.tau * sum));
      }
      if (threadIdx.x == 0) a.t(j, j) = narrow<S>(h.tau);
    }
    __syncthreads();
  }
  for (int j = steps + warp; j < n; j += warps)
    for (long long i = begin + lane; i < end; i += 32) a.v(i, j) = S(0);
  cluster.sync();
}

/// M := -T V1^H (upper triangular, ld = k), so that the first k columns of I - V T V^H are E + V M.
template <class S>
__global__ void thin_factor_kernel(const std::int32_t* flag, DeviceMatrix<const S> v, DeviceMatrix<const S> t,
                                   S* m, int k) {
  if (flag && !*flag) return;
  const int entry = blockIdx.x * blockDim.x + threadIdx.x, i = entry % k, j = entry / k;
  if (j >= k) return;
  Wide<S> sum(0);
  for (int l = i; l <= j; ++l) sum += widen(t(i, l)) * device::conj(widen(v(j, l)));
  m[entry] = narrow<S>(-sum);
}

}  // namespace

template <class T>
void launch_householder_reflections(cudaStream_t stream, const std::int32_t* flag, MatrixView<const T> p,
                                    MatrixView<T> v, MatrixView<T> t, MatrixView<T> r) {
  using S = device::DeviceScalar<T>;
  const int n = static_cast<int>(p.cols);
  if (n == 0) return;
  const Reflections<S> a{flag,
                         {device::device_cast(p.data), p.ld},
                         {device::device_cast(v.data), v.ld},
                         {device::device_cast(t.data), t.ld},
                         {device::device_cast(r.data), r.ld},
                         p.rows,
                         n};
  const std::size_t shared = 6 * sizeof(Wide<S>) * static_cast<std::size_t>(n);
  cudaFuncSetAttribute(reflections_kernel<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024);
  reflections_kernel<S><<<cluster_blocks, reflection_threads, shared, stream>>>(a);
}

template <class T>
void launch_thin_qr(cudaStream_t stream, const std::int32_t* flag, MatrixView<const T> a, MatrixView<T> q,
                    MatrixView<T> r, void* workspace) {
  using S = device::DeviceScalar<T>;
  const Index n = a.cols, k = std::min(a.rows, n);
  if (k == 0) return;
  T* const t = static_cast<T*>(workspace);
  S* const m = device::device_cast(t + n * n);
  launch_householder_reflections<T>(stream, flag, a, q, {t, n, n, n}, r);
  S* const columns = device::device_cast(q.data);
  thin_factor_kernel<S><<<static_cast<unsigned>(ceil_div(k * k, 128)), 128, 0, stream>>>(
      flag, {columns, q.ld}, {device::device_cast(t), n}, m, static_cast<int>(k));
  TallProduct<S> product{.flag = flag, .when = 1, .a = columns, .ld_a = q.ld, .m = m, .ld_m = k};
  product.c = columns;
  product.ld_c = q.ld;
  product.rows = q.rows;
  product.inner = product.cols = static_cast<int>(k);
  product.upper = product.plus_identity = true;
  launch_tall_product(stream, product);
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void launch_householder_reflections<T>(cudaStream_t, const std::int32_t*, MatrixView<const T>, \
                                                  MatrixView<T>, MatrixView<T>, MatrixView<T>);           \
  template void launch_thin_qr<T>(cudaStream_t, const std::int32_t*, MatrixView<const T>, MatrixView<T>,  \
                                  MatrixView<T>, void*);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail::panel_cuda
