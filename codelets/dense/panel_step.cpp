// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/blas.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/panel_step_arguments.hpp>

namespace tessera {
namespace {

using namespace panel_step_codelets;

/// C := alpha op(A) op(B) + beta C.
template <class T>
void multiply(T alpha, Op op_a, MatrixView<T> a, Op op_b, MatrixView<T> b, T beta, MatrixView<T> c) {
  const Index depth = op_a == Op::none ? a.cols : a.rows;
  if (c.rows == 0 || c.cols == 0 || depth == 0) return;
  blas::gemm(op_a, op_b, c.rows, c.cols, depth, alpha, a.data, a.ld, b.data, b.ld, beta, c.data, c.ld);
}

template <class T>
void copy(MatrixView<T> from, MatrixView<T> to) {
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

template <class T>
void form_z(const StepSpace<T>& space, const PanelStep& s, MatrixView<T> vz, MatrixView<T> w,
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

template <class T>
void panel_step_task(const TaskContext&, TaskBuffers buffers, const StepArguments& arguments) {
  const PanelStep& s = arguments.step;
  const auto a = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  const Index c = s.column, r = c + s.b, width = std::min(s.b, s.n - c);
  if (s.done > 0) {
    const auto part = a.block(c, c, s.n - c, width);
    const auto half = [&](Index column, Index rows) { return vz.block(c, column, rows, s.done); };
    multiply<T>(-1, Op::none, half(0, part.rows), Op::adjoint, half(s.kb, width), 1, part);
    multiply<T>(-1, Op::none, half(s.kb, part.rows), Op::adjoint, half(0, width), 1, part);
  }
  copy_to_band<T>(a.block(c, c, width, width), s.b, c, c, arguments.first_col, segment);
  if (s.last()) return;

  const Index m = s.n - r;
  const auto t = buffers.matrix<T>(4), p = a.block(r, c, m, s.b), v = vz.block(r, s.done, m, s.b),
             w = space.w.block(r, 0, m, s.b), y = space.y.block(r, 0, m, s.b);
  T* const work = static_cast<T*>(space.panel);
  copy(p, v);
  kernels::householder_panel<T>(v, t, space.factor.band(), work, work + s.b);
  copy(v, p);
  copy_to_band<T>(space.factor.band().block(0, 0, std::min(s.b, m), s.b), s.b, r, c, arguments.first_col,
                  segment);
  copy(v, w);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, m, s.b, T(1), t.data, t.ld, w.data, w.ld);
  const auto trailing = a.block(r, r, m, m);
  blas::hemm<T>(Side::left, Uplo::lower, m, s.b, T(1), trailing.data, trailing.ld, w.data, w.ld, T(0), y.data,
                y.ld);
  form_z<T>(space, s, vz.block(r, 0, m, 2 * s.kb), w, y);
}
template <class T>
Codelet panel_step_codelet = make_codelet<StepArguments, panel_step_task<T>>("panel_step", type_letter<T>);

}  // namespace

template <class T>
void insert_panel_step(Sequence& sequence, int priority, const PanelStep& step, const Data& a, const Data& vz,
                       const Data& segment, Index first_col, const Data* t, const Data& workspace) {
  std::vector<Access> accesses{read_write(a), step.done == 0 ? write(vz) : read_write(vz),
                               read_write(segment), scratch(workspace)};
  if (!step.last()) accesses.push_back(write(*t));
  const double m = double(std::max<Index>(step.n - step.column - step.b, 0)), b = double(step.b);
  sequence.insert(
      panel_step_codelet<T>, StepArguments{step, first_col},
      {.priority = priority, .flops = flop_factor<T> * m * b * (2 * m + 12 * double(step.done) + 9 * b)},
      std::span<const Access>(accesses));
}

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb) {
  return StepSpace<T>::bytes(n, b, kb) + panel_workspace_bytes<T>(std::max(n, 2 * b), b);
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void insert_panel_step<T>(Sequence&, int, const PanelStep&, const Data&, const Data&, \
                                     const Data&, Index, const Data*, const Data&);              \
  template std::size_t panel_step_workspace_bytes<T>(Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
