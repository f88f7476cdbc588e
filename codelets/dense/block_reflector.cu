// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/dense/block_reflector.hpp>
#include <tessera/codelets/dense/kernels/block_reflector_cuda.hpp>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {
namespace {

using namespace device;
using cublas::stream_of;

constexpr int threads = 256;

/// Rows [first_row, first_row + rows) of V from one piece.
template <class S>
__global__ void gather_kernel(Index rows, Index cols, const S* piece, Index ld, Index first_row, Index b,
                              S* v, Index ldv) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < rows * cols;
       e += Index(gridDim.x) * threads) {
    const Index j = e / rows, i = e - j * rows;
    v[first_row + i + j * ldv] = first_row + i < (j / b + 1) * b ? S(0) : piece[i + j * ld];
  }
}

/// Factors of panels travel as a kernel's argument, some at a time.
constexpr int panels_at_once = 64;
template <class S>
struct Panels {
  const S* data[panels_at_once];
  Index ld[panels_at_once];
  int count;
};

/// Block column by block column: the panel's factor on the diagonal, zeros below; above the diagonal V^H V
/// stays.
template <class S>
__global__ void place_panels_kernel(Panels<S> panels, Index first, Index b, Index k, S* t, Index ldt) {
  const Index cols = panels.count * b;
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < k * cols; e += Index(gridDim.x) * threads) {
    const Index column = e / k, i = e - column * k, j = first * b + column, p = column / b;
    if (i > j)
      t[i + j * ldt] = S(0);
    else if (i / b == j / b)
      t[i + j * ldt] = panels.data[p][i % b + (column - p * b) * panels.ld[p]];
  }
}

/// Zero in the blocks (2i + 1, 2i) of `size` rows and columns.
template <class S>
__global__ void clear_below_kernel(Index size, Index k, S* t, Index ldt) {
  for (Index e = blockIdx.x * Index(threads) + threadIdx.x; e < k * size; e += Index(gridDim.x) * threads) {
    const Index i = e % k, c = e / k, block = i / size;
    if (block % 2 == 1) t[i + ((block - 1) * size + c) * ldt] = S(0);
  }
}

/// Joins `count` pairs of factors of n1 and n2 columns, from column `first` on, `step` columns apart. The
/// place below the diagonal holds (V1^H V2) T2 for a while, transposed in shape where n1 != n2.
template <class T>
void join(cublasHandle_t handle, Index first, Index n1, Index n2, Index count, Index step,
          MatrixView<T> t) noexcept {
  T* t1 = &t(first, first);
  T* t2 = &t(first + n1, first + n1);
  T* s = &t(first, first + n1);
  T* work = &t(first + n1, first);
  const Index stride = step * (t.ld + 1);
  // (S T2)^H = T2^H S^H is n2 x n1 as the place is.
  cublas::gemm_strided_batched<T>(handle, Op::adjoint, Op::adjoint, n2, n1, n2, T(1), t2, t.ld, stride, s,
                                  t.ld, stride, T(0), work, t.ld, stride, count);
  cublas::gemm_strided_batched<T>(handle, Op::none, Op::adjoint, n1, n2, n1, T(-1), t1, t.ld, stride, work,
                                  t.ld, stride, T(0), s, t.ld, stride, count);
}

template <class T>
std::vector<MatrixView<const T>> views_of(const ReadAll<Matrix<T>>& pieces) {
  std::vector<MatrixView<const T>> views;
  for (int i = 0; i < pieces.size(); ++i) views.push_back(pieces[i]);
  return views;
}

}  // namespace

template <class T>
void launch_gather_reflectors(cudaStream_t stream, std::span<const MatrixView<const T>> pieces, Index b,
                              MatrixView<T> v) noexcept {
  Index row = 0;
  for (const auto& piece : pieces) {
    if (piece.rows * v.cols > 0)
      gather_kernel<<<blocks_for(piece.rows * v.cols, threads, full_grid), threads, 0, stream>>>(
          piece.rows, v.cols, device_cast(piece.data), piece.ld, row, b, device_cast(v.data), v.ld);
    row += piece.rows;
  }
}

