// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/kernels/hermitian_cuda.hpp>
#include <tessera/codelets/dense/kernels/tall_products_cuda.hpp>
#include <tessera/codelets/dense/kernels/two_sided_cuda.hpp>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera {
namespace {

using namespace device;
using cublas::stream_of;

constexpr int threads = 256;
/// Rows up to which launch_tall_inner_products is faster than a BLAS, whose products of float take longer
/// than those of double.
template <class T>
constexpr Index tallest_own_product = std::is_same_v<T, float> ? 16384 : 8192;

template <class T>
void copy_columns(cudaStream_t stream, Index rows, Index cols, const T* a, Index lda, T* b,
                  Index ldb) noexcept {
  cudaMemcpy2DAsync(b, static_cast<std::size_t>(ldb) * sizeof(T), a,
                    static_cast<std::size_t>(lda) * sizeof(T), static_cast<std::size_t>(rows) * sizeof(T),
                    static_cast<std::size_t>(cols), cudaMemcpyDeviceToDevice, stream);
}

template <class S>
struct Piece {
  const S* data;
  Index ld;
};
/// Pieces of one sum travel as a kernel's argument, some at a time.
constexpr int pieces_at_once = 32;
template <class S>
struct Pieces {
  Piece<S> piece[pieces_at_once];
  int count;
};
template <class T>
Pieces<DeviceScalar<T>> pieces_of(std::span<const MatrixView<const T>> views) noexcept {
  Pieces<DeviceScalar<T>> pieces{};
  pieces.count = static_cast<int>(views.size());
  for (std::size_t k = 0; k < views.size(); ++k) pieces.piece[k] = {device_cast(views[k].data), views[k].ld};
  return pieces;
}

template <class S>
__global__ void sum_parts_kernel(Pieces<S> parts, bool fresh, Index rows, Index cols, S* y, Index ldy) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols;
       e += Index(gridDim.x) * threads) {
    const Index j = e / rows, i = e - j * rows;
    S sum = fresh ? S(0) : y[i + j * ldy];
    for (int k = 0; k < parts.count; ++k) sum += parts.piece[k].data[i + j * parts.piece[k].ld];
    y[i + j * ldy] = sum;
  }
}

template <bool one_piece, class S>
__device__ S sum_of(const Pieces<S>& pieces, Index i, Index j) {
  if constexpr (one_piece) return pieces.piece[0].data[i + j * pieces.piece[0].ld];
  S sum(0);
  for (int k = 0; k < pieces.count; ++k) sum += pieces.piece[k].data[i + j * pieces.piece[k].ld];
  return sum;
}

/// The first blocks sum V^H W and Z^H W. Each warp of the others makes 2 x 2 entries of
///   1/2 (W^H Y - M - M^H),  M = (V^H W)^H (Z^H W),
/// the lanes along the `done` rows.
template <bool one_piece, class S>
__global__ void __launch_bounds__(threads)
    inner_sum_kernel(Pieces<S> pieces, Index done, Index kb, Index b, S* d, Index ldd, unsigned sum_blocks) {
  if (blockIdx.x < sum_blocks) {
    for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < 2 * done * b;
         e += Index(sum_blocks) * threads) {
      const Index j = e / (2 * done), k = e - j * 2 * done, i = k < done ? k : k - done + kb;
      d[i + j * ldd] = sum_of<one_piece>(pieces, i, j);
    }
    return;
  }
  const Index warp = (blockIdx.x - sum_blocks) * Index(threads / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const Index pairs = (b + 1) / 2;
  if (warp >= pairs * pairs) return;
  const Index i0 = warp % pairs * 2, j0 = warp / pairs * 2;
  S m[2][2] = {{S(0), S(0)}, {S(0), S(0)}};
#pragma unroll(sizeof(S) > 8 ? 2 : 4)
  for (Index p = lane; p < done; p += 32) {
    S v_i[2], z_i[2], v_j[2], z_j[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const Index i = min(i0 + q, b - 1), j = min(j0 + q, b - 1);
      v_i[q] = conj(sum_of<one_piece>(pieces, p, i)), z_i[q] = conj(sum_of<one_piece>(pieces, kb + p, i));
      v_j[q] = sum_of<one_piece>(pieces, p, j), z_j[q] = sum_of<one_piece>(pieces, kb + p, j);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int q = 0; q < 2; ++q) m[r][q] += v_i[r] * z_j[q] + z_i[r] * v_j[q];
  }
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const S sum = warp_sum(m[r][q]);
      const Index i = i0 + r, j = j0 + q;
      if (lane == 0 && i < b && j < b)
        d[kb + done + i + j * ldd] = Real<S>(0.5) * (sum_of<one_piece>(pieces, 2 * kb + i, j) - sum);
    }
}

template <class S>
__global__ void set_zero_kernel(Index rows, Index cols, S* a, Index lda) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols; e += Index(gridDim.x) * threads)
    a[e % rows + e / rows * lda] = S(0);
}

