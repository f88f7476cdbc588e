// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/vectors/multiply_vectors.hpp>
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace kernels {

template <class T>
void add_block_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x,
                       Index ldx, T* y, Index ldy) noexcept {
  TESSERA_DISPATCH(cpu_level(), add_block_product<T>(m, n, b, conjugated, factor, width, x, ldx, y, ldy));
}

template <class T>
void add_image_product(Index m, Index n, const T* b, bool conjugated, T factor, Index width, const T* x,
                       Index ldx, T* y, Index ldy) noexcept {
  TESSERA_DISPATCH(cpu_level(), add_image_product<T>(m, n, b, conjugated, factor, width, x, ldx, y, ldy));
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template void add_block_product<T>(Index, Index, const T*, bool, T, Index, const T*, Index, T*, \
                                     Index) noexcept;                                             \
  template void add_image_product<T>(Index, Index, const T*, bool, T, Index, const T*, Index, T*, \
                                     Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace kernels

namespace {

/// BLAS pays where a block is used for several vectors and has at least so many elements.
constexpr Index least_width = 4, least_elements = 256;

template <class T>
T sign_of(const VectorFactor& factor) {
  return factor.negative ? T(-1) : T(1);
}

/// y += P x for one block; rows and columns of the vectors are those of the panel.
template <class T>
void add_straight(const PanelTimesVectors<T>& task, const PanelBlock& block, BlockLines at, const T* b) {
  const Index m = block.rows, n = block.cols;
  const T* const x = task.x.view().data() + at.col;
  T* const y = task.y.view().data() + at.row;
  const bool conjugated = is_complex<T> && task.straight.conjugated;
  if (task.width >= least_width && m * n >= least_elements && !conjugated)
    blas::gemm<T>(Op::none, Op::none, m, task.width, n, sign_of<T>(task.straight), b, m, x, task.cols, T(1),
                  y, task.rows);
  else
    kernels::add_block_product<T>(m, n, b, conjugated, sign_of<T>(task.straight), task.width, x, task.cols, y,
                                  task.rows);
}

template <class T>
void add_image(const PanelTimesVectors<T>& task, const PanelBlock& block, BlockLines at, const T* b) {
  const Index m = block.rows, n = block.cols;
  const T* const x = task.x_image.view().data() + at.row;
  T* const y = task.y_image.view().data() + at.col;
  const bool conjugated = is_complex<T> && task.image.conjugated;
  if (task.width >= least_width && m * n >= least_elements)
    blas::gemm<T>(conjugated ? Op::adjoint : Op::transpose, Op::none, n, task.width, m,
                  sign_of<T>(task.image), b, m, x, task.rows, T(1), y, task.cols);
  else
    kernels::add_image_product<T>(m, n, b, conjugated, sign_of<T>(task.image), task.width, x, task.rows, y,
                                  task.cols);
}

template <class T>
void set_zero(const Write<Array<T>>& y) {
  if (!y) return;
  const auto all = *y;
  std::fill(all.begin(), all.end(), T(0));
}

}  // namespace

template <class T>
void run(const HostContext&, const PanelTimesVectors<T>& task) {
  const auto blocks = *task.blocks;
  const auto lines = *task.lines;
  const T* const values = task.values.view().data();
  set_zero<T>(task.y);
  set_zero<T>(task.y_image);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].rows == 0 || blocks[b].cols == 0) continue;
    const T* const block = values + blocks[b].offset;
    if (task.straight.takes(blocks[b])) add_straight(task, blocks[b], lines[b], block);
    if (task.image.takes(blocks[b])) add_image(task, blocks[b], lines[b], block);
  }
}

template <class T>
void run(const HostContext&, const SumParts<T>& task) {
  const auto y = *task.y;
  const T alpha = task.alpha, beta = task.beta;
  if (task.y.first() || beta == T(0))
    std::fill(y.begin(), y.end(), T(0));
  else if (beta != T(1))
    for (T& element : y) element *= beta;
  // A chunk of y stays in the cache while the parts are added to it.
  constexpr std::size_t chunk = 1024;
  for (std::size_t first = 0; first < y.size(); first += chunk) {
    const std::size_t end = std::min(y.size(), first + chunk);
    for (int p = 0; p < task.parts.size(); ++p) {
      const auto part = task.parts[p];
      for (std::size_t i = first; i < end; ++i) y[i] += alpha * part[i];
    }
  }
}

#define TESSERA_DEFINE(T)                   \
  TESSERA_DEFINE_TASK(PanelTimesVectors<T>) \
  TESSERA_DEFINE_TASK(SumParts<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
