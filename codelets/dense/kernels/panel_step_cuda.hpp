// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include <tessera/codelets/dense/kernels/panel_qr_cuda.hpp>
#include <tessera/codelets/dense/kernels/panel_step_space.hpp>
#include <tessera/codelets/dense/kernels/two_sided_cuda.hpp>
#include <tessera/runtime/device_task.hpp>

/// The two halves of a panel step on a GPU, as in panel_step_cpu.hpp: shared by panel_step.hpp and
/// column_groups.hpp.
namespace tessera::panel_steps {

template <class T>
void launch_bring_up_to_date(const CudaContext& context, const PanelPosition& s, Index first_col,
                             MatrixView<T> columns, MatrixView<T> vz, MatrixView<T> segment) {
  const Index c = s.column, width = columns.cols;
  if (s.done > 0)
    launch_subtract_pair<T>(context.cublas, constant(vz.block(c, 0, columns.rows, 2 * s.kb)),
                            constant(vz.block(c, 0, width, 2 * s.kb)), s.done, s.kb, nullptr, columns);
  launch_copy_to_band<T>(context.stream, constant(columns.block(0, 0, width, width)), s.b, c, c, first_col,
                         segment);
}

template <class T>
void launch_factor_panel(const CudaContext& context, const PanelPosition& s, Index first_col,
                         const StepSpace<T>& space, MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment,
                         MatrixView<T> t, MatrixView<T> w) {
  const Index r = s.column + s.b;
  const auto v = vz.block(r, s.done, p.rows, s.b);
  panel_cuda::launch_panel_householder<T>(context.stream, constant(p), v, space.factor, t, space.panel);
  panel_cuda::launch_panel_vectors<T>(context.stream, space.factor, constant(t), v, true, true, p, w);
  launch_copy_to_band<T>(context.stream,
                         constant(space.factor.band().block(0, 0, std::min(s.b, p.rows), s.b)), s.b, r,
                         s.column, first_col, segment);
}

/// Z into VZ, whose rows are those of W and Y.
template <class T>
void launch_form_z_of_step(const CudaContext& context, const StepSpace<T>& space, const PanelPosition& s,
                           MatrixView<T> vz, MatrixView<const T> w, MatrixView<const T> y) {
  launch_inner_products<T>(context.cublas, constant(vz), w, y, s.done, s.kb, space.d);
  const std::array<MatrixView<const T>, 1> pieces{constant(space.d)};
  launch_inner_sum<T>(context.stream, pieces, s.done, s.kb, s.b, space.d_sum);
  launch_form_z<T>(context.cublas, constant(space.d_sum), y, s.done, s.kb, vz);
}

}  // namespace tessera::panel_steps
