// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/codelets/dense/kernels/panel_step_space.hpp>
#include <tessera/codelets/linalg/blas.hpp>

/// The two halves of a panel step on a CPU, before and after the product A0 W: shared by panel_step.hpp and
/// column_groups.hpp.
namespace tessera::panel_steps {

/// C := alpha op(A) op(B) + beta C.
template <class T, class A, class B>
void multiply(T alpha, Op op_a, const MatrixView<A>& a, Op op_b, const MatrixView<B>& b, T beta,
              const MatrixView<T>& c) {
  const Index depth = op_a == Op::none ? a.cols : a.rows;
  if (c.rows == 0 || c.cols == 0 || depth == 0) return;
  blas::gemm(op_a, op_b, c.rows, c.cols, depth, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}

template <class T, class From>
void copy(const MatrixView<From>& from, const MatrixView<T>& to) {
  blas::lacpy(Uplo::general, from.rows, from.cols, from.data, from.ld, to.data, to.ld);
}

/// Entry (i, j) of the block is entry (row0 + i, col0 + j) of the band.
template <class T>
void copy_to_band(MatrixView<T> block, Index b, Index row0, Index col0, Index first_col,
                  MatrixView<T> segment) {
  for (Index j = 0; j < block.cols; ++j)
    for (Index i = 0; i < block.rows; ++i) {
      const Index offset = row0 + i - col0 - j;
      if (offset >= 0 && offset <= b) segment(offset, col0 + j - first_col) = block(i, j);
    }
}

/// The panel's columns, rows from its diagonal block on, brought up to date; the diagonal block to the band.
template <class T>
void bring_up_to_date(const PanelPosition& s, Index first_col, MatrixView<T> columns, MatrixView<T> vz,
                      MatrixView<T> segment) {
  const Index c = s.column, width = columns.cols;
  if (s.done > 0) {
    const auto half = [&](Index column, Index rows) { return vz.block(c, column, rows, s.done); };
    multiply<T>(-1, Op::none, half(0, columns.rows), Op::adjoint, half(s.kb, width), 1, columns);
    multiply<T>(-1, Op::none, half(s.kb, columns.rows), Op::adjoint, half(0, width), 1, columns);
  }
  copy_to_band<T>(columns.block(0, 0, width, width), s.b, c, c, first_col, segment);
}

/// QR of P, what lies below the diagonal block: V into VZ and into P's place, T, S R to the band, W = V T.
template <class T>
void factor_panel(const PanelPosition& s, Index first_col, const StepSpace<T>& space, MatrixView<T> p,
                  MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t, MatrixView<T> w) {
  const Index r = s.column + s.b;
  const auto v = vz.block(r, s.done, p.rows, s.b);
  T* const work = static_cast<T*>(space.panel);
  copy(p, v);
  kernels::householder_panel<T>(v, t, space.factor.band(), work, work + s.b);
  copy(v, p);
  copy_to_band<T>(space.factor.band().block(0, 0, std::min(s.b, p.rows), s.b), s.b, r, s.column, first_col,
                  segment);
  copy(v, w);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, p.rows, s.b, T(1), t.data, t.ld, w.data,
             w.ld);
}

/// Z from Y = A0 W, into VZ (its rows, those of W and Y, from the first reflector's on).
template <class T, class W>
void form_z(const StepSpace<T>& space, const PanelPosition& s, MatrixView<T> vz, const MatrixView<W>& w,
            MatrixView<T> y) {
  const auto v_done = vz.block(0, 0, vz.rows, s.done), z_done = vz.block(0, s.kb, vz.rows, s.done);
  const auto vw = space.d.block(0, 0, s.done, s.b), zw = space.d.block(s.kb, 0, s.done, s.b),
             half = space.d.block(2 * s.kb, 0, s.b, s.b);
  multiply<T>(1, Op::adjoint, v_done, Op::none, w, 0, vw);
  multiply<T>(1, Op::adjoint, z_done, Op::none, w, 0, zw);
  multiply<T>(T(0.5), Op::adjoint, w, Op::none, y, 0, half);
  multiply<T>(T(-0.5), Op::adjoint, vw, Op::none, zw, 1, half);
  multiply<T>(T(-0.5), Op::adjoint, zw, Op::none, vw, 1, half);
  const auto z = vz.block(0, s.kb + s.done, vz.rows, s.b);
  copy(y, z);
  multiply<T>(-1, Op::none, v_done, Op::none, zw, 1, z);
  multiply<T>(-1, Op::none, z_done, Op::none, vw, 1, z);
  multiply<T>(-1, Op::none, vz.block(0, s.done, vz.rows, s.b), Op::none, half, 1, z);
}

}  // namespace tessera::panel_steps
