// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bodies of block_reflector.hpp that CPUs and GPUs share, and their steps on plain memory.
#pragma once

#include <span>
#include <vector>

#include <tessera/codelets/dense/block_reflector.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

// On a CPU copies and a triangular update column block by column block; on a GPU kernels, and products of all
// pairs of neighbouring factors in one batch: block_reflector.cpp, block_reflector.cu.

/// V := the pieces below each other; column j is zero above row (j / b + 1) b.
template <class T>
void gather_reflectors(const HostContext& on, std::span<const MatrixView<const T>> pieces, Index b,
                       MatrixView<T> v) noexcept;
template <class T>
void gather_reflectors(const CudaContext& on, std::span<const MatrixView<const T>> pieces, Index b,
                       MatrixView<T> v) noexcept;

/// T := the factor of all columns of V, zero below the diagonal, from the factors of its panels of b columns.
template <class T>
void merge_t(const HostContext& on, std::span<const MatrixView<const T>> v,
             std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept;
template <class T>
void merge_t(const CudaContext& on, std::span<const MatrixView<const T>> v,
             std::span<const MatrixView<const T>> t_panels, Index b, MatrixView<T> t) noexcept;

/// C := (I - V T V^H) C, T zero below the diagonal; V in pieces (a span or a ReadAll); workspace of 2 k x
/// (columns of C); `split`: space for products by split operands, or none.
template <class T, class Context, class Pieces>
void apply_block_reflector(const Context& on, const Pieces& v, MatrixView<const T> t, T* workspace,
                           std::span<char> split, MatrixView<T> c) {
  const Index k = t.cols;
  const auto count = static_cast<int>(v.size());
  if (k == 0) return;
  MatrixView<T> w{workspace, k, c.cols, k};
  Index row = 0;
  for (int p = 0; p < count; ++p) {
    const MatrixView<const T> piece = v[p];
    gemm_or_split<T>(on, Op::adjoint, Op::none, 1, piece, c.block(row, 0, piece.rows, c.cols), p == 0 ? 0 : 1,
                     w, split);
    row += piece.rows;
  }
  if constexpr (on_host<Context>) {
    la::trmm(on, Side::left, Uplo::upper, Op::none, Diag::non_unit, 1, t, w);
  } else {  // cuBLAS' triangular product is much slower than its general one
    const MatrixView<T> t_w{workspace + k * c.cols, k, c.cols, k};
    gemm_or_split<T>(on, Op::none, Op::none, 1, t, w, 0, t_w, split);
    w = t_w;
  }
  row = 0;
  for (int p = 0; p < count; ++p) {
    const MatrixView<const T> piece = v[p];
    gemm_or_split<T>(on, Op::none, Op::none, -1, piece, w, 1, c.block(row, 0, piece.rows, c.cols), split);
    row += piece.rows;
  }
}

/// X_k := L_kk^-H X_k, X_i := X_i - L_ki^H X_k for the rows X_i = rows [i tile, ...) of X.
template <class T, class Context, class Tiles>
void solve_adjoint_row(const Context& on, const Tiles& l_row, Index tile, MatrixView<T> x) {
  const auto last = static_cast<int>(l_row.size()) - 1;  // index of L_kk
  const MatrixView<const T> diagonal = l_row[last];
  const auto x_k = x.block(last * tile, 0, diagonal.rows, x.cols);
  la::trsm(on, Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, 1, diagonal, x_k);
  for (int i = 0; i < last; ++i) {
    const MatrixView<const T> l = l_row[i];
    la::gemm(on, Op::adjoint, Op::none, -1, l, x_k, 1, x.block(i * tile, 0, l.cols, x.cols));
  }
}

template <class T, class Context>
void run(const Context& on, const GatherReflectors<T>& task) {
  const auto v = *task.v;
  auto pieces = views_of(task.tiles);
  for (auto& piece : pieces) {
    const Index skipped = &piece == &pieces.front() ? task.first_row : 0;
    piece = piece.block(skipped, task.first_col, piece.rows - skipped, v.cols);
  }
  gather_reflectors<T>(on, pieces, task.b, v);
}

template <class T, class Context>
void run(const Context& on, const MergeT<T>& task) {
  std::vector<MatrixView<const T>> factors;
  for (const auto& piece : views_of(task.t_panels))
    for (Index column = 0; column + task.b <= piece.cols; column += task.b)
      factors.push_back(piece.block(0, column, task.b, task.b));
  const std::span<const MatrixView<const T>> all(factors);
  merge_t<T>(on, views_of(task.v),
             all.subspan(static_cast<std::size_t>(task.first), static_cast<std::size_t>(task.k / task.b)),
             task.b, *task.t);
}

template <class T, class Context>
void run(const Context& on, const ApplyBlockReflector<T>& task) {
  const auto slab = *task.c;
  apply_block_reflector<T>(on, task.v, *task.t, task.work.view().data(), task.split.view(),
                           slab.block(task.first_row, 0, task.rows, slab.cols));
}

template <class T, class Context>
void run(const Context& on, const SolveAdjointRow<T>& task) {
  solve_adjoint_row<T>(on, task.l_row, task.tile, *task.x);
}

}  // namespace tessera::detail
