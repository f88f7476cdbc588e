// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/dense/kernels/mirror_lower.hpp>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera {

template <class T>
void run(const HostContext&, const MirrorLower<T>& task) {
  kernels::mirror_lower(*task.a);
}

template <class T>
void run(const HostContext&, const TwoSidedProduct<T>& task) {
  const TilePart& part = task.part;
  const auto a = part.of(*task.a);
  const auto whole_w_i = *task.w_i;
  const Index b = whole_w_i.cols;
  const T beta_i(task.y_i.first() ? 0 : 1), beta_j(task.y_j.first() ? 0 : 1);
  if (task.diagonal()) {
    const auto w = whole_w_i.block(part.row, 0, part.rows, b);
    const auto y = task.y_i.view().block(part.row, 0, part.rows, b);
    blas::hemm(Side::left, Uplo::lower, y.rows, b, T(1), a.data, a.ld, w.data, w.ld, beta_i, y.data, y.ld);
    return;
  }
  const auto w_i = whole_w_i.block(part.row, 0, part.rows, b),
             w_j = task.w_j.view().block(part.col, 0, part.cols, b);
  const auto y_i = task.y_i.view().block(part.row, 0, part.rows, b),
             y_j = task.y_j.view().block(part.col, 0, part.cols, b);
  blas::gemm(Op::none, Op::none, y_i.rows, b, part.cols, T(1), a.data, a.ld, w_j.data, w_j.ld, beta_i,
             y_i.data, y_i.ld);
  blas::gemm(Op::adjoint, Op::none, y_j.rows, b, part.rows, T(1), a.data, a.ld, w_i.data, w_i.ld, beta_j,
             y_j.data, y_j.ld);
}

template <class T>
void run(const HostContext&, const InnerProducts<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  const auto vz = task.vz.view().block(row, 0, rows, 2 * kb);
  const auto w = task.w.view().block(row, 0, rows, b);
  const auto y = task.y.view().block(row, 0, rows, b);
  const auto d = *task.d;
  if (task.y.first()) blas::laset(Uplo::general, y.rows, y.cols, T(0), T(0), y.data, y.ld);
  for (int k = 0; k < task.parts.size(); ++k) {
    const auto part = task.parts[k].block(row, 0, rows, b);
    for (Index j = 0; j < y.cols; ++j) blas::axpy(y.rows, T(1), &part(0, j), 1, &y(0, j), 1);
  }
  if (done > 0) {
    blas::gemm(Op::adjoint, Op::none, done, b, rows, T(1), vz.data, vz.ld, w.data, w.ld, T(0), d.data, d.ld);
    blas::gemm(Op::adjoint, Op::none, done, b, rows, T(1), &vz(0, kb), vz.ld, w.data, w.ld, T(0), d.data + kb,
               d.ld);
  }
  blas::gemm(Op::adjoint, Op::none, b, b, rows, T(1), w.data, w.ld, y.data, y.ld, T(0), d.data + 2 * kb,
             d.ld);
}

template <class T>
void run(const HostContext&, const InnerSum<T>& task) {
  const Index done = task.done, kb = task.kb, b = task.b;
  const auto d = *task.d;
  const Index ranges[3][2] = {{0, done}, {kb, kb + done}, {2 * kb, 2 * kb + b}};
  for (int k = 0; k < task.pieces.size(); ++k) {
    const auto piece = task.pieces[k];
    for (Index j = 0; j < b; ++j)
      for (const auto& range : ranges)
        for (Index i = range[0]; i < range[1]; ++i) d(i, j) = (k == 0 ? T(0) : d(i, j)) + piece(i, j);
  }
  // W^H (A W) = W^H Y - (W^H Vacc)(Zacc^H W) - (W^H Zacc)(Vacc^H W), halved.
  T* v_w = d.data;
  T* z_w = d.data + kb;
  T* w_y = d.data + kb + done;
  for (Index j = 0; j < b; ++j)
    for (Index i = 0; i < b; ++i) w_y[i + j * d.ld] = T(0.5) * d(2 * kb + i, j);
  if (done > 0) {
    blas::gemm(Op::adjoint, Op::none, b, b, done, T(-0.5), v_w, d.ld, z_w, d.ld, T(1), w_y, d.ld);
    blas::gemm(Op::adjoint, Op::none, b, b, done, T(-0.5), z_w, d.ld, v_w, d.ld, T(1), w_y, d.ld);
  }
}

