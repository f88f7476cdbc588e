// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

using kernels::PanelFactor;

template <class T>
void run(const DeviceContext& on, const PanelGram<T>& task) {
  panel_cuda::launch_panel_gram<T>(on.stream, task.panel.of(*task.tile), *task.gram,
                                   task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const PanelCholesky<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  panel_cuda::launch_panel_add<T>(on.stream, views_of(task.grams), factor);
  panel_cuda::launch_panel_cholesky<T>(on.stream, factor);
}

template <class T>
void run(const DeviceContext& on, const PanelOrthogonalize<T>& task) {
  const auto p = task.panel.of(*task.tile);
  panel_cuda::launch_panel_orthogonalize<T>(on.stream, p, PanelFactor<T>::in(*task.factor, p.cols),
                                            task.v.of(*task.vz), *task.gram, task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const PanelCheck<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  panel_cuda::launch_panel_add<T>(on.stream, views_of(task.grams), factor);
  panel_cuda::launch_panel_check<T>(on.stream, factor);
}

template <class T>
void run(const DeviceContext& on, const TsqrLeaf<T>& task) {
  const auto p = task.panel.of(*task.tile);
  panel_cuda::launch_thin_qr<T>(on.stream, PanelFactor<T>::in(*task.factor, p.cols).fallback, p,
                                task.v.of(*task.vz), *task.triangle, task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const TsqrCombine<T>& task) {
  const auto factor = PanelFactor<T>::in(*task.factor, task.b);
  const auto stack = *task.stack;
  Index row = 0;
  for (int k = 0; k < task.triangles.size(); ++k) {
    const auto l = task.triangles[k];
    const Index rows = task.rows_of(k);
    la::copy(on, l.block(0, 0, rows, task.b), stack.block(row, 0, rows, task.b));
    row += rows;
  }
  panel_cuda::launch_thin_qr<T>(on.stream, factor.fallback, stack, stack, factor.r(),
                                task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const PanelFinish<T>& task) {
  const auto q = task.v.of(*task.vz);
  panel_cuda::launch_panel_finish<T>(
      on.stream, PanelFactor<T>::in(*task.factor, q.cols),
      task.stack.view().block(task.stack_row, 0, std::min(q.rows, q.cols), q.cols), q,
      task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const PanelReconstruct<T>& task) {
  panel_cuda::launch_panel_reconstruct<T>(on.stream, task.v.of(*task.vz),
                                          PanelFactor<T>::in(*task.factor, task.b), *task.t);
}

template <class T>
void run(const DeviceContext& on, const PanelHouseholder<T>& task) {
  panel_cuda::launch_panel_householder<T>(on.stream, task.panel.of(*task.tile), task.v.of(*task.vz),
                                          PanelFactor<T>::in(*task.factor, task.b), *task.t,
                                          task.workspace.view().data());
}

template <class T>
void run(const DeviceContext& on, const PanelVectors<T>& task) {
  const auto v = task.v.of(*task.vz);
  panel_cuda::launch_panel_vectors<T>(on.stream, PanelFactor<T>::in(*task.factor, v.cols), *task.t, v,
                                      task.top, task.formed, task.panel.of(*task.tile),
                                      task.w.view().block(task.panel.row, 0, v.rows, v.cols));
}

#define TESSERA_DEFINE(T)                      \
  TESSERA_DEFINE_ON_GPU(PanelGram<T>)          \
  TESSERA_DEFINE_ON_GPU(PanelCholesky<T>)      \
  TESSERA_DEFINE_ON_GPU(PanelOrthogonalize<T>) \
  TESSERA_DEFINE_ON_GPU(PanelCheck<T>)         \
  TESSERA_DEFINE_ON_GPU(TsqrLeaf<T>)           \
  TESSERA_DEFINE_ON_GPU(TsqrCombine<T>)        \
  TESSERA_DEFINE_ON_GPU(PanelFinish<T>)        \
  TESSERA_DEFINE_ON_GPU(PanelReconstruct<T>)   \
  TESSERA_DEFINE_ON_GPU(PanelHouseholder<T>)   \
  TESSERA_DEFINE_ON_GPU(PanelVectors<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
