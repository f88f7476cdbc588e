// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/dense/column_groups.inl>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

constexpr int threads = 256;

/// The pieces as a kernel's argument.
template <class S>
struct Parts {
  const S* data[max_column_groups];  ///< by group; null: it has none
  int ld[max_column_groups];
  int first[max_column_groups];
};

/// 32 bits hold a row's group and its number there: orders are far below 2^31.
template <class S>
__global__ void collect_rows_kernel(Parts<S> parts, int groups, int block, int row, int rows, int cols, S* y,
                                    Index ldy) {
  for (int i = blockIdx.x * threads + threadIdx.x; i < rows; i += gridDim.x * threads) {
    const int number = (row + i) / block, group = number % groups;
    const int local = number / groups * block + (row + i) % block - parts.first[group];
    const S* const source = parts.data[group] + local;
    const Index ld = parts.ld[group];
    for (int j = blockIdx.y; j < cols; j += gridDim.y) y[i + j * ldy] = source[j * ld];
  }
}

constexpr int pieces_at_once = 32;
template <class S>
struct Pieces {
  const S* data[pieces_at_once];
  S* to[pieces_at_once];
  int ld[pieces_at_once], rows[pieces_at_once], cols[pieces_at_once];
};

template <class S>
__global__ void place_pieces_kernel(Pieces<S> pieces, Index ld_to) {
  const int k = blockIdx.z;
  const S* const source = pieces.data[k];
  S* const to = pieces.to[k];
  const Index ld = pieces.ld[k];
  for (int j = blockIdx.y; j < pieces.cols[k]; j += gridDim.y)
    for (int i = blockIdx.x * threads + threadIdx.x; i < pieces.rows[k]; i += gridDim.x * threads)
      to[i + j * ld_to] = source[i + j * ld];
}

template <class S>
__global__ void exchanged_rows_kernel(const S* vz, Index ld, int b, int cols, int block, int groups,
                                      int group, int first, int rows, S* out) {
  for (int i = blockIdx.x * threads + threadIdx.x; i < rows; i += gridDim.x * threads) {
    const int local = first + i;
    const S* const source = vz + (local / block * groups + group) * block + local % block;
    for (int j = blockIdx.y; j < cols; j += gridDim.y)
      out[i + static_cast<Index>(j) * rows] = source[partner_column(j, b) * ld];
  }
}

/// Thread blocks along the rows, and along the columns until they fill the GPU.
dim3 grid_of(Index rows, Index cols) noexcept {
  const unsigned along = blocks_for(rows, threads, full_grid);
  return {along, blocks_for(cols, 1, std::max<Index>(full_grid / along, 1))};
}

}  // namespace

template <class T>
void form_y(const CudaContext& on, std::span<const GroupRows<T>> parts, const CyclicColumns& columns,
            Index row, MatrixView<const T> t, MatrixView<T> a_v, MatrixView<T> y) noexcept {
  if (y.rows * y.cols == 0) return;
  using S = DeviceScalar<T>;
  Parts<S> by_group{};
  for (const auto& part : parts) {
    by_group.data[part.group] = device_cast(part.rows.data);
    by_group.ld[part.group] = static_cast<int>(part.rows.ld);
    by_group.first[part.group] = static_cast<int>(part.first);
  }
  collect_rows_kernel<<<grid_of(y.rows, y.cols), threads, 0, on.stream>>>(
      by_group, columns.groups, static_cast<int>(columns.block), static_cast<int>(row),
      static_cast<int>(y.rows), static_cast<int>(y.cols), device_cast(a_v.data), a_v.ld);
  panel_cuda::launch_times_upper<T>(on.stream, a_v, t, y);
}

template <class T>
void place_pieces(const CudaContext& on, std::span<const MatrixView<const T>> pieces,
                  std::span<const Index> first_cols, MatrixView<T> a) noexcept {
  using S = DeviceScalar<T>;
  for (std::size_t begin = 0; begin < pieces.size(); begin += pieces_at_once) {
    const std::size_t count = std::min<std::size_t>(pieces_at_once, pieces.size() - begin);
    Pieces<S> some{};
    Index rows = 0, cols = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const auto& piece = pieces[begin + k];
      some.data[k] = device_cast(piece.data);
      some.to[k] = device_cast(&a(0, first_cols[begin + k]));
      some.ld[k] = static_cast<int>(piece.ld);
      some.rows[k] = static_cast<int>(piece.rows);
      some.cols[k] = static_cast<int>(piece.cols);
      rows = std::max(rows, piece.rows);
      cols = std::max(cols, piece.cols);
    }
    if (rows * cols == 0) continue;
    dim3 grid = grid_of(rows, cols);
    grid.z = static_cast<unsigned>(count);
    place_pieces_kernel<<<grid, threads, 0, on.stream>>>(some, a.ld);
  }
}

template <class T>
void exchanged_rows(const CudaContext& on, MatrixView<const T> vz, Index b, const CyclicColumns& columns,
                    int group, Index first, MatrixView<T> out) noexcept {
  if (out.rows * out.cols == 0) return;
  exchanged_rows_kernel<<<grid_of(out.rows, out.cols), threads, 0, on.stream>>>(
      device_cast(vz.data), vz.ld, static_cast<int>(b), static_cast<int>(out.cols),
      static_cast<int>(columns.block), columns.groups, group, static_cast<int>(first),
      static_cast<int>(out.rows), device_cast(out.data));
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_ON_GPU(GroupPanel<T>)   \
  TESSERA_DEFINE_ON_GPU(GroupProduct<T>) \
  TESSERA_DEFINE_ON_GPU(GroupFormZ<T>)   \
  TESSERA_DEFINE_ON_GPU(GroupUpdate<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
