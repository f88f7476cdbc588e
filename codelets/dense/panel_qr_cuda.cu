// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/panel_qr.hpp>
#include <tessera/codelets/dense/panel_qr_arguments.hpp>
#include <tessera/codelets/dense/panel_qr_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace panel_qr_codelets;

using kernels::PanelFactor;

static_assert(panel_cuda::widest_cholesky_panel == widest_gpu_panel);

template <class T>
PanelFactor<T> factor_of(TaskBuffers buffers, int i, Index b) {
  return PanelFactor<T>(buffers.array<char>(i).data(), b);
}
void* workspace_of(TaskBuffers buffers, int i) {
  return buffers.array<char>(i).data();
}

/// Sum of the leading buffers into factor.work.
template <class T>
void add_grams(cudaStream_t stream, TaskBuffers buffers, int count, const PanelFactor<T>& factor) {
  std::vector<MatrixView<const T>> grams;
  for (int k = 0; k < count; ++k) grams.push_back(buffers.matrix<const T>(k));
  panel_cuda::launch_panel_add<T>(stream, grams, factor);
}

template <class T>
void panel_gram_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const PanelArguments& a) {
  panel_cuda::launch_panel_gram<T>(context.stream, a.panel.of(buffers.matrix<const T>(0)),
                                   buffers.matrix<T>(1), workspace_of(buffers, 2));
}

template <class T>
void panel_cholesky_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                         const PanelArguments& a) {
  const int count = buffers.count() - 1;
  const auto factor = factor_of<T>(buffers, count, a.b);
  add_grams<T>(context.stream, buffers, count, factor);
  panel_cuda::launch_panel_cholesky<T>(context.stream, factor);
}

template <class T>
void panel_orthogonalize_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                              const PanelArguments& a) {
  const auto p = a.panel.of(buffers.matrix<const T>(0));
  panel_cuda::launch_panel_orthogonalize<T>(context.stream, p, factor_of<T>(buffers, 1, p.cols),
                                            a.v.of(buffers.matrix<T>(2)), buffers.matrix<T>(3),
                                            workspace_of(buffers, 4));
}

template <class T>
void panel_check_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                      const PanelArguments& a) {
  const int count = buffers.count() - 1;
  const auto factor = factor_of<T>(buffers, count, a.b);
  add_grams<T>(context.stream, buffers, count, factor);
  panel_cuda::launch_panel_check<T>(context.stream, factor);
}

template <class T>
void tsqr_leaf_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const PanelArguments& a) {
  const auto p = a.panel.of(buffers.matrix<const T>(0));
  panel_cuda::launch_thin_qr<T>(context.stream, factor_of<T>(buffers, 1, p.cols).fallback, p,
                                a.v.of(buffers.matrix<T>(2)), buffers.matrix<T>(3), workspace_of(buffers, 4));
}

template <class T>
void tsqr_combine_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const PanelArguments& a) {
  const int leaves = buffers.count() - 3;
  const auto factor = factor_of<T>(buffers, leaves, a.b);
  const auto stack = buffers.matrix<T>(leaves + 1);
  Index row = 0;
  for (int k = 0; k < leaves; ++k) {
    const auto l = buffers.matrix<const T>(k);
    const Index rows = k == 0 ? a.first_rows : k == leaves - 1 ? a.last_rows : a.b;
    cudaMemcpy2DAsync(stack.data + row, sizeof(T) * stack.ld, l.data, sizeof(T) * l.ld, sizeof(T) * rows, a.b,
                      cudaMemcpyDeviceToDevice, context.stream);
    row += rows;
  }
  panel_cuda::launch_thin_qr<T>(context.stream, factor.fallback,
                                {stack.data, stack.rows, stack.cols, stack.ld}, stack, factor.r(),
                                workspace_of(buffers, leaves + 2));
}

template <class T>
void panel_finish_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const PanelArguments& a) {
  const auto q = a.v.of(buffers.matrix<T>(2));
  const auto stack = buffers.matrix<const T>(1);
  panel_cuda::launch_panel_finish<T>(context.stream, factor_of<T>(buffers, 0, q.cols),
                                     stack.block(a.stack_row, 0, std::min(q.rows, q.cols), q.cols), q,
                                     workspace_of(buffers, 3));
}

template <class T>
void panel_reconstruct_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const PanelArguments& a) {
  panel_cuda::launch_panel_reconstruct<T>(context.stream, a.v.of(buffers.matrix<const T>(0)),
                                          factor_of<T>(buffers, 1, a.b), buffers.matrix<T>(2));
}

template <class T>
void panel_householder_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const PanelArguments& a) {
  panel_cuda::launch_panel_householder<T>(context.stream, a.panel.of(buffers.matrix<const T>(0)),
                                          a.v.of(buffers.matrix<T>(1)), factor_of<T>(buffers, 2, a.b),
                                          buffers.matrix<T>(3), workspace_of(buffers, 4));
}

template <class T>
void panel_vectors_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                        const PanelArguments& a) {
  const auto v = a.v.of(buffers.matrix<T>(2));
  panel_cuda::launch_panel_vectors<T>(
      context.stream, factor_of<T>(buffers, 0, v.cols), buffers.matrix<const T>(1), v, a.top, a.formed,
      a.panel.of(buffers.matrix<T>(3)), buffers.matrix<T>(4).block(a.panel.row, 0, v.rows, v.cols));
}

#define TESSERA_REGISTER(T)                                                                              \
  register_cuda<PanelArguments, panel_gram_cuda<T>>("panel_gram", type_letter<T>),                       \
      register_cuda<PanelArguments, panel_cholesky_cuda<T>>("panel_cholesky", type_letter<T>),           \
      register_cuda<PanelArguments, panel_orthogonalize_cuda<T>>("panel_orthogonalize", type_letter<T>), \
      register_cuda<PanelArguments, panel_check_cuda<T>>("panel_check", type_letter<T>),                 \
      register_cuda<PanelArguments, tsqr_leaf_cuda<T>>("tsqr_leaf", type_letter<T>),                     \
      register_cuda<PanelArguments, tsqr_combine_cuda<T>>("tsqr_combine", type_letter<T>),               \
      register_cuda<PanelArguments, panel_finish_cuda<T>>("panel_finish", type_letter<T>),               \
      register_cuda<PanelArguments, panel_reconstruct_cuda<T>>("panel_reconstruct", type_letter<T>),     \
      register_cuda<PanelArguments, panel_householder_cuda<T>>("panel_householder", type_letter<T>),     \
      register_cuda<PanelArguments, panel_vectors_cuda<T>>("panel_vectors", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
