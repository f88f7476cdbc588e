// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_step_cuda.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {

using namespace panel_steps;

template <class T>
void run(const DeviceContext& on, const PanelStep<T>& task) {
  const PanelPosition& p = task.panel;
  const auto a = *task.a, vz = *task.vz, segment = *task.segment;
  const StepSpace<T> space(*task.workspace, p);
  const Index c = p.column, r = p.row();
  launch_bring_up_to_date<T>(on, p, task.first_column, a.block(c, c, p.n - c, std::min(p.b, p.n - c)), vz,
                             segment);
  if (p.last()) return;

  const Index m = p.rows();
  const auto w = space.w.block(r, 0, m, p.b), y = space.y.block(r, 0, m, p.b);
  launch_factor_panel<T>(on, p, task.first_column, space, a.block(r, c, m, p.b), vz, segment, *task.t, w);
  launch_hermitian_product<T>(on.cublas, constant(a.block(r, r, m, m)), constant(w), true, y);
  launch_form_z_of_step<T>(on, space, p, vz.block(r, 0, m, 2 * p.kb), constant(w), constant(y));
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(PanelStep<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
