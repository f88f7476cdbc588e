// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The bodies of column_groups.hpp, which CPUs and GPUs share but for copies: loops on CPUs, kernels on GPUs.
#pragma once

#include <span>
#include <vector>

#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/panel_step.inl>
#include <tessera/codelets/linalg/blas.hpp>

namespace tessera::detail {

/// Rows of a group: those of its columns from number `first` on.
template <class T>
struct GroupRows {
  MatrixView<const T> rows;
  int group = 0;
  Index first = 0;
};

/// Y := (A0 V) T, rows from `row` on. The groups (at most max_column_groups) hold the rows of A0 V. a_v is
/// work space of Y's size for a GPU, whose product with T is not in place.
template <class T>
void form_y(const HostContext& on, std::span<const GroupRows<T>> parts, const CyclicColumns& columns,
            Index row, MatrixView<const T> t, MatrixView<T> a_v, MatrixView<T> y) noexcept;
template <class T>
void form_y(const CudaContext& on, std::span<const GroupRows<T>> parts, const CyclicColumns& columns,
            Index row, MatrixView<const T> t, MatrixView<T> a_v, MatrixView<T> y) noexcept;

/// Copies piece k into the columns of A from first_cols[k] on.
template <class T>
void place_pieces(const HostContext& on, std::span<const MatrixView<const T>> pieces,
                  std::span<const Index> first_cols, MatrixView<T> a) noexcept;
template <class T>
void place_pieces(const CudaContext& on, std::span<const MatrixView<const T>> pieces,
                  std::span<const Index> first_cols, MatrixView<T> a) noexcept;

/// OUT (ld = its rows) := the rows of VZ that belong to the group's columns from number `first` on, V and Z
/// exchanged: the right factor of the product with VZ. b: columns of a panel.
template <class T>
void exchanged_rows(const HostContext& on, MatrixView<const T> vz, Index b, const CyclicColumns& columns,
                    int group, Index first, MatrixView<T> out) noexcept;
template <class T>
void exchanged_rows(const CudaContext& on, MatrixView<const T> vz, Index b, const CyclicColumns& columns,
                    int group, Index first, MatrixView<T> out) noexcept;

template <class T, class Context>
void run(const Context& on, const GroupPanel<T>& task) {
  using namespace panel_steps;
  const PanelPosition& p = task.panel;
  const auto group = *task.group, vz = *task.vz, segment = *task.segment;
  const Index c = p.column, r = p.row();
  const StepSpace<T> space(*task.workspace, p);
  bring_up_to_date<T>(on, space, p, task.first_column,
                      group.block(c, task.local_column, p.n - c, std::min(p.b, p.n - c)), vz, segment);
  if (p.last()) return;
  const Index m = p.rows();
  factor_panel<T>(on, p, task.first_column, space, group.block(r, task.local_column, m, p.b), vz, segment,
                  *task.t, task.w.view().block(r, 0, m, p.b));
  la::copy(on, vz.block(r, v_column(p.done), m, p.b), matrix_in(*task.v, m, p.b));
}

template <class T, class Context>
void run(const Context& on, const GroupProduct<T>& task) {
  const auto group = *task.group;
  const Index row = task.part.row, first = task.part.first();
  const Index m = group.rows - row, cols = group.cols - first;
  la::gemm(on, Op::adjoint, Op::none, 1, group.block(row, first, m, cols), matrix_in(*task.v, m, task.b), 0,
           matrix_in(*task.y, cols, task.b));
}

template <class T, class Context>
void run(const Context& on, const GroupFormZ<T>& task) {
  const PanelPosition& p = task.panel;
  const Index r = p.row(), m = p.rows();
  const auto vz = task.vz.view().block(r, 0, m, 2 * p.kb);
  const panel_steps::StepSpace<T> space(*task.workspace, p);
  std::vector<GroupRows<T>> parts;
  for (int g = 0; g < task.columns.groups; ++g)
    if (const Index rows = task.columns.from(g, r); rows > 0)
      parts.push_back(
          {matrix_in(task.y[static_cast<int>(parts.size())], rows, p.b), g, task.columns.before(g, r)});
  // W is a separate piece here, so its place in the work space holds A0 V.
  const auto a_v = space.w.block(r, 0, m, p.b), z = vz.block(0, z_column(p.done, p.b), m, p.b);
  form_y<T>(on, parts, task.columns, r, *task.t, a_v, z);
  panel_steps::form_z_of_step<T>(on, space, p, vz, task.w.view().block(r, 0, m, p.b));
  la::copy(on, z, matrix_in(*task.z, m, p.b));
}

template <class T, class Context>
void run(const Context& on, const GroupUpdate<T>& task) {
  const GroupPart& part = task.part;
  const Index kb = part.columns.block, row = part.row, first = part.first(), m = part.rows();
  const auto group = *task.group;
  std::vector<MatrixView<const T>> pieces;
  std::vector<Index> places;
  for (int p = 0; p < task.v.size(); ++p) {
    pieces.push_back(rows_of_panel(task, task.v[p], p));
    places.push_back(v_column(p * task.b));
    pieces.push_back(rows_of_panel(task, task.z[p], p));
    places.push_back(z_column(p * task.b, task.b));
  }
  if (task.gathered) place_pieces<T>(on, pieces, places, task.gathered.view().block(row, 0, m, 2 * kb));
  const MatrixView<const T> vz = task.vz ? *task.vz : MatrixView<const T>(*task.gathered);
  const Index cols = group.cols - first;
  const MatrixView<T> right = matrix_in(*task.workspace, cols, 2 * kb);
  exchanged_rows<T>(on, vz, task.b, part.columns, part.number, first, right);
  gemm_or_split<T>(on, Op::none, Op::adjoint, -1, vz.block(row, 0, m, 2 * kb), right, 1,
                   group.block(row, first, m, cols), task.split.view());
}

}  // namespace tessera::detail
