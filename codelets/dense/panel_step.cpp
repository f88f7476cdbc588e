// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_step.hpp>
#include <tessera/codelets/dense/panel_step_cpu.hpp>

namespace tessera {
namespace {

using namespace panel_step_codelets;

template <class T>
void panel_step_task(const TaskContext&, TaskBuffers buffers, const StepArguments& arguments) {
  const PanelStep& s = arguments.step;
  const auto a = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  const Index c = s.column, r = c + s.b;
  bring_up_to_date<T>(s, arguments.first_col, a.block(c, c, s.n - c, std::min(s.b, s.n - c)), vz, segment);
  if (s.last()) return;

  const Index m = s.n - r;
  const auto w = space.w.block(r, 0, m, s.b), y = space.y.block(r, 0, m, s.b);
  factor_panel<T>(s, arguments.first_col, space, a.block(r, c, m, s.b), vz, segment, buffers.matrix<T>(4), w);
  const auto trailing = a.block(r, r, m, m);
  blas::hemm<T>(Side::left, Uplo::lower, m, s.b, T(1), trailing.data, trailing.ld, w.data, w.ld, T(0), y.data,
                y.ld);
  form_z<T>(space, s, vz.block(r, 0, m, 2 * s.kb), w, y);
}
template <class T>
Codelet panel_step_codelet = make_codelet<StepArguments, panel_step_task<T>>("panel_step", type_letter<T>);

}  // namespace

template <class T>
void insert_panel_step(Sequence& sequence, int priority, const PanelStep& step, const Data& a, const Data& vz,
                       const Data& segment, Index first_col, const Data* t, const Data& workspace) {
  std::vector<Access> accesses{read_write(a), step.done == 0 ? write(vz) : read_write(vz),
                               read_write(segment), scratch(workspace)};
  if (!step.last()) accesses.push_back(write(*t));
  const double m = double(std::max<Index>(step.n - step.column - step.b, 0)), b = double(step.b);
  sequence.insert(
      panel_step_codelet<T>, StepArguments{step, first_col},
      {.priority = priority, .flops = flop_factor<T> * m * b * (2 * m + 12 * double(step.done) + 9 * b)},
      std::span<const Access>(accesses));
}

template <class T>
std::size_t panel_step_workspace_bytes(Index n, Index b, Index kb) {
  return StepSpace<T>::bytes(n, b, kb) + panel_workspace_bytes<T>(std::max(n, 2 * b), b);
}

#define TESSERA_INSTANTIATE(T)                                                                   \
  template void insert_panel_step<T>(Sequence&, int, const PanelStep&, const Data&, const Data&, \
                                     const Data&, Index, const Data*, const Data&);              \
  template std::size_t panel_step_workspace_bytes<T>(Index, Index, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
