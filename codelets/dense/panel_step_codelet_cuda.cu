// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/dense/panel_step_cuda.hpp>

namespace tessera {
namespace {

using namespace panel_step_codelets;

template <class T>
void panel_step_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const StepArguments& arguments) {
  const PanelStep& s = arguments.step;
  const auto a = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  const Index c = s.column, r = c + s.b;
  launch_bring_up_to_date<T>(context, s, arguments.first_col, a.block(c, c, s.n - c, std::min(s.b, s.n - c)),
                             vz, segment);
  if (s.last()) return;

  const Index m = s.n - r;
  const auto w = space.w.block(r, 0, m, s.b), y = space.y.block(r, 0, m, s.b);
  launch_factor_panel<T>(context, s, arguments.first_col, space, a.block(r, c, m, s.b), vz, segment,
                         buffers.matrix<T>(4), w);
  launch_hermitian_product<T>(context.cublas, constant(a.block(r, r, m, m)), constant(w), true, y);
  launch_form_z_of_step<T>(context, space, s, vz.block(r, 0, m, 2 * s.kb), constant(w), constant(y));
}

#define TESSERA_REGISTER(T) register_cuda<StepArguments, panel_step_cuda<T>>("panel_step", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
