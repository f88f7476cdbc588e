// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/dense/block_reflector.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace {

using namespace device;

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

/// A kernel gets the factors of up to this many panels as an argument.
constexpr int panels_at_once = 64;
template <class S>
struct Panels {
  const S* data[panels_at_once];
  Index ld[panels_at_once];
  int count;
};

/// Writes each panel's factor to its diagonal block and zeros below it; V^H V stays above the diagonal
/// blocks.
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
/// block below the diagonal holds ((V1^H V2) T2)^H in the meantime.
template <class T>
void join(const CudaContext& on, Index first, Index n1, Index n2, Index count, Index step,
          MatrixView<T> t) noexcept {
  T* t1 = &t(first, first);
  T* t2 = &t(first + n1, first + n1);
  T* s = &t(first, first + n1);
  T* work = &t(first + n1, first);
  const Index stride = step * (t.ld + 1);
  // (S T2)^H = T2^H S^H is n2 x n1, the shape of the block below the diagonal.
  cublas::gemm_strided_batched<T>(on.cublas, Op::adjoint, Op::adjoint, n2, n1, n2, T(1), t2, t.ld, stride, s,
                                  t.ld, stride, T(0), work, t.ld, stride, count);
  cublas::gemm_strided_batched<T>(on.cublas, Op::none, Op::adjoint, n1, n2, n1, T(-1), t1, t.ld, stride, work,
                                  t.ld, stride, T(0), s, t.ld, stride, count);
}

}  // namespace

template <class T>
void gather_reflectors(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index b,
                       MatrixView<T> v) noexcept {
  Index row = 0;
  for (const auto& piece : pieces) {
    if (piece.rows * v.cols > 0)
      gather_kernel<<<blocks_for(piece.rows * v.cols, threads, full_grid), threads, 0, on.stream>>>(
          piece.rows, v.cols, device_cast(piece.data), piece.ld, row, b, device_cast(v.data), v.ld);
    row += piece.rows;
  }
}

template <class T>
void merge_t(const CudaContext& on, std::span<const MatrixView<const T>> v,
             std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept {
  const Index k = t.cols;
  if (k == 0) return;
  // All of V^H V, because cuBLAS splits long sums in a general product only.
  for (std::size_t piece = 0; piece < v.size(); ++piece)
    la::gemm(on, Op::adjoint, Op::none, 1, v[piece], v[piece], piece == 0 ? 0 : 1, t);
  for (std::size_t first = 0; first < t_panels.size(); first += panels_at_once) {
    Panels<DeviceScalar<T>> panels{};
    panels.count = static_cast<int>(std::min<std::size_t>(panels_at_once, t_panels.size() - first));
    for (int p = 0; p < panels.count; ++p) {
      panels.data[p] = device_cast(t_panels[first + p].data);
      panels.ld[p] = t_panels[first + p].ld;
    }
    place_panels_kernel<<<blocks_for(k * panels.count * b, threads, full_grid), threads, 0, on.stream>>>(
        panels, static_cast<Index>(first), b, k, device_cast(t.data), t.ld);
  }
  // Neighbouring factors are joined pairwise, T12 = -T1 (V1^H V2) T2, all pairs of a level in one batch.
  for (Index size = b; size < k; size *= 2) {
    join<T>(on, 0, size, size, k / (2 * size), 2 * size, t);
    const Index first = k / (2 * size) * 2 * size;
    if (first + size < k) join<T>(on, first, size, k - first - size, 1, 0, t);
    clear_below_kernel<<<blocks_for(k * size, threads, full_grid), threads, 0, on.stream>>>(
        size, k, device_cast(t.data), t.ld);
  }
}

#define TESSERA_DEFINE(T)                                                                             \
  template void gather_reflectors<T>(const CudaContext&, std::span<const MatrixView<const T>>, Index, \
                                     MatrixView<T>) noexcept;                                         \
  template void merge_t<T>(const CudaContext&, std::span<const MatrixView<const T>>,                  \
                           std::span<const MatrixView<const T>>, Index, MatrixView<T>) noexcept;      \
  TESSERA_DEFINE_ON_GPU(GatherReflectors<T>)                                                          \
  TESSERA_DEFINE_ON_GPU(MergeT<T>)                                                                    \
  TESSERA_DEFINE_ON_GPU(ApplyBlockReflector<T>)                                                       \
  TESSERA_DEFINE_ON_GPU(SolveAdjointRow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
