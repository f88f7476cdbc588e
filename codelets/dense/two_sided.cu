// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/common/device_warp.cuh>
#include <tessera/codelets/dense/two_sided.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int threads = 256;

template <class S>
struct Piece {
  const S* data;
  Index ld;
};
/// A kernel gets up to this many pieces of a sum as an argument.
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
__global__ void sum_parts_kernel(Pieces<S> parts, int beta, Index rows, Index cols, S* y, Index ldy) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols;
       e += Index(gridDim.x) * threads) {
    const Index j = e / rows, i = e - j * rows;
    S sum = beta == 0 ? S(0) : y[i + j * ldy];
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

/// The first thread blocks sum V^H W and Z^H W. Each warp of the others computes 2 x 2 entries of
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
__global__ void copy_to_band_kernel(Index rows, Index cols, const S* source, Index lds, Index b, Index shift,
                                    S* segment, Index ld) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols;
       e += Index(gridDim.x) * threads) {
    const Index j = e / rows, i = e - j * rows, offset = i - j + shift;
    if (offset >= 0 && offset <= b) segment[offset + j * ld] = source[i + j * lds];
  }
}

/// [Z V] in the workspace (ld = rows), so that V Z^H + Z V^H = [V Z] [Z V]^H.
template <class T>
MatrixView<T> exchange(const CudaContext& on, MatrixView<const T> vz, Index kb, T* workspace) noexcept {
  const MatrixView<T> exchanged{workspace, vz.rows, 2 * kb, vz.rows};
  for (const Index first : {Index(0), kb})
    la::copy(on, vz.block(0, kb - first, vz.rows, kb), exchanged.block(0, first, vz.rows, kb));
  return exchanged;
}

}  // namespace

template <class T>
void sum_parts(const CudaContext& on, std::span<const MatrixView<const T>> parts, int beta,
               MatrixView<T> y) noexcept {
  do {
    const auto some = parts.first(std::min<std::size_t>(parts.size(), pieces_at_once));
    parts = parts.subspan(some.size());
    if (!some.empty() || beta == 0)
      sum_parts_kernel<<<blocks_for(y.rows * y.cols, threads, full_grid), threads, 0, on.stream>>>(
          pieces_of<T>(some), beta, y.rows, y.cols, device_cast(y.data), y.ld);
    beta = 1;
  } while (!parts.empty());
}

template <class T>
void inner_sum(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index kb,
               Index b, MatrixView<T> d) noexcept {
  // The kernel takes at most pieces_at_once pieces. More are first summed in D, which then is the only piece;
  // the kernel does not change the sums that it reads there.
  const MatrixView<const T> sum = d;
  if (pieces.size() > pieces_at_once) {
    sum_parts<T>(on, pieces, 0, d);
    pieces = {&sum, 1};
  }
  const Index pairs = (b + 1) / 2;
  const auto sum_blocks = static_cast<unsigned>(ceil_div(2 * done * b, 4 * threads));
  const auto product_blocks = static_cast<unsigned>(ceil_div(pairs * pairs, threads / 32));
  using S = DeviceScalar<T>;
  const auto kernel = pieces.size() == 1 ? inner_sum_kernel<true, S> : inner_sum_kernel<false, S>;
  kernel<<<sum_blocks + product_blocks, threads, 0, on.stream>>>(pieces_of<T>(pieces), done, kb, b,
                                                                 device_cast(d.data), d.ld, sum_blocks);
}

template <class T>
void launch_subtract_pair(const CudaContext& on, MatrixView<const T> vz_i, MatrixView<const T> vz_j,
                          Index done, Index kb, T* workspace, std::span<char> split,
                          MatrixView<T> c) noexcept {
  if (workspace && done == kb)
    gemm_or_split<T>(on, Op::none, Op::adjoint, -1, vz_i, exchange<T>(on, vz_j, kb, workspace), 1, c, split);
  else
    subtract_pair<T>(on, vz_i, vz_j, done, kb, c);
}

