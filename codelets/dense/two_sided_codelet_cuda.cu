// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/hermitian_cuda.hpp>
#include <tessera/codelets/dense/panel_kernels.hpp>
#include <tessera/codelets/dense/two_sided_arguments.hpp>
#include <tessera/codelets/dense/two_sided_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace two_sided_codelets;

template <class T>
void mirror_lower_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const MirrorArguments&) {
  const auto a = buffers.matrix<T>(0);
  launch_mirror_lower<T>(context.stream, a.rows, a.data, a.ld);
}

template <class T>
void two_sided_product_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                            const ProductArguments& arguments) {
  const TilePart& part = arguments.part;
  const auto a = part.of(buffers.matrix<const T>(0));
  const Index b = buffers.matrix<const T>(1).cols;
  const auto rows_of = [&](auto whole) { return whole.block(part.row, 0, part.rows, b); };
  const auto cols_of = [&](auto whole) { return whole.block(part.col, 0, part.cols, b); };
  if (arguments.diagonal)
    launch_hermitian_product<T>(context.cublas, a, rows_of(buffers.matrix<const T>(1)), arguments.fresh_i,
                                rows_of(buffers.matrix<T>(2)));
  else
    launch_product_pair<T>(context.cublas, a, rows_of(buffers.matrix<const T>(1)),
                           cols_of(buffers.matrix<const T>(2)), arguments.fresh_i, arguments.fresh_j,
                           rows_of(buffers.matrix<T>(3)), cols_of(buffers.matrix<T>(4)));
}

template <class T>
void inner_products_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                         const InnerArguments& a) {
  const auto vz = buffers.matrix<const T>(0).block(a.row, 0, a.rows, 2 * a.kb);
  const auto w = buffers.matrix<const T>(1).block(a.row, 0, a.rows, a.b);
  const auto y = buffers.matrix<T>(2).block(a.row, 0, a.rows, a.b);
  std::vector<MatrixView<const T>> parts;
  for (int k = 4; k < buffers.count(); ++k)
    parts.push_back(buffers.matrix<const T>(k).block(a.row, 0, a.rows, a.b));
  launch_sum_parts<T>(context.stream, parts, a.y_fresh, y);
  launch_inner_products<T>(context.cublas, vz, w, constant(y), a.done, a.kb, buffers.matrix<T>(3));
}

template <class T>
void inner_sum_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const InnerArguments& a) {
  const int count = buffers.count() - 1;
  std::vector<MatrixView<const T>> pieces;
  for (int k = 0; k < count; ++k) pieces.push_back(buffers.matrix<const T>(k));
  launch_inner_sum<T>(context.stream, pieces, a.done, a.kb, a.b, buffers.matrix<T>(count));
}

template <class T>
void form_z_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                 const InnerArguments& a) {
  launch_form_z<T>(context.cublas, buffers.matrix<const T>(0),
                   buffers.matrix<const T>(1).block(a.row, 0, a.rows, a.b), a.done, a.kb,
                   buffers.matrix<T>(2).block(a.row, 0, a.rows, 2 * a.kb));
}

template <class T>
void panel_update_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const UpdateArguments& a) {
  const auto vz = buffers.matrix<const T>(0).block(a.part.row, 0, a.part.rows, 2 * a.kb);
  const auto top = buffers.matrix<const T>(a.same ? 0 : 1).block(a.top_row, 0, a.part.cols, 2 * a.kb);
  launch_subtract_pair<T>(context.cublas, vz, top, a.done, a.kb, nullptr,
                          a.part.of(buffers.matrix<T>(a.same ? 1 : 2)));
}

template <class T>
void rank_2k_update_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                         const UpdateArguments& a) {
  const auto vz_i = buffers.matrix<const T>(0).block(a.part.row, 0, a.part.rows, 2 * a.kb);
  const auto c = a.part.of(buffers.matrix<T>(a.same ? 1 : 2));
  T* workspace = buffers.array<T>(a.same ? 2 : 3).data();
  if (a.same)
    launch_hermitian_update<T>(context.cublas, vz_i, a.done, a.kb, workspace, c);
  else
    launch_subtract_pair<T>(context.cublas, vz_i,
                            buffers.matrix<const T>(1).block(a.part.col, 0, a.part.cols, 2 * a.kb), a.done,
                            a.kb, workspace, c);
}

template <class T>
void set_zero_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const ZeroArguments&) {
  launch_set_zero<T>(context.stream, buffers.matrix<T>(0));
}

template <class T>
void copy_to_band_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const BandArguments& a) {
  MatrixView<const T> source;
  if (a.from_factor)
    source =
        constant(kernels::PanelFactor<T>(const_cast<char*>(buffers.array<const char>(0).data()), a.b).band());
  else
    source = buffers.matrix<const T>(0);
  launch_copy_to_band<T>(context.stream, a.part.of(source), a.b, a.row0, a.col0, a.first_col,
                         buffers.matrix<T>(1));
}

#define TESSERA_REGISTER(T)                                                                            \
  register_cuda<MirrorArguments, mirror_lower_cuda<T>>("mirror_lower", type_letter<T>),                \
      register_cuda<ProductArguments, two_sided_product_cuda<T>>("two_sided_product", type_letter<T>), \
      register_cuda<InnerArguments, inner_products_cuda<T>>("inner_products", type_letter<T>),         \
      register_cuda<InnerArguments, inner_sum_cuda<T>>("inner_sum", type_letter<T>),                   \
      register_cuda<InnerArguments, form_z_cuda<T>>("form_z", type_letter<T>),                         \
      register_cuda<UpdateArguments, panel_update_cuda<T>>("panel_update", type_letter<T>),            \
      register_cuda<UpdateArguments, rank_2k_update_cuda<T>>("rank_2k_update", type_letter<T>),        \
      register_cuda<ZeroArguments, set_zero_cuda<T>>("set_zero", type_letter<T>),                      \
      register_cuda<BandArguments, copy_to_band_cuda<T>>("copy_to_band", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
