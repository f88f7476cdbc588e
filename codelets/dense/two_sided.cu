// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/kernels/hermitian_cuda.hpp>
#include <tessera/codelets/dense/kernels/panel_kernels.hpp>
#include <tessera/codelets/dense/kernels/two_sided_cuda.hpp>
#include <tessera/codelets/dense/two_sided.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera {

template <class T>
void run(const DeviceContext& on, const MirrorLower<T>& task) {
  const auto a = *task.a;
  launch_mirror_lower<T>(on.stream, a.rows, a.data, a.ld);
}

template <class T>
void run(const DeviceContext& on, const TwoSidedProduct<T>& task) {
  const TilePart& part = task.part;
  const auto a = part.of(*task.a);
  const Index b = task.w_i.view().cols;
  const auto rows_of = [&](auto whole) { return whole.block(part.row, 0, part.rows, b); };
  const auto cols_of = [&](auto whole) { return whole.block(part.col, 0, part.cols, b); };
  if (task.diagonal())
    launch_hermitian_product<T>(on.cublas, a, rows_of(*task.w_i), task.y_i.first(), rows_of(*task.y_i));
  else
    launch_product_pair<T>(on.cublas, a, rows_of(*task.w_i), cols_of(*task.w_j), task.y_i.first(),
                           task.y_j.first(), rows_of(*task.y_i), cols_of(*task.y_j));
}

template <class T>
void run(const DeviceContext& on, const InnerProducts<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  const auto vz = task.vz.view().block(row, 0, rows, 2 * kb);
  const auto w = task.w.view().block(row, 0, rows, b);
  const auto y = task.y.view().block(row, 0, rows, b);
  std::vector<MatrixView<const T>> parts;
  for (int k = 0; k < task.parts.size(); ++k) parts.push_back(task.parts[k].block(row, 0, rows, b));
  launch_sum_parts<T>(on.stream, parts, task.y.first(), y);
  launch_inner_products<T>(on.cublas, vz, w, constant(y), done, kb, *task.d);
}

template <class T>
void run(const DeviceContext& on, const InnerSum<T>& task) {
  std::vector<MatrixView<const T>> pieces;
  for (int k = 0; k < task.pieces.size(); ++k) pieces.push_back(task.pieces[k]);
  launch_inner_sum<T>(on.stream, pieces, task.done, task.kb, task.b, *task.d);
}

template <class T>
void run(const DeviceContext& on, const FormZ<T>& task) {
  const auto& [row, rows, done, kb, b] = task.window;
  launch_form_z<T>(on.cublas, *task.d, task.y.view().block(row, 0, rows, b), done, kb,
                   task.vz.view().block(row, 0, rows, 2 * kb));
}

template <class T>
void run(const DeviceContext& on, const PanelUpdate<T>& task) {
  const TilePart& part = task.part;
  const auto vz = task.vz.view().block(part.row, 0, part.rows, 2 * task.kb);
  const auto top =
      (task.vz_top ? task.vz_top : task.vz).view().block(task.top_row, 0, part.cols, 2 * task.kb);
  launch_subtract_pair<T>(on.cublas, vz, top, task.done, task.kb, nullptr, part.of(*task.p));
}

template <class T>
void run(const DeviceContext& on, const Rank2kUpdate<T>& task) {
  const TilePart& part = task.part;
  const auto vz_i = task.vz_i.view().block(part.row, 0, part.rows, 2 * task.kb);
  const auto c = part.of(*task.a);
  T* workspace = task.workspace.view().data();
  if (task.diagonal())
    launch_hermitian_update<T>(on.cublas, vz_i, task.done, task.kb, workspace, c);
  else
    launch_subtract_pair<T>(on.cublas, vz_i, task.vz_j.view().block(part.col, 0, part.cols, 2 * task.kb),
                            task.done, task.kb, workspace, c);
}

template <class T>
void run(const DeviceContext& on, const SetZero<T>& task) {
  launch_set_zero<T>(on.stream, *task.a);
}

template <class T>
void run(const DeviceContext& on, const CopyToBand<T>& task) {
  const auto& [row, column, first_column, bandwidth] = task.place;
  MatrixView<const T> source;
  if (task.factor)
    source = constant(kernels::PanelFactor<T>::in(*task.factor, bandwidth).band());
  else
    source = *task.tile;
  launch_copy_to_band<T>(on.stream, task.part.of(source), bandwidth, row, column, first_column,
                         *task.segment);
}

#define TESSERA_DEFINE(T)                   \
  TESSERA_DEFINE_ON_GPU(MirrorLower<T>)     \
  TESSERA_DEFINE_ON_GPU(TwoSidedProduct<T>) \
  TESSERA_DEFINE_ON_GPU(InnerProducts<T>)   \
  TESSERA_DEFINE_ON_GPU(InnerSum<T>)        \
  TESSERA_DEFINE_ON_GPU(FormZ<T>)           \
  TESSERA_DEFINE_ON_GPU(PanelUpdate<T>)     \
  TESSERA_DEFINE_ON_GPU(Rank2kUpdate<T>)    \
  TESSERA_DEFINE_ON_GPU(SetZero<T>)         \
  TESSERA_DEFINE_ON_GPU(CopyToBand<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
