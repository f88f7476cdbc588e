// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/dense/check_arguments.hpp>
#include <tessera/codelets/dense/check_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace check_codelets;

template <class T>
void hermitian_times_slab_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                               const ProductArguments& arguments) {
  const auto a = buffers.matrix<const T>(0), x = buffers.matrix<const T>(1);
  const auto y = buffers.matrix<T>(2);
  if (y.rows == 0 || y.cols == 0) return;
  if (arguments.fresh)
    cudaMemset2DAsync(y.data, sizeof(T) * static_cast<std::size_t>(y.ld), 0,
                      sizeof(T) * static_cast<std::size_t>(y.rows), static_cast<std::size_t>(y.cols),
                      context.stream);
  const Index i = arguments.row0, j = arguments.col0;
  const auto x_of_rows = x.block(i, 0, a.rows, x.cols), x_of_cols = x.block(j, 0, a.cols, x.cols);
  const auto y_of_rows = y.block(i, 0, a.rows, y.cols), y_of_cols = y.block(j, 0, a.cols, y.cols);
  if (i == j) {
    cublas::hemm<T>(context.cublas, Side::left, Uplo::lower, a.rows, y.cols, T(1), a.data, a.ld,
                    x_of_rows.data, x.ld, T(1), y_of_rows.data, y.ld);
    return;
  }
  cublas::gemm<T>(context.cublas, Op::none, Op::none, a.rows, y.cols, a.cols, T(1), a.data, a.ld,
                  x_of_cols.data, x.ld, T(1), y_of_rows.data, y.ld);
  cublas::gemm<T>(context.cublas, Op::adjoint, Op::none, a.cols, y.cols, a.rows, T(1), a.data, a.ld,
                  x_of_rows.data, x.ld, T(1), y_of_cols.data, y.ld);
}

template <class T>
void column_sums_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                      const ColumnArguments& arguments) {
  const auto r = buffers.matrix<const T>(0);
  if (buffers.count() == 2)
    return device::launch_column_sums<T>(context.stream, r, nullptr, nullptr,
                                         buffers.array<double>(1).data());
  const auto y = buffers.matrix<const T>(1);
  device::launch_column_sums<T>(context.stream, r, &y,
                                buffers.array<const RealOf<T>>(2).data() + arguments.first,
                                buffers.array<double>(3).data());
}

template <class T>
void inner_sums_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const InnerArguments& arguments) {
  const int shift = arguments.one_piece ? 0 : 1;
  const auto x = buffers.matrix<const T>(0), y = buffers.matrix<const T>(shift);
  const auto workspace = buffers.array<T>(shift + 2);
  T* const product = workspace.data();
  const Index step = columns_at_once(workspace.size(), x.cols);
  for (Index first = 0; first < y.cols; first += step) {
    const Index count = std::min(step, y.cols - first);
    cublas::gemm<T>(context.cublas, Op::adjoint, Op::none, x.cols, count, x.rows, T(1), x.data, x.ld,
                    y.data + first * y.ld, y.ld, T(0), product, x.cols);
    device::launch_row_sums<T>(context.stream, {product, x.cols, count, x.cols}, arguments.same, first,
                               buffers.array<double>(shift + 1).data());
  }
}

template <class T>
void tile_sums_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const TileArguments& arguments) {
  device::launch_tile_sums<T>(context.stream, buffers.matrix<const T>(0), arguments.diagonal,
                              buffers.array<double>(1).data());
}

#define TESSERA_REGISTER(T)                                                                              \
  register_cuda<ProductArguments, hermitian_times_slab_cuda<T>>("hermitian_times_slab", type_letter<T>), \
      register_cuda<ColumnArguments, column_sums_cuda<T>>("column_sums", type_letter<T>),                \
      register_cuda<InnerArguments, inner_sums_cuda<T>>("inner_sums", type_letter<T>),                   \
      register_cuda<TileArguments, tile_sums_cuda<T>>("tile_sums", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