template <class T>
void launch_hermitian_update(const CudaContext& on, MatrixView<const T> vz, Index done, Index kb,
                             T* workspace, std::span<char> split, MatrixView<T> c) noexcept {
  // cuBLAS' own rank-2k update is faster for small orders only.
  constexpr Index small = 8192;
  const auto v = vz.block(0, 0, c.rows, done), z = vz.block(0, kb, c.rows, done);
  if (workspace && done == kb && !split.empty() && worth_splitting<T>({c.rows, c.rows, 2 * kb}) &&
      (splittable<T> || c.rows >= 4096)) {
    if constexpr (splittable<T> || by_three_products<T>)
      split_subtract_lower_product<T>(on, vz, exchange<T>(on, vz, kb, workspace), c, split);
  } else if (c.rows <= small) {
    la::her2k(on, Uplo::lower, Op::none, -1, v, z, 1, c);
  } else if (workspace && done == kb) {
    subtract_lower_product<T>(on, vz, exchange<T>(on, vz, kb, workspace), c);
  } else {
    subtract_lower_product<T>(on, v, z, c);
    subtract_lower_product<T>(on, z, v, c);
  }
  mirror_lower<T>(on, c);
}

template <class T>
void copy_to_band(const CudaContext& on, MatrixView<const T> source, const BandPlace& place,
                  MatrixView<T> segment) noexcept {
  const auto& [row, column, first_column, bandwidth] = place;
  if (source.rows * source.cols > 0)
    copy_to_band_kernel<<<blocks_for(source.rows * source.cols, threads, full_grid), threads, 0, on.stream>>>(
        source.rows, source.cols, device_cast(source.data), source.ld, bandwidth, row - column,
        device_cast(&segment(0, column - first_column)), segment.ld);
}

template <class T>
void run(const DeviceContext& on, const Rank2kUpdate<T>& task) {
  const TilePart& part = task.part;
  const auto vz_i = task.vz_i.view().block(part.row, 0, part.rows, 2 * task.kb);
  const auto c = part.of(*task.a);
  T* workspace = task.workspace.view().data();
  const std::span<char> split = task.split.view();
  if (task.diagonal())
    launch_hermitian_update<T>(on, vz_i, task.done, task.kb, workspace, split, c);
  else
    launch_subtract_pair<T>(on, vz_i, task.vz_j.view().block(part.col, 0, part.cols, 2 * task.kb), task.done,
                            task.kb, workspace, split, c);
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void sum_parts<T>(const CudaContext&, std::span<const MatrixView<const T>>, int,                  \
                             MatrixView<T>) noexcept;                                                        \
  template void inner_sum<T>(const CudaContext&, std::span<const MatrixView<const T>>, Index, Index, Index,  \
                             MatrixView<T>) noexcept;                                                        \
  template void launch_subtract_pair<T>(const CudaContext&, MatrixView<const T>, MatrixView<const T>, Index, \
                                        Index, T*, std::span<char>, MatrixView<T>) noexcept;                 \
  template void launch_hermitian_update<T>(const CudaContext&, MatrixView<const T>, Index, Index, T*,        \
                                           std::span<char>, MatrixView<T>) noexcept;                         \
  template void copy_to_band<T>(const CudaContext&, MatrixView<const T>, const BandPlace&,                   \
                                MatrixView<T>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

#define TESSERA_DEFINE(T)                   \
  TESSERA_DEFINE_ON_GPU(MirrorLower<T>)     \
  TESSERA_DEFINE_ON_GPU(TwoSidedProduct<T>) \
  TESSERA_DEFINE_ON_GPU(InnerProducts<T>)   \
  TESSERA_DEFINE_ON_GPU(InnerSum<T>)        \
  TESSERA_DEFINE_ON_GPU(FormZ<T>)           \
  TESSERA_DEFINE_ON_GPU(PanelUpdate<T>)     \
  TESSERA_DEFINE_ON_GPU(Rank2kUpdate<T>)    \
  TESSERA_DEFINE_ON_GPU(SetZero<T>)         \
  TESSERA_DEFINE_ON_GPU(CopyToBand<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