template <class T>
void run(const HostContext&, const FormZ<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  const auto d = *task.d;
  const auto y = task.y.view().block(row, 0, rows, b);
  const auto vz = task.vz.view().block(row, 0, rows, 2 * kb);
  T* z = &vz(0, kb + done);
  blas::lacpy(Uplo::general, y.rows, y.cols, y.data, y.ld, z, vz.ld);
  // [Vacc V] [Zacc^H W; 1/2 W^H A W] and Zacc (Vacc^H W).
  blas::gemm(Op::none, Op::none, rows, b, done + b, T(-1), vz.data, vz.ld, d.data + kb, d.ld, T(1), z, vz.ld);
  if (done > 0)
    blas::gemm(Op::none, Op::none, rows, b, done, T(-1), &vz(0, kb), vz.ld, d.data, d.ld, T(1), z, vz.ld);
}

template <class T>
void run(const HostContext&, const PanelUpdate<T>& task) {
  const TilePart& part = task.part;
  const Index done = task.done, kb = task.kb;
  const auto vz = task.vz.view().block(part.row, 0, part.rows, 2 * kb);
  const auto top = (task.vz_top ? task.vz_top : task.vz).view().block(task.top_row, 0, part.cols, 2 * kb);
  const auto p = part.of(*task.p);
  blas::gemm(Op::none, Op::adjoint, p.rows, p.cols, done, T(-1), vz.data, vz.ld, &top(0, kb), top.ld, T(1),
             p.data, p.ld);
  blas::gemm(Op::none, Op::adjoint, p.rows, p.cols, done, T(-1), &vz(0, kb), vz.ld, top.data, top.ld, T(1),
             p.data, p.ld);
}

template <class T>
void run(const HostContext&, const Rank2kUpdate<T>& task) {
  const TilePart& part = task.part;
  const Index done = task.done, kb = task.kb;
  const auto vz_i = task.vz_i.view().block(part.row, 0, part.rows, 2 * kb);
  const auto c = part.of(*task.a);
  if (task.diagonal()) {
    blas::her2k<T>(Uplo::lower, Op::none, c.rows, done, T(-1), vz_i.data, vz_i.ld, &vz_i(0, kb), vz_i.ld, 1,
                   c.data, c.ld);
    if (task.both_triangles) kernels::mirror_lower(c);
    return;
  }
  const auto vz_j = task.vz_j.view().block(part.col, 0, part.cols, 2 * kb);
  blas::gemm(Op::none, Op::adjoint, c.rows, c.cols, done, T(-1), vz_i.data, vz_i.ld, &vz_j(0, kb), vz_j.ld,
             T(1), c.data, c.ld);
  blas::gemm(Op::none, Op::adjoint, c.rows, c.cols, done, T(-1), &vz_i(0, kb), vz_i.ld, vz_j.data, vz_j.ld,
             T(1), c.data, c.ld);
}

template <class T>
std::size_t update_workspace_bytes(Index rows, Index kb) noexcept {
  return sizeof(T) * 2 * static_cast<std::size_t>(kb) * static_cast<std::size_t>(rows);
}

template <class T>
void run(const HostContext&, const SetZero<T>& task) {
  const auto a = *task.a;
  for (Index j = 0; j < a.cols; ++j) std::fill_n(&a(0, j), a.rows, T(0));
}

template <class T>
void run(const HostContext&, const CopyToBand<T>& task) {
  const auto& [row, column, first_column, bandwidth] = task.place;
  const auto segment = *task.segment;
  MatrixView<const T> source;
  if (task.factor) {
    const auto band = kernels::PanelFactor<T>::in(*task.factor, bandwidth).band();
    source = {band.data, band.rows, band.cols, band.ld};
  } else {
    source = *task.tile;
  }
  source = task.part.of(source);
  for (Index j = 0; j < source.cols; ++j)
    for (Index i = 0; i < source.rows; ++i) {
      const Index offset = (row + i) - (column + j);
      if (offset >= 0 && offset <= bandwidth) segment(offset, column + j - first_column) = source(i, j);
    }
}

#define TESSERA_DEFINE(T)                 \
  TESSERA_DEFINE_TASK(MirrorLower<T>)     \
  TESSERA_DEFINE_TASK(TwoSidedProduct<T>) \
  TESSERA_DEFINE_TASK(InnerProducts<T>)   \
  TESSERA_DEFINE_TASK(InnerSum<T>)        \
  TESSERA_DEFINE_TASK(FormZ<T>)           \
  TESSERA_DEFINE_TASK(PanelUpdate<T>)     \
  TESSERA_DEFINE_TASK(Rank2kUpdate<T>)    \
  TESSERA_DEFINE_TASK(SetZero<T>)         \
  TESSERA_DEFINE_TASK(CopyToBand<T>)      \
  template std::size_t update_workspace_bytes<T>(Index, Index) noexcept;
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

template <class T>
bool keeps_both_triangles(const Runtime& runtime) noexcept {
  return detail::TaskCodelet<MirrorLower<T>>::codelet.has_cuda() && runtime.any_gpus();
}
#define TESSERA_INSTANTIATE(T) template bool keeps_both_triangles<T>(const Runtime&) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
