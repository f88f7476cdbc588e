// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

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
void gram(const HostContext& on, MatrixView<const T> p, MatrixView<T> g) {
  la::herk(on, Uplo::upper, Op::adjoint, 1, p, 0, g);
}

}  // namespace

template <class T>
void run(const HostContext& on, const PanelGram<T>& task) {
  gram<T>(on, task.panel.of(*task.tile), *task.gram);
}

template <class T>
void run(const HostContext&, const PanelCholesky<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  add_grams<T>(task.grams, factor.work());
  const auto sum = factor.work();
  *factor.fallback = !kernels::gram_cholesky<T>(sum, factor.r1());
}

template <class T>
void run(const HostContext& on, const PanelOrthogonalize<T>& task) {
  const auto p = task.panel.of(*task.tile);
  const auto factor = PanelFactor<T>::in(*task.factor, p.cols);
  if (*factor.fallback) return;
  const auto q = task.v.of(*task.vz);
  la::copy(on, p, q);
  la::trsm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, factor.r1(), q);
  gram<T>(on, q, *task.gram);
}

template <class T>
void run(const HostContext& on, const PanelCheck<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  if (*factor.fallback) return;
  const auto sum = factor.work();
  add_grams<T>(task.grams, sum);
  // Within this distance the second Cholesky QR is orthogonal to working precision. A NaN fails the
  // comparison.
  const bool close = kernels::distance_from_identity<T>(sum) <= RealOf<T>(0.1);
  if (!close || !kernels::gram_cholesky<T>(sum, factor.r2())) {
    *factor.fallback = 1;
    return;
  }
  la::copy(on, factor.r1(), factor.r());
  la::trmm(on, Side::left, Uplo::upper, Op::none, Diag::non_unit, 1, factor.r2(), factor.r());
}

template <class T>
void run(const HostContext& on, const TsqrLeaf<T>& task) {
  const auto p = task.panel.of(*task.tile);
  if (!*PanelFactor<T>::in(*task.factor, p.cols).fallback) return;
  const auto q = task.v.of(*task.vz);
  T* work = task.workspace.view().data();
  la::copy(on, p, q);
  kernels::thin_qr<T>(q, *task.triangle, work, work + p.cols);
}

template <class T>
void run(const HostContext& on, const TsqrCombine<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  if (!*factor.fallback) return;
  const auto stack = *task.stack;
  Index row = 0;
  for (int k = 0; k < task.triangles.size(); ++k) {
    const auto l = task.triangles[k];
    const Index rows = task.rows_of(k);
    la::copy(on, l.block(0, 0, rows, task.b), stack.block(row, 0, rows, task.b));
    row += rows;
  }
  T* work = task.workspace.view().data();
  kernels::thin_qr<T>(stack, factor.r(), work, work + task.b);
}

template <class T>
void run(const HostContext& on, const PanelFinish<T>& task) {
  const auto q = task.v.of(*task.vz);
  const auto factor = PanelFactor<T>::in(*task.factor, q.cols);
  if (!*factor.fallback) {
    la::trsm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, factor.r2(), q);
    return;
  }
  const Index inner = std::min(q.rows, q.cols);
  const MatrixView<T> product{task.workspace.view().data(), q.rows, q.cols, q.rows};
  la::gemm(on, Op::none, Op::none, 1, q.block(0, 0, q.rows, inner),
           task.stack.view().block(task.stack_row, 0, inner, q.cols), 0, product);
  la::copy(on, product, q);
}

template <class T>
void run(const HostContext& on, const PanelReconstruct<T>& task) {
  const auto q = task.v.of(*task.vz);
  const Index b = task.b;
  const auto factor = PanelFactor<T>::in(*task.factor, b);
  const auto q1 = factor.work();
  la::copy(on, q.block(0, 0, b, b), q1);
  kernels::reconstruct_householder<T>(q1, factor.r(), factor.v1(), factor.x(), *task.t, factor.band());
}

template <class T>
void run(const HostContext& on, const PanelHouseholder<T>& task) {
  const auto p = task.panel.of(*task.tile);
  const auto v = task.v.of(*task.vz);
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  *factor.fallback = 1;
  T* work = task.workspace.view().data();
  la::copy(on, p, v);
  kernels::householder_panel<T>(v, *task.t, factor.band(), work, work + task.b);
}

template <class T>
void run(const HostContext& on, const PanelVectors<T>& task) {
  const auto v = task.v.of(*task.vz);
  const auto p = task.panel.of(*task.tile);
  const auto w = task.w.view().block(task.panel.row, 0, v.rows, v.cols);
  const Index b = v.cols;
  if (!task.formed) {
    const auto factor = PanelFactor<T>::in(*task.factor, b);
    const Index head = task.top ? b : 0;
    la::trmm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, factor.x(),
             v.block(head, 0, v.rows - head, b));
    if (task.top) la::copy(on, factor.v1(), v.block(0, 0, b, b));
  }
  la::copy(on, v, p);
  la::copy(on, v, w);
  la::trmm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, *task.t, w);
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

}  // namespace tessera::detail