template <class S>
__global__ void copy_to_band_kernel(Index rows, Index cols, const S* source, Index lds, Index b, Index shift,
                                    S* segment, Index ld) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols;
       e += Index(gridDim.x) * threads) {
    const Index j = e / rows, i = e - j * rows, offset = i - j + shift;
    if (offset >= 0 && offset <= b) segment[offset + j * ld] = source[i + j * lds];
  }
}

}  // namespace

template <class T>
void launch_hermitian_product(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> w, bool fresh,
                              MatrixView<T> y) noexcept {
  cublas::gemm<T>(handle, Op::none, Op::none, y.rows, y.cols, a.cols, T(1), a.data, a.ld, w.data, w.ld,
                  T(fresh ? 0 : 1), y.data, y.ld);
}

template <class T>
void launch_product_pair(cublasHandle_t handle, MatrixView<const T> a, MatrixView<const T> w_i,
                         MatrixView<const T> w_j, bool fresh_i, bool fresh_j, MatrixView<T> y_i,
                         MatrixView<T> y_j) noexcept {
  cublas::gemm<T>(handle, Op::none, Op::none, a.rows, y_i.cols, a.cols, T(1), a.data, a.ld, w_j.data, w_j.ld,
                  T(fresh_i ? 0 : 1), y_i.data, y_i.ld);
  cublas::gemm<T>(handle, Op::adjoint, Op::none, a.cols, y_j.cols, a.rows, T(1), a.data, a.ld, w_i.data,
                  w_i.ld, T(fresh_j ? 0 : 1), y_j.data, y_j.ld);
}

template <class T>
void launch_sum_parts(cudaStream_t stream, std::span<const MatrixView<const T>> parts, bool fresh,
                      MatrixView<T> y) noexcept {
  do {
    const auto some = parts.first(std::min<std::size_t>(parts.size(), pieces_at_once));
    parts = parts.subspan(some.size());
    if (!some.empty() || fresh)
      sum_parts_kernel<<<blocks_for(y.rows * y.cols, threads, full_grid), threads, 0, stream>>>(
          pieces_of<T>(some), fresh, y.rows, y.cols, device_cast(y.data), y.ld);
    fresh = false;
  } while (!parts.empty());
}

template <class T>
void launch_inner_products(cublasHandle_t handle, MatrixView<const T> vz, MatrixView<const T> w,
                           MatrixView<const T> y, Index done, Index kb, MatrixView<T> d) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    if (done > 0 && w.rows <= tallest_own_product<T>) {
      launch_tall_inner_products<T>(stream_of(handle), vz, w, y, done, kb, d);
      return;
    }
  }
  // Not as a batch: cuBLAS splits the long sums of a single product only.
  for (const Index first : {Index(0), kb})
    if (done > 0)
      cublas::gemm<T>(handle, Op::adjoint, Op::none, done, w.cols, w.rows, T(1), &vz(0, first), vz.ld, w.data,
                      w.ld, T(0), d.data + first, d.ld);
  cublas::gemm<T>(handle, Op::adjoint, Op::none, w.cols, w.cols, w.rows, T(1), w.data, w.ld, y.data, y.ld,
                  T(0), d.data + 2 * kb, d.ld);
}

template <class T>
void launch_inner_sum(cudaStream_t stream, std::span<const MatrixView<const T>> pieces, Index done, Index kb,
                      Index b, MatrixView<T> d) noexcept {
  // The kernel takes so many at most: more are summed where the result goes, which then is the only piece.
  // What it reads there it leaves as it is.
  const MatrixView<const T> sum = constant(d);
  if (pieces.size() > pieces_at_once) {
    launch_sum_parts<T>(stream, pieces, true, d);
    pieces = {&sum, 1};
  }
  const Index pairs = (b + 1) / 2;
  const auto sum_blocks = static_cast<unsigned>(ceil_div(2 * done * b, 4 * threads));
  const auto product_blocks = static_cast<unsigned>(ceil_div(pairs * pairs, threads / 32));
  using S = DeviceScalar<T>;
  const auto kernel = pieces.size() == 1 ? inner_sum_kernel<true, S> : inner_sum_kernel<false, S>;
  kernel<<<sum_blocks + product_blocks, threads, 0, stream>>>(pieces_of<T>(pieces), done, kb, b,
                                                              device_cast(d.data), d.ld, sum_blocks);
}

template <class T>
void launch_form_z(cublasHandle_t handle, MatrixView<const T> d, MatrixView<const T> y, Index done, Index kb,
                   MatrixView<T> vz) noexcept {
  T* z = &vz(0, kb + done);
  copy_columns<T>(stream_of(handle), y.rows, y.cols, y.data, y.ld, z, vz.ld);
  cublas::gemm<T>(handle, Op::none, Op::none, y.rows, y.cols, done + y.cols, T(-1), vz.data, vz.ld,
                  d.data + kb, d.ld, T(1), z, vz.ld);
  if (done > 0)
    cublas::gemm<T>(handle, Op::none, Op::none, y.rows, y.cols, done, T(-1), &vz(0, kb), vz.ld, d.data, d.ld,
                    T(1), z, vz.ld);
}

