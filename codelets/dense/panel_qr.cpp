// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/kernels/panel_workspace.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera {
namespace {

using kernels::PanelFactor;

template <class T>
void add_grams(const ReadAll<Matrix<T>>& grams, MatrixView<T> sum) {
  for (int k = 0; k < grams.size(); ++k) {
    const auto g = grams[k];
    for (Index j = 0; j < sum.cols; ++j)
      for (Index i = 0; i <= j; ++i) sum(i, j) = (k == 0 ? T(0) : sum(i, j)) + g(i, j);
  }
}

template <class T>
void gram(MatrixView<const T> p, MatrixView<T> g) {
  blas::herk<T>(Uplo::upper, Op::adjoint, p.cols, p.rows, 1, p.data, p.ld, 0, g.data, g.ld);
}

}  // namespace

template <class T>
void run(const HostContext&, const PanelGram<T>& task) {
  gram<T>(task.panel.of(*task.tile), *task.gram);
}

template <class T>
void run(const HostContext&, const PanelCholesky<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  add_grams<T>(task.grams, factor.work());
  const auto sum = factor.work();
  *factor.fallback = !kernels::gram_cholesky<T>({sum.data, sum.rows, sum.cols, sum.ld}, factor.r1());
}

template <class T>
void run(const HostContext&, const PanelOrthogonalize<T>& task) {
  const auto p = task.panel.of(*task.tile);
  const auto factor = PanelFactor<T>::in(*task.factor, p.cols);
  if (*factor.fallback) return;
  const auto q = task.v.of(*task.vz);
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, q.data, q.ld);
  blas::trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, q.rows, q.cols, T(1), factor.r1().data,
             factor.b, q.data, q.ld);
  gram<T>({q.data, q.rows, q.cols, q.ld}, *task.gram);
}

template <class T>
void run(const HostContext&, const PanelCheck<T>& task) {
  const Index b = task.b;
  const auto factor = PanelFactor<T>::in(*task.factor, b);
  if (*factor.fallback) return;
  const auto sum = factor.work();
  add_grams<T>(task.grams, sum);
  const MatrixView<const T> g{sum.data, sum.rows, sum.cols, sum.ld};
  // Within this distance the second Cholesky QR is orthogonal to working precision; written so that NaN
  // fails.
  const bool close = kernels::distance_from_identity<T>(g) <= RealOf<T>(0.1);
  if (!close || !kernels::gram_cholesky<T>(g, factor.r2())) {
    *factor.fallback = 1;
    return;
  }
  blas::lacpy(Uplo::general, b, b, factor.r1().data, b, factor.r().data, b);
  blas::trmm(Side::left, Uplo::upper, Op::none, Diag::non_unit, b, b, T(1), factor.r2().data, b,
             factor.r().data, b);
}

template <class T>
void run(const HostContext&, const TsqrLeaf<T>& task) {
  const auto p = task.panel.of(*task.tile);
  if (!*PanelFactor<T>::in(*task.factor, p.cols).fallback) return;
  const auto q = task.v.of(*task.vz);
  T* work = task.workspace.view().data();
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, q.data, q.ld);
  kernels::thin_qr<T>(q, *task.triangle, work, work + p.cols);
}

template <class T>
void run(const HostContext&, const TsqrCombine<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  if (!*factor.fallback) return;
  const auto stack = *task.stack;
  Index row = 0;
  for (int k = 0; k < task.triangles.size(); ++k) {
    const auto l = task.triangles[k];
    const Index rows = task.rows_of(k);
    blas::lacpy(Uplo::general, rows, task.b, l.data, l.ld, stack.data + row, stack.ld);
    row += rows;
  }
  T* work = task.workspace.view().data();
  kernels::thin_qr<T>(stack, factor.r(), work, work + task.b);
}