template <class T>
void launch_merge_t(cublasHandle_t handle, std::span<const MatrixView<const T>> v,
                    std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept {
  const cudaStream_t stream = stream_of(handle);
  const Index k = t.cols;
  if (k == 0) return;
  // The whole of V^H V: cuBLAS splits the long sums of a general product only.
  for (std::size_t piece = 0; piece < v.size(); ++piece)
    cublas::gemm<T>(handle, Op::adjoint, Op::none, k, k, v[piece].rows, T(1), v[piece].data, v[piece].ld,
                    v[piece].data, v[piece].ld, T(piece == 0 ? 0 : 1), t.data, t.ld);
  for (std::size_t first = 0; first < t_panels.size(); first += panels_at_once) {
    Panels<DeviceScalar<T>> panels{};
    panels.count = static_cast<int>(std::min<std::size_t>(panels_at_once, t_panels.size() - first));
    for (int p = 0; p < panels.count; ++p) {
      panels.data[p] = device_cast(t_panels[first + p].data);
      panels.ld[p] = t_panels[first + p].ld;
    }
    place_panels_kernel<<<blocks_for(k * panels.count * b, threads, full_grid), threads, 0, stream>>>(
        panels, static_cast<Index>(first), b, k, device_cast(t.data), t.ld);
  }
  for (Index size = b; size < k; size *= 2) {
    join<T>(handle, 0, size, size, k / (2 * size), 2 * size, t);
    const Index first = k / (2 * size) * 2 * size;
    if (first + size < k) join<T>(handle, first, size, k - first - size, 1, 0, t);
    clear_below_kernel<<<blocks_for(k * size, threads, full_grid), threads, 0, stream>>>(
        size, k, device_cast(t.data), t.ld);
  }
}

template <class T>
void launch_apply_block_reflector(cublasHandle_t handle, std::span<const MatrixView<const T>> v,
                                  MatrixView<const T> t, T* workspace, MatrixView<T> c) noexcept {
  const Index k = t.cols;
  if (k == 0) return;
  T* w = workspace;
  T* t_w = workspace + k * c.cols;
  Index row = 0;
  for (std::size_t piece = 0; piece < v.size(); ++piece) {
    cublas::gemm<T>(handle, Op::adjoint, Op::none, k, c.cols, v[piece].rows, T(1), v[piece].data, v[piece].ld,
                    &c(row, 0), c.ld, T(piece == 0 ? 0 : 1), w, k);
    row += v[piece].rows;
  }
  cublas::gemm<T>(handle, Op::none, Op::none, k, c.cols, k, T(1), t.data, t.ld, w, k, T(0), t_w, k);
  row = 0;
  for (const auto& piece : v) {
    cublas::gemm<T>(handle, Op::none, Op::none, piece.rows, c.cols, k, T(-1), piece.data, piece.ld, t_w, k,
                    T(1), &c(row, 0), c.ld);
    row += piece.rows;
  }
}

template <class T>
void launch_solve_adjoint_row(cublasHandle_t handle, std::span<const MatrixView<const T>> l_row, Index tile,
                              MatrixView<T> x) noexcept {
  const auto last = static_cast<Index>(l_row.size()) - 1;
  const auto& diagonal = l_row.back();
  T* x_k = &x(last * tile, 0);
  cublas::trsm<T>(handle, Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, diagonal.rows, x.cols, T(1),
                  diagonal.data, diagonal.ld, x_k, x.ld);
  for (Index i = 0; i < last; ++i) {
    const auto& l = l_row[static_cast<std::size_t>(i)];
    cublas::gemm<T>(handle, Op::adjoint, Op::none, l.cols, x.cols, l.rows, T(-1), l.data, l.ld, x_k, x.ld,
                    T(1), &x(i * tile, 0), x.ld);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template void launch_gather_reflectors<T>(cudaStream_t, std::span<const MatrixView<const T>>, Index,   \
                                            MatrixView<T>) noexcept;                                     \
  template void launch_merge_t<T>(cublasHandle_t, std::span<const MatrixView<const T>>,                  \
                                  std::span<const MatrixView<const T>>, Index, MatrixView<T>) noexcept;  \
  template void launch_apply_block_reflector<T>(cublasHandle_t, std::span<const MatrixView<const T>>,    \
                                                MatrixView<const T>, T*, MatrixView<T>) noexcept;        \
  template void launch_solve_adjoint_row<T>(cublasHandle_t, std::span<const MatrixView<const T>>, Index, \
                                            MatrixView<T>) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

template <class T>
void run(const DeviceContext& on, const GatherReflectors<T>& task) {
  const auto v = *task.v;
  auto pieces = views_of(task.tiles);
  for (auto& piece : pieces) {
    const Index skipped = &piece == &pieces.front() ? task.first_row : 0;
    piece = piece.block(skipped, task.first_col, piece.rows - skipped, v.cols);
  }
  launch_gather_reflectors<T>(on.stream, pieces, task.b, v);
}

template <class T>
void run(const DeviceContext& on, const MergeT<T>& task) {
  launch_merge_t<T>(on.cublas, views_of(task.v), views_of(task.t_panels), task.b, *task.t);
}

template <class T>
void run(const DeviceContext& on, const ApplyBlockReflector<T>& task) {
  const auto slab = *task.c;
  launch_apply_block_reflector<T>(on.cublas, views_of(task.v), *task.t, task.work.view().data(),
                                  slab.block(task.first_row, 0, task.rows, slab.cols));
}

template <class T>
void run(const DeviceContext& on, const SolveAdjointRow<T>& task) {
  launch_solve_adjoint_row<T>(on.cublas, views_of(task.l_row), task.tile, *task.x);
}

#define TESSERA_DEFINE(T)                       \
  TESSERA_DEFINE_ON_GPU(GatherReflectors<T>)    \
  TESSERA_DEFINE_ON_GPU(MergeT<T>)              \
  TESSERA_DEFINE_ON_GPU(ApplyBlockReflector<T>) \
  TESSERA_DEFINE_ON_GPU(SolveAdjointRow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