/// [Z V] in the workspace (ld = rows), so that V Z^H + Z V^H = [V Z] [Z V]^H.
template <class T>
void exchange(cudaStream_t stream, MatrixView<const T> vz, Index kb, T* workspace) noexcept {
  for (const Index first : {Index(0), kb})
    copy_columns<T>(stream, vz.rows, kb, &vz(0, kb - first), vz.ld, workspace + first * vz.rows, vz.rows);
}

template <class T>
void launch_subtract_pair(cublasHandle_t handle, MatrixView<const T> vz_i, MatrixView<const T> vz_j,
                          Index done, Index kb, T* workspace, MatrixView<T> c) noexcept {
  if (workspace && done == kb) {
    exchange<T>(stream_of(handle), vz_j, kb, workspace);
    cublas::gemm<T>(handle, Op::none, Op::adjoint, c.rows, c.cols, 2 * kb, T(-1), vz_i.data, vz_i.ld,
                    workspace, vz_j.rows, T(1), c.data, c.ld);
    return;
  }
  cublas::gemm<T>(handle, Op::none, Op::adjoint, c.rows, c.cols, done, T(-1), vz_i.data, vz_i.ld,
                  &vz_j(0, kb), vz_j.ld, T(1), c.data, c.ld);
  cublas::gemm<T>(handle, Op::none, Op::adjoint, c.rows, c.cols, done, T(-1), &vz_i(0, kb), vz_i.ld,
                  vz_j.data, vz_j.ld, T(1), c.data, c.ld);
}

template <class T>
void launch_hermitian_update(cublasHandle_t handle, MatrixView<const T> vz, Index done, Index kb,
                             T* workspace, MatrixView<T> c) noexcept {
  // cuBLAS' own rank-2k update is the faster one only where it is small.
  constexpr Index small = 8192;
  if (c.rows <= small) {
    cublas::her2k<T>(handle, Uplo::lower, Op::none, c.rows, done, T(-1), vz.data, vz.ld, &vz(0, kb), vz.ld, 1,
                     c.data, c.ld);
  } else if (workspace && done == kb) {
    exchange<T>(stream_of(handle), vz, kb, workspace);
    subtract_lower_product<T>(handle, c.rows, 2 * kb, vz.data, vz.ld, workspace, vz.rows, c.data, c.ld);
  } else {
    subtract_lower_product<T>(handle, c.rows, done, vz.data, vz.ld, &vz(0, kb), vz.ld, c.data, c.ld);
    subtract_lower_product<T>(handle, c.rows, done, &vz(0, kb), vz.ld, vz.data, vz.ld, c.data, c.ld);
  }
  launch_mirror_lower<T>(stream_of(handle), c.rows, c.data, c.ld);
}

template <class T>
void launch_set_zero(cudaStream_t stream, MatrixView<T> a) noexcept {
  if (a.rows * a.cols > 0)
    set_zero_kernel<<<blocks_for(a.rows * a.cols, threads, full_grid), threads, 0, stream>>>(
        a.rows, a.cols, device_cast(a.data), a.ld);
}

template <class T>
void launch_copy_to_band(cudaStream_t stream, MatrixView<const T> source, Index b, Index row0, Index col0,
                         Index first_col, MatrixView<T> segment) noexcept {
  if (source.rows * source.cols > 0)
    copy_to_band_kernel<<<blocks_for(source.rows * source.cols, threads, full_grid), threads, 0, stream>>>(
        source.rows, source.cols, device_cast(source.data), source.ld, b, row0 - col0,
        device_cast(&segment(0, col0 - first_col)), segment.ld);
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void launch_hermitian_product<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>, bool,  \
                                            MatrixView<T>) noexcept;                                         \
  template void launch_product_pair<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>,             \
                                       MatrixView<const T>, bool, bool, MatrixView<T>,                       \
                                       MatrixView<T>) noexcept;                                              \
  template void launch_sum_parts<T>(cudaStream_t, std::span<const MatrixView<const T>>, bool,                \
                                    MatrixView<T>) noexcept;                                                 \
  template void launch_inner_products<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>,           \
                                         MatrixView<const T>, Index, Index, MatrixView<T>) noexcept;         \
  template void launch_inner_sum<T>(cudaStream_t, std::span<const MatrixView<const T>>, Index, Index, Index, \
                                    MatrixView<T>) noexcept;                                                 \
  template void launch_form_z<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>, Index, Index,     \
                                 MatrixView<T>) noexcept;                                                    \
  template void launch_subtract_pair<T>(cublasHandle_t, MatrixView<const T>, MatrixView<const T>, Index,     \
                                        Index, T*, MatrixView<T>) noexcept;                                  \
  template void launch_hermitian_update<T>(cublasHandle_t, MatrixView<const T>, Index, Index, T*,            \
                                           MatrixView<T>) noexcept;                                          \
  template void launch_set_zero<T>(cudaStream_t, MatrixView<T>) noexcept;                                    \
  template void launch_copy_to_band<T>(cudaStream_t, MatrixView<const T>, Index, Index, Index, Index,        \
                                       MatrixView<T>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
