// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/dense/column_groups_arguments.hpp>
#include <tessera/codelets/dense/panel_step_cpu.hpp>

namespace tessera {
namespace {

using namespace column_group_codelets;
using panel_step_codelets::bring_up_to_date, panel_step_codelets::copy, panel_step_codelets::factor_panel,
    panel_step_codelets::form_z, panel_step_codelets::multiply, panel_step_codelets::StepSpace;

template <class T>
void group_panel_task(const TaskContext&, TaskBuffers buffers, const GroupPanelArguments& a) {
  const PanelStep& s = a.step;
  const auto group = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const Index c = s.column, r = c + s.b, m = s.n - r;
  bring_up_to_date<T>(s, a.first_col, group.block(c, a.local, s.n - c, std::min(s.b, s.n - c)), vz, segment);
  if (s.last()) return;
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  factor_panel<T>(s, a.first_col, space, group.block(r, a.local, m, s.b), vz, segment, buffers.matrix<T>(4),
                  buffers.matrix<T>(5).block(r, 0, m, s.b));
  copy<T>(vz.block(r, s.done, m, s.b), piece<T>(buffers, 6, m, s.b));
}
template <class T>
Codelet group_panel_codelet = make_codelet<GroupPanelArguments, group_panel_task<T>>("group_panel",
                                                                                     type_letter<T>);

template <class T>
void group_product_task(const TaskContext&, TaskBuffers buffers, const GroupProductArguments& a) {
  const auto group = buffers.matrix<const T>(0);
  const Index m = group.rows - a.row, cols = group.cols - a.first;
  const auto v = piece<const T>(buffers, 1, m, a.b);
  const auto y = piece<T>(buffers, 2, cols, a.b);
  blas::gemm(Op::adjoint, Op::none, cols, a.b, m, T(1), &group(a.row, a.first), group.ld, v.data, v.ld, T(0),
             y.data, y.ld);
}
template <class T>
Codelet group_product_codelet = make_codelet<GroupProductArguments, group_product_task<T>>("group_product",
                                                                                           type_letter<T>);

/// Rows [row, n) of A0 V from the groups' pieces, from buffer `first` on.
template <class T>
void collect_rows(const TaskBuffers& buffers, int first, const CyclicColumns& columns, Index row,
                  MatrixView<T> y) {
  for (int g = 0; g < columns.groups; ++g) {
    const Index before = columns.before(g, row), rows = columns.from(g, row);
    if (rows == 0) continue;
    const auto part = piece<const T>(buffers, first++, rows, y.cols);
    for (Index j = 0; j < y.cols; ++j)
      for (Index i = 0; i < rows; ++i) y(columns.global(g, before + i) - row, j) = part(i, j);
  }
}

template <class T>
void group_form_z_task(const TaskContext&, TaskBuffers buffers, const GroupZArguments& a) {
  const PanelStep& s = a.step;
  const Index r = s.column + s.b, m = s.n - r;
  const auto w = buffers.matrix<T>(0).block(r, 0, m, s.b), t = buffers.matrix<T>(1);
  const auto vz = buffers.matrix<T>(2).block(r, 0, m, 2 * s.kb);
  const StepSpace<T> space(buffers.array<char>(4).data(), s.n, s.b, s.kb);
  const auto y = space.y.block(r, 0, m, s.b);
  collect_rows<T>(buffers, 5, a.columns, r, y);
  blas::trmm(Side::right, Uplo::upper, Op::none, Diag::non_unit, m, s.b, T(1), t.data, t.ld, y.data, y.ld);
  form_z<T>(space, s, vz, w, y);
  copy<T>(vz.block(0, s.kb + s.done, m, s.b), piece<T>(buffers, 3, m, s.b));
}
template <class T>
Codelet group_form_z_codelet = make_codelet<GroupZArguments, group_form_z_task<T>>("group_form_z",
                                                                                   type_letter<T>);

template <class T>
void group_update_task(const TaskContext&, TaskBuffers buffers, const GroupUpdateArguments& a) {
  const CyclicColumns& columns = a.columns;
  const Index kb = columns.block, first = columns.before(a.number, a.row), m = columns.n - a.row;
  const auto group = buffers.matrix<T>(0), vz = buffers.matrix<T>(1);
  for (int p = 0; p < a.pieces; ++p)
    for (const bool z : {false, true}) {
      const PiecePlace place = place_of(a, p, z);
      const auto part = piece<T>(buffers, 3 + p + (z ? a.pieces : 0), place.rows, a.b);
      copy<T>(part.block(place.skipped, 0, m, a.b), vz.block(a.row, place.column, m, a.b));
    }
  // [Z V], the rows of the group's columns: what multiplies [V Z] from the right.
  const Index cols = group.cols - first;
  const MatrixView<T> right{buffers.array<T>(2).data(), cols, 2 * kb, cols};
  for (Index j = 0; j < 2 * kb; ++j)
    for (Index l = 0; l < cols; ++l)
      right(l, j) = vz(columns.global(a.number, first + l), j < kb ? j + kb : j - kb);
  multiply<T>(-1, Op::none, vz.block(a.row, 0, m, 2 * kb), Op::adjoint, right, 1,
              group.block(a.row, first, m, cols));
}
template <class T>
Codelet group_update_codelet = make_codelet<GroupUpdateArguments, group_update_task<T>>("group_update",
                                                                                        type_letter<T>);

}  // namespace

template <class T>
void insert_group_panel(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                        const CyclicColumns& columns, const Data& group, const Data& vz, const Data& segment,
                        Index first_col, const Data& workspace, const Data* t, const Data* w, const Data* v) {
  std::vector<Access> accesses{read_write(group), step.done == 0 ? write(vz) : read_write(vz),
                               read_write(segment), scratch(workspace)};
  if (!step.last()) accesses.insert(accesses.end(), {write(*t), write(*w), write(*v)});
  const double m = double(std::max<Index>(step.n - step.column - step.b, 0)), b = double(step.b);
  sequence.insert(
      group_panel_codelet<T>, GroupPanelArguments{step, columns.local(step.column), first_col},
      {.priority = priority, .flops = flop_factor<T> * m * b * (4 * double(step.done) + 5 * b), .gpu = gpu},
      std::span<const Access>(accesses));
}

template <class T>
void insert_group_product(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                          const CyclicColumns& columns, int number, const Data& group, const Data& v,
                          const Data& y) {
  const Index r = step.column + step.b;
  const double flops = 2.0 * double(step.n - r) * double(step.b) * double(columns.from(number, r));
  sequence.insert(group_product_codelet<T>, GroupProductArguments{r, columns.before(number, r), step.b},
                  {.priority = priority, .flops = flop_factor<T> * flops, .gpu = gpu},
                  {read(group), read(v), write(y)});
}

template <class T>
void insert_group_form_z(Sequence& sequence, int priority, int gpu, const PanelStep& step,
                         const CyclicColumns& columns, const Data& w, const Data& t, const Data& vz,
                         const Data& z, const Data& workspace, std::span<const Data* const> y) {
  std::vector<Access> accesses{read(w), read(t), read_write(vz), write(z), scratch(workspace)};
  for (const Data* piece : y)
    if (piece) accesses.push_back(read(*piece));
  const double m = double(step.n - step.column - step.b), b = double(step.b);
  sequence.insert(
      group_form_z_codelet<T>, GroupZArguments{step, columns},
      {.priority = priority, .flops = flop_factor<T> * m * b * (8 * double(step.done) + 6 * b), .gpu = gpu},
      std::span<const Access>(accesses));
}

template <class T>
void insert_group_update(Sequence& sequence, int priority, int gpu, const CyclicColumns& columns, int number,
                         Index row, Index b, const Data& group, const Data& vz, const Data& workspace,
                         std::span<const Data> v, std::span<const Data> z) {
  std::vector<Access> accesses{read_write(group), v.empty() ? read(vz) : write(vz), scratch(workspace)};
  for (const auto& pieces : {v, z})
    for (const Data& piece : pieces) accesses.push_back(read(piece));
  const double flops =
      4.0 * double(columns.block) * double(columns.n - row) * double(columns.from(number, row));
  sequence.insert(group_update_codelet<T>,
                  GroupUpdateArguments{columns, number, row, b, static_cast<std::int32_t>(v.size())},
                  {.priority = priority, .flops = flop_factor<T> * flops, .gpu = gpu},
                  std::span<const Access>(accesses));
}

#define TESSERA_INSTANTIATE(T)                                                                            \
  template void insert_group_panel<T>(Sequence&, int, int, const PanelStep&, const CyclicColumns&,        \
                                      const Data&, const Data&, const Data&, Index, const Data&,          \
                                      const Data*, const Data*, const Data*);                             \
  template void insert_group_product<T>(Sequence&, int, int, const PanelStep&, const CyclicColumns&, int, \
                                        const Data&, const Data&, const Data&);                           \
  template void insert_group_form_z<T>(Sequence&, int, int, const PanelStep&, const CyclicColumns&,       \
                                       const Data&, const Data&, const Data&, const Data&, const Data&,   \
                                       std::span<const Data* const>);                                     \
  template void insert_group_update<T>(Sequence&, int, int, const CyclicColumns&, int, Index, Index,      \
                                       const Data&, const Data&, const Data&, std::span<const Data>,      \
                                       std::span<const Data>);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
