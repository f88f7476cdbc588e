// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <tessera/codelets/dense/panel_qr_cuda.hpp>
#include <tessera/codelets/dense/panel_step_arguments.hpp>
#include <tessera/codelets/dense/two_sided_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace panel_step_codelets;

template <class T>
void panel_step_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const StepArguments& arguments) {
  const PanelStep& s = arguments.step;
  const auto a = buffers.matrix<T>(0), vz = buffers.matrix<T>(1), segment = buffers.matrix<T>(2);
  const StepSpace<T> space(buffers.array<char>(3).data(), s.n, s.b, s.kb);
  const Index c = s.column, r = c + s.b, width = std::min(s.b, s.n - c);
  if (s.done > 0)
    launch_subtract_pair<T>(context.cublas, constant(vz.block(c, 0, s.n - c, 2 * s.kb)),
                            constant(vz.block(c, 0, width, 2 * s.kb)), s.done, s.kb, nullptr,
                            a.block(c, c, s.n - c, width));
  launch_copy_to_band<T>(context.stream, constant(a.block(c, c, width, width)), s.b, c, c,
                         arguments.first_col, segment);
  if (s.last()) return;

  const Index m = s.n - r;
  const auto t = buffers.matrix<T>(4), p = a.block(r, c, m, s.b), v = vz.block(r, s.done, m, s.b),
             w = space.w.block(r, 0, m, s.b), y = space.y.block(r, 0, m, s.b);
  const auto trailing_vz = vz.block(r, 0, m, 2 * s.kb);
  panel_cuda::launch_panel_householder<T>(context.stream, constant(p), v, space.factor, t, space.panel);
  panel_cuda::launch_panel_vectors<T>(context.stream, space.factor, constant(t), v, true, true, p, w);
  launch_copy_to_band<T>(context.stream, constant(space.factor.band().block(0, 0, std::min(s.b, m), s.b)),
                         s.b, r, c, arguments.first_col, segment);
  launch_hermitian_product<T>(context.cublas, constant(a.block(r, r, m, m)), constant(w), true, y);
  launch_inner_products<T>(context.cublas, constant(trailing_vz), constant(w), constant(y), s.done, s.kb,
                           space.d);
  const std::array<MatrixView<const T>, 1> pieces{constant(space.d)};
  launch_inner_sum<T>(context.stream, pieces, s.done, s.kb, s.b, space.d_sum);
  launch_form_z<T>(context.cublas, constant(space.d_sum), constant(y), s.done, s.kb, trailing_vz);
}

#define TESSERA_REGISTER(T) register_cuda<StepArguments, panel_step_cuda<T>>("panel_step", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
