// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/kernels/panel_step_cpu.hpp>

namespace tessera {

using namespace panel_steps;
using detail::matrix_in;

template <class T>
void run(const HostContext&, const GroupPanel<T>& task) {
  const PanelPosition& p = task.panel;
  const auto group = *task.group, vz = *task.vz, segment = *task.segment;
  const Index c = p.column, r = p.row();
  bring_up_to_date<T>(p, task.first_column,
                      group.block(c, task.local_column, p.n - c, std::min(p.b, p.n - c)), vz, segment);
  if (p.last()) return;
  const Index m = p.rows();
  const StepSpace<T> space(*task.workspace, p);
  factor_panel<T>(p, task.first_column, space, group.block(r, task.local_column, m, p.b), vz, segment,
                  *task.t, task.w.view().block(r, 0, m, p.b));
  copy<T>(vz.block(r, p.done, m, p.b), matrix_in(*task.v, m, p.b));
}

template <class T>
void run(const HostContext&, const GroupProduct<T>& task) {
  const auto group = *task.group;
  const Index row = task.part.row, first = task.part.first(), b = task.b;
  const Index m = group.rows - row, cols = group.cols - first;
  const auto v = matrix_in(*task.v, m, b);
  const auto y = matrix_in(*task.y, cols, b);
  blas::gemm(Op::adjoint, Op::none, cols, b, m, T(1), &group(row, first), group.ld, v.data, v.ld, T(0),
             y.data, y.ld);
}

namespace {

/// Rows [row, n) of A0 V from the groups' pieces.
template <class T>
void collect_rows(const ReadAll<Array<T>>& pieces, const CyclicColumns& columns, Index row, MatrixView<T> y) {
  int next = 0;
  for (int g = 0; g < columns.groups; ++g) {
    const Index before = columns.before(g, row), rows = columns.from(g, row);
    if (rows == 0) continue;
    const auto part = matrix_in(pieces[next++], rows, y.cols);
    for (Index j = 0; j < y.cols; ++j)
      for (Index i = 0; i < rows; ++i) y(columns.global(g, before + i) - row, j) = part(i, j);
  }
}

}  // namespace

template <class T>
void run(const HostContext&, const GroupFormZ<T>& task) {
  const PanelPosition& p = task.panel;
  const Index r = p.row(), m = p.rows();
  const auto w = task.w.view().block(r, 0, m, p.b), t = *task.t;
  const auto vz = task.vz.view().block(r, 0, m, 2 * p.kb);
  const StepSpace<T> space(*task.workspace, p);
  const auto y = space.y.block(r, 0, m, p.b);
  collect_rows<T>(task.y, task.columns, r, y);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, m, p.b, T(1), t.data, t.ld, y.data, y.ld);
  form_z<T>(space, p, vz, w, y);
  copy<T>(vz.block(0, p.kb + p.done, m, p.b), matrix_in(*task.z, m, p.b));
}

template <class T>
void run(const HostContext&, const GroupUpdate<T>& task) {
  const GroupPart& part = task.part;
  const CyclicColumns& columns = part.columns;
  const Index kb = columns.block, row = part.row, first = part.first(), m = part.rows(), b = task.b;
  const auto group = *task.group;
  const auto gathered = *task.gathered;
  for (int p = 0; p < task.v.size(); ++p) {
    copy<T>(detail::rows_of_panel(task, task.v[p], p), gathered.block(row, p * b, m, b));
    copy<T>(detail::rows_of_panel(task, task.z[p], p), gathered.block(row, p * b + kb, m, b));
  }
  const MatrixView<const T> vz =
      task.vz ? *task.vz : MatrixView<const T>{gathered.data, gathered.rows, gathered.cols, gathered.ld};
  // [Z V], the rows of the group's columns: what multiplies [V Z] from the right.
  const Index cols = group.cols - first;
  const MatrixView<T> right = matrix_in(*task.workspace, cols, 2 * kb);
  for (Index j = 0; j < 2 * kb; ++j)
    for (Index l = 0; l < cols; ++l)
      right(l, j) = vz(columns.global(part.number, first + l), j < kb ? j + kb : j - kb);
  multiply<T>(-1, Op::none, vz.block(row, 0, m, 2 * kb), Op::adjoint, right, 1,
              group.block(row, first, m, cols));
}

#define TESSERA_DEFINE(T)              \
  TESSERA_DEFINE_TASK(GroupPanel<T>)   \
  TESSERA_DEFINE_TASK(GroupProduct<T>) \
  TESSERA_DEFINE_TASK(GroupFormZ<T>)   \
  TESSERA_DEFINE_TASK(GroupUpdate<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