template <class T>
void run(const HostContext&, const PanelFinish<T>& task) {
  const auto q = task.v.of(*task.vz);
  const auto factor = PanelFactor<T>::in(*task.factor, q.cols);
  if (!*factor.fallback) {
    blas::trsm(Side::right, Uplo::upper, Op::none, Diag::non_unit, q.rows, q.cols, T(1), factor.r2().data,
               factor.b, q.data, q.ld);
    return;
  }
  const auto stack = *task.stack;
  T* product = task.workspace.view().data();
  const Index inner = std::min(q.rows, q.cols);
  blas::gemm(Op::none, Op::none, q.rows, q.cols, inner, T(1), q.data, q.ld, stack.data + task.stack_row,
             stack.ld, T(0), product, q.rows);
  blas::lacpy(Uplo::general, q.rows, q.cols, product, q.rows, q.data, q.ld);
}

template <class T>
void run(const HostContext&, const PanelReconstruct<T>& task) {
  const auto q = task.v.of(*task.vz);
  const Index b = task.b;
  const auto factor = PanelFactor<T>::in(*task.factor, b);
  const auto q1 = factor.work();
  blas::lacpy(Uplo::general, b, b, q.data, q.ld, q1.data, b);
  const auto r = factor.r();
  kernels::reconstruct_householder<T>(q1, {r.data, b, b, b}, factor.v1(), factor.x(), *task.t, factor.band());
}

template <class T>
void run(const HostContext&, const PanelHouseholder<T>& task) {
  const auto p = task.panel.of(*task.tile);
  const auto v = task.v.of(*task.vz);
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  *factor.fallback = 1;
  T* work = task.workspace.view().data();
  blas::lacpy(Uplo::general, p.rows, p.cols, p.data, p.ld, v.data, v.ld);
  kernels::householder_panel<T>(v, *task.t, factor.band(), work, work + task.b);
}

template <class T>
void run(const HostContext&, const PanelVectors<T>& task) {
  const auto v = task.v.of(*task.vz);
  const auto p = task.panel.of(*task.tile);
  const auto w = task.w.view().block(task.panel.row, 0, v.rows, v.cols);
  const auto t = *task.t;
  const Index b = v.cols;
  if (!task.formed) {
    const auto factor = PanelFactor<T>::in(*task.factor, b);
    const Index head = task.top ? b : 0;
    blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, v.rows - head, b, T(1), factor.x().data, b,
               v.data + head, v.ld);
    if (task.top) blas::lacpy(Uplo::general, b, b, factor.v1().data, b, v.data, v.ld);
  }
  blas::lacpy(Uplo::general, v.rows, b, v.data, v.ld, p.data, p.ld);
  blas::lacpy(Uplo::general, v.rows, b, v.data, v.ld, w.data, w.ld);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, w.rows, b, T(1), t.data, t.ld, w.data, w.ld);
}

template <class T>
std::size_t panel_workspace_bytes(Index rows, Index b) {
  const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(std::max(65 * b, rows * b));
#if TESSERA_WITH_CUDA
  return std::max(bytes, panel_cuda::gpu_workspace_bytes<T>(rows, b));
#else
  return bytes;
#endif
}

#define TESSERA_DEFINE(T)                    \
  TESSERA_DEFINE_TASK(PanelGram<T>)          \
  TESSERA_DEFINE_TASK(PanelCholesky<T>)      \
  TESSERA_DEFINE_TASK(PanelOrthogonalize<T>) \
  TESSERA_DEFINE_TASK(PanelCheck<T>)         \
  TESSERA_DEFINE_TASK(TsqrLeaf<T>)           \
  TESSERA_DEFINE_TASK(TsqrCombine<T>)        \
  TESSERA_DEFINE_TASK(PanelFinish<T>)        \
  TESSERA_DEFINE_TASK(PanelReconstruct<T>)   \
  TESSERA_DEFINE_TASK(PanelHouseholder<T>)   \
  TESSERA_DEFINE_TASK(PanelVectors<T>)       \
  template std::size_t panel_workspace_bytes<T>(Index, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
