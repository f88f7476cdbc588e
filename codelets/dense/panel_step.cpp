// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_step.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace panel_steps {

template <class T>
void factor_panel(const HostContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t,
                  MatrixView<T> w) {
  const Index r = s.column + s.b;
  const auto v = vz.block(r, v_column(s.done), p.rows, s.b);
  T* const work = static_cast<T*>(space.panel);
  la::copy(on, p, v);
  kernels::householder_panel<T>(v, t, space.factor.band(), work, work + s.b);
  la::copy(on, v, p);
  copy_to_band<T>(on, space.factor.band().block(0, 0, std::min(s.b, p.rows), s.b),
                  {r, s.column, first_col, s.b}, segment);
  la::copy(on, v, w);
  la::trmm(on, Side::right, Uplo::upper, Op::none, Diag::non_unit, 1, t, w);
}

}  // namespace panel_steps

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb) {
  return panel_steps::StepSpace<T>::bytes(n, b, kb) + panel_workspace_bytes<T>(std::max(n, 2 * b), b);
}

#define TESSERA_DEFINE(T)                                                                       \
  template void panel_steps::factor_panel<T>(const HostContext&, const PanelPosition&, Index,   \
                                             const StepSpace<T>&, MatrixView<T>, MatrixView<T>, \
                                             MatrixView<T>, MatrixView<T>, MatrixView<T>);      \
  TESSERA_DEFINE_TASK(PanelSteps<T>)                                                            \
  template std::size_t panel_step_workspace_bytes<T>(Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
