// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_step_cpu.hpp>
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_step.hpp>

namespace tessera {

using namespace panel_steps;

template <class T>
void run(const HostContext&, const PanelStep<T>& task) {
  const PanelPosition& p = task.panel;
  const auto a = *task.a, vz = *task.vz, segment = *task.segment;
  const StepSpace<T> space(*task.workspace, p);
  const Index c = p.column, r = p.row();
  bring_up_to_date<T>(p, task.first_column, a.block(c, c, p.n - c, std::min(p.b, p.n - c)), vz, segment);
  if (p.last()) return;

  const Index m = p.rows();
  const auto w = space.w.block(r, 0, m, p.b), y = space.y.block(r, 0, m, p.b);
  factor_panel<T>(p, task.first_column, space, a.block(r, c, m, p.b), vz, segment, *task.t, w);
  const auto trailing = a.block(r, r, m, m);
  blas::hemm<T>(Side::left, Uplo::lower, m, p.b, T(1), trailing.data, trailing.ld, w.data, w.ld, T(0), y.data,
                y.ld);
  form_z<T>(space, p, vz.block(r, 0, m, 2 * p.kb), w, y);
}

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb) {
  return StepSpace<T>::bytes(n, b, kb) + panel_workspace_bytes<T>(std::max(n, 2 * b), b);
}

#define TESSERA_DEFINE(T)           \
  TESSERA_DEFINE_TASK(PanelStep<T>) \
  template std::size_t panel_step_workspace_bytes<T>(Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
