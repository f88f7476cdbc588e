// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/panel_step.inl>
#include <tessera/codelets/linalg/cublas.hpp>

namespace tessera::detail {

namespace panel_steps {

template <class T>
void factor_panel(const CudaContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t,
                  MatrixView<T> w) {
  const Index r = s.column + s.b;
  const auto v = vz.block(r, v_column(s.done), p.rows, s.b);
  panel_cuda::launch_panel_householder<T>(on.stream, p, v, space.factor, t, space.panel);
  panel_cuda::launch_panel_vectors<T>(on.stream, space.factor, t, v, true, true, p, w);
  copy_to_band<T>(on, space.factor.band().block(0, 0, std::min(s.b, p.rows), s.b),
                  {r, s.column, first_col, s.b}, segment);
}

}  // namespace panel_steps

#define TESSERA_DEFINE(T)                                                                       \
  template void panel_steps::factor_panel<T>(const CudaContext&, const PanelPosition&, Index,   \
                                             const StepSpace<T>&, MatrixView<T>, MatrixView<T>, \
                                             MatrixView<T>, MatrixView<T>, MatrixView<T>);      \
  TESSERA_DEFINE_ON_GPU(PanelSteps<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
