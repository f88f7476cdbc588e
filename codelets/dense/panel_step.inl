// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The body of panel_step.hpp, and the parts of a panel step before and after the product A0 W, which the
// bodies of column_groups.hpp share.
#pragma once

#include <array>

#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/two_sided.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

namespace panel_steps {

/// The layout of the work space of the tasks of panel_step.hpp and column_groups.hpp. Each view begins at a
/// multiple of 256 bytes.
template <class T>
struct StepSpace {
  MatrixView<T> w;         ///< n x b: V T
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

// The step that differs, in panel_step.cpp and panel_step.cu: a CPU takes LAPACK and BLAS. On a GPU the start of a
// kernel counts: it takes Cholesky QR in a few kernels.

/// QR of P, the panel below its diagonal block: V into VZ and into P's place, T, S R to the band, W = V T.
template <class T>
void factor_panel(const HostContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t, MatrixView<T> w);
template <class T>
void factor_panel(const CudaContext& on, const PanelPosition& s, Index first_col, const StepSpace<T>& space,
                  MatrixView<T> p, MatrixView<T> vz, MatrixView<T> segment, MatrixView<T> t, MatrixView<T> w);

/// Z from Y = A0 W, in place in the panel's columns of VZ. The rows of VZ and W begin with the first reflector's.
template <class T, class Context>
void form_z_of_step(const Context& on, const StepSpace<T>& space, const PanelPosition& s, MatrixView<T> vz,
                    MatrixView<const T> w) {
  const auto y = vz.block(0, z_column(s.done, s.b), w.rows, s.b);
  inner_products<T>(on, vz.block(0, 0, w.rows, 2 * s.done), w, y, space.d);
  const std::array<MatrixView<const T>, 1> pieces{space.d};
  inner_sum<T>(on, pieces, s.done, s.b, space.d_sum);
  form_z<T>(on, space.d_sum, y, s.done, vz);
}

/// Updates the panel's columns from its diagonal block on, and copies the diagonal block to the band.
template <class T, class Context>
void bring_up_to_date(const Context& on, const StepSpace<T>& space, const PanelPosition& s, Index first_col,
                      MatrixView<T> columns, MatrixView<T> vz, MatrixView<T> segment) {
  const Index c = s.column, width = columns.cols;
  if (s.done > 0)
    subtract_pair<T>(on, vz.block(c, 0, columns.rows, 2 * s.done), vz.block(c, 0, width, 2 * s.done), s.b,
                     space.d_sum.data, {}, columns);
  copy_to_band<T>(on, columns.block(0, 0, width, width), {c, c, first_col, s.b}, segment);
}

}  // namespace panel_steps

namespace panel_steps {

/// Y := A0 W for the panels of a block, where A0 is the rows and columns of `a` from `first` on. On a GPU, if there is
/// space and it is worth it, A0 is split once for all of them.
template <class T, class Context>
class BlockProduct {
 public:
  BlockProduct(const Context& on, MatrixView<const T> a, Index first, Index b, std::span<char> split)
      : on_(on), a_(a), first_(first) {
    const Index m = a.rows - first;
    if constexpr (!on_host<Context> && splittable<T>) {
      if (split.empty() || m <= 0 || !worth_splitting_hermitian<T>(m)) return;
      split_hermitian<T>(on, a.block(first, first, m, m), b, split);
      split_ = split;
    }
  }
  /// Rows and columns from `row` on.
  void operator()(Index row, MatrixView<const T> w, MatrixView<T> y) const {
    const Index m = a_.rows - row;
    if constexpr (!on_host<Context> && splittable<T>) {
      if (!split_.empty())
        return split_hermitian_product<T>(on_, a_.rows - first_, row - first_, w, y, split_);
    }
    hermitian_product<T>(on_, a_.block(row, row, m, m), w, 0, y);
  }

 private:
  const Context& on_;
  MatrixView<const T> a_;
  Index first_;
  std::span<char> split_{};
};

/// One panel; `t` is not read for the last one.
template <class T, class Context>
void step(const Context& on, const PanelPosition& p, MatrixView<T> a, MatrixView<T> vz, MatrixView<T> segment,
          Index first_column, MatrixView<T> t, const StepSpace<T>& space,
          const BlockProduct<T, Context>& product) {
  const Index c = p.column, r = p.row();
  bring_up_to_date<T>(on, space, p, first_column, a.block(c, c, p.n - c, std::min(p.b, p.n - c)), vz,
                      segment);
  if (p.last()) return;
  const Index m = p.rows();
  const auto w = space.w.block(r, 0, m, p.b), y = vz.block(r, z_column(p.done, p.b), m, p.b);
  factor_panel<T>(on, p, first_column, space, a.block(r, c, m, p.b), vz, segment, t, w);
  product(r, w, y);
  form_z_of_step<T>(on, space, p, vz.block(r, 0, m, 2 * p.kb), w);
}

}  // namespace panel_steps

template <class T, class Context>
void run(const Context& on, const PanelSteps<T>& task) {
  PanelPosition p = task.panel;
  const Index width = 2 * p.b, first_segment = p.column / width;
  const panel_steps::StepSpace<T> space(*task.workspace, p);
  const panel_steps::BlockProduct<T, Context> product(on, *task.a, p.row(), p.b, task.split.view());
  for (; p.column < task.end(); p.column += p.b, p.done += p.b) {
    const Index segment = p.column / width;
    panel_steps::step<T>(
        on, p, *task.a, *task.vz, task.segments[static_cast<int>(segment - first_segment)], segment * width,
        p.last() ? MatrixView<T>{} : task.t.view().block(0, p.done, p.b, p.b), space, product);
  }
}

}  // namespace tessera::detail
