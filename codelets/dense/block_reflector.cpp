// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/dense/block_reflector.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const GatherReflectors<T>& task) {
  const auto v = *task.v;
  Index row = 0;
  for (int piece = 0; piece < task.tiles.size(); ++piece) {
    const auto tile = task.tiles[piece];
    const Index skipped = piece == 0 ? task.first_row : 0;
    blas::lacpy(Uplo::general, tile.rows - skipped, v.cols, &tile(skipped, task.first_col), tile.ld,
                &v(row, 0), v.ld);
    row += tile.rows - skipped;
  }
  for (Index j = 0; j < v.cols; ++j) std::fill_n(&v(0, j), std::min((j / task.b + 1) * task.b, v.rows), T(0));
}

template <class T>
void run(const HostContext&, const MergeT<T>& task) {
  const auto t = *task.t;
  const Index k = task.k, b = task.b;
  // T's place first holds V^H V (upper triangle); each block column is replaced from left to right.
  for (int piece = 0; piece < task.v.size(); ++piece) {
    const auto v = task.v[piece];
    blas::herk<T>(Uplo::upper, Op::adjoint, k, v.rows, 1, v.data, v.ld, piece == 0 ? 0 : 1, t.data, t.ld);
  }
  for (Index j = 0; j < k; j += b) {
    const auto t_panel = task.t_panels[static_cast<int>(j / b)];
    T* column = &t(0, j);
    blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, j, b, T(-1), t_panel.data, t_panel.ld,
               column, t.ld);
    blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, j, b, T(1), t.data, t.ld, column, t.ld);
    blas::lacpy(Uplo::general, b, b, t_panel.data, t_panel.ld, &t(j, j), t.ld);
  }
  if (k > 1) blas::laset(Uplo::lower, k - 1, k - 1, T(0), T(0), &t(1, 0), t.ld);
}

template <class T>
void run(const HostContext&, const ApplyBlockReflector<T>& task) {
  const auto t = *task.t;
  const auto slab = *task.c, c = slab.block(task.first_row, 0, task.rows, slab.cols);
  const Index k = task.k;
  T* w = task.work.view().data();
  Index row = 0;
  for (int piece = 0; piece < task.v.size(); ++piece) {
    const auto v = task.v[piece];
    blas::gemm(Op::adjoint, Op::none, k, c.cols, v.rows, T(1), v.data, v.ld, &c(row, 0), c.ld,
               T(piece == 0 ? 0 : 1), w, k);
    row += v.rows;
  }
  blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, k, c.cols, T(1), t.data, t.ld, w, k);
  row = 0;
  for (int piece = 0; piece < task.v.size(); ++piece) {
    const auto v = task.v[piece];
    blas::gemm(Op::none, Op::none, v.rows, c.cols, k, T(-1), v.data, v.ld, w, k, T(1), &c(row, 0), c.ld);
    row += v.rows;
  }
}

template <class T>
void run(const HostContext&, const SolveAdjointRow<T>& task) {
  const int last = task.l_row.size() - 1;  // index of L_kk
  const auto x = *task.x;
  T* x_k = &x(last * task.tile, 0);
  const auto diagonal = task.l_row[last];
  blas::trsm(Side::left, Uplo::lower, Op::adjoint, Diag::non_unit, task.rows, x.cols, T(1), diagonal.data,
             diagonal.ld, x_k, x.ld);
  for (int i = 0; i < last; ++i) {
    const auto l = task.l_row[i];
    blas::gemm(Op::adjoint, Op::none, l.cols, x.cols, l.rows, T(-1), l.data, l.ld, x_k, x.ld, T(1),
               &x(i * task.tile, 0), x.ld);
  }
}

#define TESSERA_DEFINE(T)                     \
  TESSERA_DEFINE_TASK(GatherReflectors<T>)    \
  TESSERA_DEFINE_TASK(MergeT<T>)              \
  TESSERA_DEFINE_TASK(ApplyBlockReflector<T>) \
  TESSERA_DEFINE_TASK(SolveAdjointRow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
