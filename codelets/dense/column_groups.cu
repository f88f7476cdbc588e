// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/kernels/column_groups_cuda.hpp>
#include <tessera/codelets/dense/kernels/panel_step_cuda.hpp>
#include <tessera/codelets/linalg/cublas.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {

using namespace panel_steps;
using detail::matrix_in;

namespace {

/// V or Z of the panel as a piece of its own.
template <class T>
void copy_to_piece(cudaStream_t stream, MatrixView<const T> panel, MatrixView<T> piece) {
  cudaMemcpy2DAsync(piece.data, static_cast<std::size_t>(piece.ld) * sizeof(T), panel.data,
                    static_cast<std::size_t>(panel.ld) * sizeof(T),
                    static_cast<std::size_t>(panel.rows) * sizeof(T), static_cast<std::size_t>(panel.cols),
                    cudaMemcpyDeviceToDevice, stream);
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const GroupPanel<T>& task) {
  const PanelPosition& p = task.panel;
  const auto group = *task.group, vz = *task.vz, segment = *task.segment;
  const Index c = p.column, r = p.row();
  launch_bring_up_to_date<T>(on, p, task.first_column,
                             group.block(c, task.local_column, p.n - c, std::min(p.b, p.n - c)), vz, segment);
  if (p.last()) return;
  const Index m = p.rows();
  const StepSpace<T> space(*task.workspace, p);
  launch_factor_panel<T>(on, p, task.first_column, space, group.block(r, task.local_column, m, p.b), vz,
                         segment, *task.t, task.w.view().block(r, 0, m, p.b));
  copy_to_piece<T>(on.stream, constant(vz.block(r, p.done, m, p.b)), matrix_in(*task.v, m, p.b));
}

template <class T>
void run(const DeviceContext& on, const GroupProduct<T>& task) {
  const auto group = *task.group;
  const Index row = task.part.row, first = task.part.first(), b = task.b;
  const Index m = group.rows - row, cols = group.cols - first;
  const auto v = matrix_in(*task.v, m, b);
  const auto y = matrix_in(*task.y, cols, b);
  cublas::gemm<T>(on.cublas, Op::adjoint, Op::none, cols, b, m, T(1), &group(row, first), group.ld, v.data,
                  v.ld, T(0), y.data, y.ld);
}

template <class T>
void run(const DeviceContext& on, const GroupFormZ<T>& task) {
  const PanelPosition& p = task.panel;
  const Index r = p.row(), m = p.rows();
  const auto w = task.w.view().block(r, 0, m, p.b);
  const auto vz = task.vz.view().block(r, 0, m, 2 * p.kb);
  const StepSpace<T> space(*task.workspace, p);
  // W is a piece of its own here: its place in the work space takes A0 V.
  const auto a_v = space.w.block(r, 0, m, p.b), y = space.y.block(r, 0, m, p.b);
  std::vector<GroupRows<T>> parts;
  for (int g = 0; g < task.columns.groups; ++g)
    if (const Index rows = task.columns.from(g, r); rows > 0)
      parts.push_back(
          {matrix_in(task.y[static_cast<int>(parts.size())], rows, p.b), g, task.columns.before(g, r)});
  launch_collect_rows<T>(on.stream, parts, task.columns, r, a_v);
  panel_cuda::launch_times_upper<T>(on.stream, constant(a_v), *task.t, y);
  launch_form_z_of_step<T>(on, space, p, vz, w, constant(y));
  copy_to_piece<T>(on.stream, constant(vz.block(0, p.kb + p.done, m, p.b)), matrix_in(*task.z, m, p.b));
}

template <class T>
void run(const DeviceContext& on, const GroupUpdate<T>& task) {
  const GroupPart& part = task.part;
  const Index kb = part.columns.block, row = part.row, first = part.first(), m = part.rows();
  const auto group = *task.group;
  std::vector<MatrixView<const T>> pieces;
  std::vector<Index> places;
  for (int p = 0; p < task.v.size(); ++p) {
    pieces.push_back(detail::rows_of_panel(task, task.v[p], p));
    places.push_back(p * task.b);
    pieces.push_back(detail::rows_of_panel(task, task.z[p], p));
    places.push_back(p * task.b + kb);
  }
  if (task.gathered)
    launch_place_pieces<T>(on.stream, pieces, places, task.gathered.view().block(row, 0, m, 2 * kb));
  const MatrixView<const T> vz = task.vz ? *task.vz : constant(*task.gathered);
  const auto rows = vz.block(row, 0, m, 2 * kb);
  const Index cols = group.cols - first;
  const MatrixView<T> right = matrix_in(*task.workspace, cols, 2 * kb);
  launch_exchanged_rows<T>(on.stream, vz, part.columns, part.number, first, right);
  cublas::gemm<T>(on.cublas, Op::none, Op::adjoint, m, cols, 2 * kb, T(-1), rows.data, rows.ld, right.data,
                  right.ld, T(1), &group(row, first), group.ld);
}

#define TESSERA_DEFINE(T)                \
  TESSERA_DEFINE_ON_GPU(GroupPanel<T>)   \
  TESSERA_DEFINE_ON_GPU(GroupProduct<T>) \
  TESSERA_DEFINE_ON_GPU(GroupFormZ<T>)   \
  TESSERA_DEFINE_ON_GPU(GroupUpdate<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
