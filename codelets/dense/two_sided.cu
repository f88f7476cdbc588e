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

/// The first thread blocks sum the rows of V and Z, exchanged. Each warp of the others computes 2 x 2 entries of
///   1/2 (W^H Y - M - M^H),  M = (V^H W)^H (Z^H W),
/// the lanes along V's rows.
template <bool one_piece, class S>
__global__ void __launch_bounds__(threads)
    inner_sum_kernel(Pieces<S> pieces, Index done, Index b, S* d, Index ldd, unsigned sum_blocks) {
  if (blockIdx.x < sum_blocks) {
    for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < 2 * done * b;
         e += Index(sum_blocks) * threads) {
      const Index j = e / (2 * done), i = e - j * 2 * done;
      d[partner_column(i, b) + j * ldd] = sum_of<one_piece>(pieces, i, j);
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
    const Index v = v_column(p / b * b) + p % b, z = v + b;
    S v_i[2], z_i[2], v_j[2], z_j[2];
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const Index i = min(i0 + q, b - 1), j = min(j0 + q, b - 1);
      v_i[q] = conj(sum_of<one_piece>(pieces, v, i)), z_i[q] = conj(sum_of<one_piece>(pieces, z, i));
      v_j[q] = sum_of<one_piece>(pieces, v, j), z_j[q] = sum_of<one_piece>(pieces, z, j);
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
        d[2 * done + i + j * ldd] = Real<S>(0.5) * (sum_of<one_piece>(pieces, 2 * done + i, j) - sum);
    }
}

template <class S>
__global__ void exchange_rows_kernel(S* d, Index ldd, Index done, Index b) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < done * b; e += Index(gridDim.x) * threads) {
    const Index j = e / done, p = e - j * done, v = v_column(p / b * b) + p % b;
    S &first = d[v + j * ldd], &second = d[v + b + j * ldd];
    const S kept = first;
    first = second, second = kept;
  }
}

template <class S>
__global__ void reorder_pairs_kernel(const S* vz, Index ld, Index rows, int done, int b, bool separated,
                                     S* out, Index ld_out) {
  for (int j = blockIdx.y; j < 2 * done; j += gridDim.y) {
    const int p = j < done ? j : j - done;
    const Index v = v_column(p / b * b) + p % b,
                from = separated ? (j < done ? v : v + b) : partner_column(j, b);
    for (Index i = blockIdx.x * Index(threads) + threadIdx.x; i < rows; i += Index(gridDim.x) * threads)
      out[i + j * ld_out] = vz[i + from * ld];
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
void reorder_pairs(const CudaContext& on, MatrixView<const T> vz, Index b, PairOrder order,
                   MatrixView<T> out) noexcept {
  if (vz.rows * vz.cols == 0) return;
  const unsigned along = blocks_for(vz.rows, threads, full_grid);
  const dim3 grid(along, blocks_for(vz.cols, 1, std::max<Index>(full_grid / along, 1)));
  reorder_pairs_kernel<<<grid, threads, 0, on.stream>>>(
      device_cast(vz.data), vz.ld, vz.rows, static_cast<int>(vz.cols / 2), static_cast<int>(b),
      order == PairOrder::separated, device_cast(out.data), out.ld);
}

template <class T>
void inner_sum(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index done, Index b,
               MatrixView<T> d) noexcept {
  using S = DeviceScalar<T>;
  const Index pairs = (b + 1) / 2;
  const auto sum_blocks = static_cast<unsigned>(ceil_div(2 * done * b, 4 * threads));
  const auto product_blocks = static_cast<unsigned>(ceil_div(pairs * pairs, threads / 32));
  const auto launch = [&](std::span<const MatrixView<const T>> some, unsigned sums) {
    const auto kernel = some.size() == 1 ? inner_sum_kernel<true, S> : inner_sum_kernel<false, S>;
    kernel<<<sums + product_blocks, threads, 0, on.stream>>>(pieces_of<T>(some), done, b, device_cast(d.data),
                                                             d.ld, sums);
  };
  if (pieces.size() <= pieces_at_once) return launch(pieces, sum_blocks);
  // More pieces than a kernel takes: they are summed in D, which then is the only one, and exchanged last.
  const MatrixView<const T> sum = d;
  sum_parts<T>(on, pieces, 0, d);
  launch({&sum, 1}, 0);
  if (done > 0)
    exchange_rows_kernel<<<blocks_for(done * b, threads, full_grid), threads, 0, on.stream>>>(
        device_cast(d.data), d.ld, done, b);
}

template <class T>
void hermitian_update(const CudaContext& on, MatrixView<const T> vz, Index b, bool, T* workspace,
                      std::span<char> split, MatrixView<T> c) noexcept {
  // cuBLAS' own rank-2k update is faster for small orders only.
  constexpr Index small = 8192;
  const Index n = c.rows, done = vz.cols / 2;
  const MatrixView<T> other{workspace, n, vz.cols, n};
  const bool splits = !split.empty() && worth_splitting<T>({n, n, vz.cols}) && (splittable<T> || n >= 4096);
  const bool own = !splits && n <= small;
  reorder_pairs<T>(on, vz, b, own ? PairOrder::separated : PairOrder::exchanged, other);
  if (own)
    la::her2k(on, Uplo::lower, Op::none, -1, other.block(0, 0, n, done), other.block(0, done, n, done), 1, c);
  else if (!splits)
    subtract_lower_product<T>(on, vz, other, c);
  else if constexpr (splittable<T> || by_three_products<T>)
    split_subtract_lower_product<T>(on, vz, other, c, split);
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

#define TESSERA_INSTANTIATE(T)                                                                       \
  template void sum_parts<T>(const CudaContext&, std::span<const MatrixView<const T>>, int,          \
                             MatrixView<T>) noexcept;                                                \
  template void reorder_pairs<T>(const CudaContext&, MatrixView<const T>, Index, PairOrder,          \
                                 MatrixView<T>) noexcept;                                            \
  template void inner_sum<T>(const CudaContext&, std::span<const MatrixView<const T>>, Index, Index, \
                             MatrixView<T>) noexcept;                                                \
  template void hermitian_update<T>(const CudaContext&, MatrixView<const T>, Index, bool, T*,        \
                                    std::span<char>, MatrixView<T>) noexcept;                        \
  template void copy_to_band<T>(const CudaContext&, MatrixView<const T>, const BandPlace&,           \
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
