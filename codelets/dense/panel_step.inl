// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The body of panel_step.hpp, and the parts of a panel step before and after the product A0 W, which the
// bodies of column_groups.hpp share.
#pragma once

#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace panel_steps {

/// The layout of the work space of the tasks of panel_step.hpp and column_groups.hpp. Each view begins at a
/// multiple of 256 bytes.
template <class T>
struct StepSpace {
  MatrixView<T> w, y;      ///< n x b: V T, and A W
  MatrixView<T> d, d_sum;  ///< (2 kb + b) x b: inner products of this panel
  kernels::PanelFactor<T> factor{nullptr, 0};
  void* panel;  ///< panel_workspace_bytes

  StepSpace(std::span<char> memory, const PanelPosition& p) noexcept
      : StepSpace(memory.data(), p.n, p.b, p.kb) {}
  StepSpace(void* memory, Index n, Index b, Index kb) noexcept {
    auto* place = static_cast<char*>(memory);
    const auto take = [&](std::size_t bytes) {
      void* const here = place;
      place += (bytes + 255) / 256 * 256;
      return here;
    };
    const auto matrix = [&](Index rows) {
      return MatrixView<T>{static_cast<T*>(take(sizeof(T) * static_cast<std::size_t>(rows * b))), rows, b,
                           rows};
    };
    w = matrix(n);
    y = matrix(n);
    d = matrix(2 * kb + b);
    d_sum = matrix(2 * kb + b);
    factor = kernels::PanelFactor<T>(take(kernels::PanelFactor<T>::bytes(b)), b);
    panel = take(0);
  }
  /// Bytes before `panel`.
  static std::size_t bytes(Index n, Index b, Index kb) noexcept {
    return static_cast<std::size_t>(static_cast<char*>(StepSpace(nullptr, n, b, kb).panel) -
                                    static_cast<char*>(nullptr));
  }
};

// The two steps that differ, in panel_step.cpp and panel_step.cu: a CPU takes LAPACK and BLAS. On a GPU the
// start of a kernel counts: it takes Cholesky QR in a few kernels, and one kernel for all small products
// (inner_sum).

/// QR of P, the panel below its diagonal block: V into VZ and into P's place, T, S R to the band, W = V T.
template <class T>
void factor_panel(const HostContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t, MatrixView<T> w);
template <class T>
void factor_panel(const CudaContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t, MatrixView<T> w);

/// Z from Y = A0 W, into VZ. The rows of VZ, W and Y begin with the first reflector's.
template <class T>
void form_z_of_step(const HostContext& on, const StepSpace<T>& space, const PanelPosition& s,
                    MatrixView<T> vz, MatrixView<const T> w, MatrixView<const T> y);
template <class T>
void form_z_of_step(const CudaContext& on, const StepSpace<T>& space, const PanelPosition& s,
                    MatrixView<T> vz, MatrixView<const T> w, MatrixView<const T> y);

/// Updates the panel's columns from its diagonal block on, and copies the diagonal block to the band.
template <class T, class Context>
void bring_up_to_date(const Context& on, const PanelPosition& s, Index first_col, MatrixView<T> columns,
                      MatrixView<T> vz, MatrixView<T> segment) {
  const Index c = s.column, width = columns.cols;
  if (s.done > 0)
    subtract_pair<T>(on, vz.block(c, 0, columns.rows, 2 * s.kb), vz.block(c, 0, width, 2 * s.kb), s.done,
                     s.kb, columns);
  copy_to_band<T>(on, columns.block(0, 0, width, width), {c, c, first_col, s.b}, segment);
}

}  // namespace panel_steps

namespace panel_steps {

/// One panel; `t` is not read for the last one.
template <class T, class Context>
void step(const Context& on, const PanelPosition& p, MatrixView<T> a, MatrixView<T> vz, MatrixView<T> segment,
          Index first_column, MatrixView<T> t, const StepSpace<T>& space) {
  const Index c = p.column, r = p.row();
  bring_up_to_date<T>(on, p, first_column, a.block(c, c, p.n - c, std::min(p.b, p.n - c)), vz, segment);
  if (p.last()) return;
  const Index m = p.rows();
  const auto w = space.w.block(r, 0, m, p.b), y = space.y.block(r, 0, m, p.b);
  factor_panel<T>(on, p, first_column, space, a.block(r, c, m, p.b), vz, segment, t, w);
  hermitian_product<T>(on, a.block(r, r, m, m), w, 0, y);
  form_z_of_step<T>(on, space, p, vz.block(r, 0, m, 2 * p.kb), w, y);
}

}  // namespace panel_steps

template <class T, class Context>
void run(const Context& on, const PanelSteps<T>& task) {
  PanelPosition p = task.panel;
  const Index width = 2 * p.b, first_segment = p.column / width;
  const panel_steps::StepSpace<T> space(*task.workspace, p);
  for (int k = 0; p.column < task.end(); p.column += p.b, p.done += p.b, ++k) {
    const Index segment = p.column / width;
    panel_steps::step<T>(on, p, *task.a, *task.vz, task.segments[static_cast<int>(segment - first_segment)],
                         segment * width, k < task.t.size() ? task.t[k] : MatrixView<T>{}, space);
  }
}

}  // namespace tessera::detail
