// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/dense/column_groups_arguments.hpp>
#include <tessera/codelets/dense/column_groups_cuda.hpp>
#include <tessera/codelets/dense/panel_step_cuda.hpp>

namespace tessera {
namespace {

using namespace column_group_codelets;
using namespace panel_step_codelets;

/// V or Z of the panel as a piece of its own.
template <class T>
void copy_to_piece(cudaStream_t stream, MatrixView<const T> panel, MatrixView<T> piece) {
  cudaMemcpy2DAsync(piece.data, static_cast<std::size_t>(piece.ld) * sizeof(T), panel.data,
                    static_cast<std::size_t>(panel.ld) * sizeof(T),
                    static_cast<std::size_t>(panel.rows) * sizeof(T), static_cast<std::size_t>(panel.cols),
                    cudaMemcpyDeviceToDevice, stream);
}

template <class T>
void group_panel_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                      const GroupPanelArguments& a) {
  const PanelStep& s = a.step;
  const auto group = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const Index c = s.column, r = c + s.b, m = s.n - r;
  launch_bring_up_to_date<T>(context, s, a.first_col,
                             group.block(c, a.local, s.n - c, std::min(s.b, s.n - c)), vz, segment);
  if (s.last()) return;
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  launch_factor_panel<T>(context, s, a.first_col, space, group.block(r, a.local, m, s.b), vz, segment,
                         buffers.matrix<T>(4), buffers.matrix<T>(5).block(r, 0, m, s.b));
  copy_to_piece<T>(context.stream, constant(vz.block(r, s.done, m, s.b)), piece<T>(buffers, 6, m, s.b));
}

template <class T>
void group_product_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                        const GroupProductArguments& a) {
  const auto group = buffers.matrix<const T>(0);
  const Index m = group.rows - a.row, cols = group.cols - a.first;
  const auto v = piece<const T>(buffers, 1, m, a.b);
  const auto y = piece<T>(buffers, 2, cols, a.b);
  cublas::gemm<T>(context.cublas, Op::adjoint, Op::none, cols, a.b, m, T(1), &group(a.row, a.first), group.ld,
                  v.data, v.ld, T(0), y.data, y.ld);
}

template <class T>
void group_form_z_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const GroupZArguments& a) {
  const PanelStep& s = a.step;
  const Index r = s.column + s.b, m = s.n - r;
  const auto w = buffers.matrix<T>(0).block(r, 0, m, s.b), t = buffers.matrix<T>(1);
  const auto vz = buffers.matrix<T>(2).block(r, 0, m, 2 * s.kb);
  const StepSpace<T> space(buffers.array<char>(4).data(), s.n, s.b, s.kb);
  // W is a piece of its own here: its place in the work space takes A0 V.
  const auto a_v = space.w.block(r, 0, m, s.b), y = space.y.block(r, 0, m, s.b);
  std::vector<GroupRows<T>> parts;
  for (int g = 0; g < a.columns.groups; ++g)
    if (const Index rows = a.columns.from(g, r); rows > 0)
      parts.push_back({piece<const T>(buffers, 5 + static_cast<int>(parts.size()), rows, s.b), g,
                       a.columns.before(g, r)});
  launch_collect_rows<T>(context.stream, parts, a.columns, r, a_v);
  panel_cuda::launch_times_upper<T>(context.stream, constant(a_v), constant(t), y);
  launch_form_z_of_step<T>(context, space, s, vz, constant(w), constant(y));
  copy_to_piece<T>(context.stream, constant(vz.block(0, s.kb + s.done, m, s.b)),
                   piece<T>(buffers, 3, m, s.b));
}

template <class T>
void group_update_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const GroupUpdateArguments& a) {
  const CyclicColumns& columns = a.columns;
  const Index kb = columns.block, first = columns.before(a.number, a.row), m = columns.n - a.row;
  const auto group = buffers.matrix<T>(0), vz = buffers.matrix<T>(1);
  std::vector<MatrixView<const T>> pieces;
  std::vector<Index> places;
  for (int p = 0; p < a.pieces; ++p)
    for (const bool z : {false, true}) {
      const PiecePlace place = place_of(a, p, z);
      pieces.push_back(piece<const T>(buffers, 3 + p + (z ? a.pieces : 0), place.rows, a.b)
                           .block(place.skipped, 0, m, a.b));
      places.push_back(place.column);
    }
  const auto rows = vz.block(a.row, 0, m, 2 * kb);
  launch_place_pieces<T>(context.stream, pieces, places, rows);
  const Index cols = group.cols - first;
  const MatrixView<T> right{buffers.array<T>(2).data(), cols, 2 * kb, cols};
  launch_exchanged_rows<T>(context.stream, constant(vz), columns, a.number, first, right);
  cublas::gemm<T>(context.cublas, Op::none, Op::adjoint, m, cols, 2 * kb, T(-1), rows.data, rows.ld,
                  right.data, right.ld, T(1), &group(a.row, first), group.ld);
}

#define TESSERA_REGISTER(T)                                                                         \
  register_cuda<GroupPanelArguments, group_panel_cuda<T>>("group_panel", type_letter<T>),           \
      register_cuda<GroupProductArguments, group_product_cuda<T>>("group_product", type_letter<T>), \
      register_cuda<GroupZArguments, group_form_z_cuda<T>>("group_form_z", type_letter<T>),         \
      register_cuda<GroupUpdateArguments, group_update_cuda<T>>("group_update", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
