// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <tessera/codelets/csb/multiply_csb_arguments.hpp>
#include <tessera/codelets/csb/multiply_csb_cuda.hpp>
#include <tessera/codelets/csb/slice_kernel.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace device {
namespace {

template <class V, class T, int parts, bool vector>
void launch_slices(cudaStream_t stream, std::int64_t strips, std::int64_t strip_warps,
                   const SliceProduct<V, T>& product) {
  constexpr auto kernel = slice_kernel<V, T, parts, vector>;
  // All of it is first-level cache, for X.
  cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
  kernel<<<static_cast<unsigned>(parts * strips), static_cast<unsigned>(32 / parts * strip_warps), 0,
           stream>>>(product);
}

template <class V, class T, int parts>
void launch_slices(cudaStream_t stream, std::int64_t strips, std::int64_t strip_warps, bool vector,
                   const SliceProduct<V, T>& product) {
  if (vector)
    launch_slices<V, T, parts, true>(stream, strips, strip_warps, product);
  else
    launch_slices<V, T, parts, false>(stream, strips, strip_warps, product);
}

template <class T>
bool whole_vectors(const DeviceVectors<const T>& x) {
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.ld % (16 / sizeof(T)) == 0;
}

/// Columns of a lane of each row in one access, and in two.
template <class T>
constexpr int narrow_columns = lanes_of_row * 16 / sizeof(T);

}  // namespace

template <class V, class T>
void launch_multiply_csb(cudaStream_t stream, const CsbPieceShape& shape, int columns, bool overwrite_rows,
                         bool overwrite_columns, const void* index, const DeviceVectors<const T>& x_columns,
                         const DeviceVectors<const T>& x_rows, const DeviceVectors<T>& y_rows,
                         const DeviceVectors<T>& y_columns) {
  const DeviceVectors<const T> x[2] = {x_columns, shape.on_diagonal ? x_columns : x_rows};
  const DeviceVectors<T> y[2] = {y_rows, shape.on_diagonal ? y_rows : y_columns};
  const bool overwrite[2] = {overwrite_rows, shape.on_diagonal ? overwrite_rows : overwrite_columns};
  const std::int64_t columns_of_piece = shape.on_diagonal ? 0 : y_columns.rows,
                     warps = csb_strip_warps(y_rows.rows + columns_of_piece),
                     strips = csb_strips(y_rows.rows, warps) + csb_strips(columns_of_piece, warps);
  if (strips == 0) return;
  const bool vector = whole_vectors(x[0]) && whole_vectors(x[1]);
  for (int first = 0; first < columns; first += 2 * narrow_columns<T>) {
    const int m = columns - first < 2 * narrow_columns<T> ? columns - first : 2 * narrow_columns<T>;
    const bool last = first + m == columns;
    SliceProduct<V, T> product{static_cast<const char*>(index), m, {}, {}, {}, {}, {}, {}};
    for (int side = 0; side < 2; ++side) {
      product.x[side] = x[side].data + first;
      product.x_row_bytes[side] = static_cast<std::uint32_t>(x[side].ld * sizeof(T));
      product.y[side] = y[side].data + first;
      product.ldy[side] = y[side].ld;
      product.overwrite[side] = overwrite[side];
      product.cleared[side] = last && overwrite[side] ? static_cast<int>(y[side].width) - first : 0;
    }
    if (m <= narrow_columns<T>)
      launch_slices<V, T, 1>(stream, strips, warps, vector, product);
    else
      launch_slices<V, T, 2>(stream, strips, warps, vector, product);
  }
}

}  // namespace device

namespace {

using csb_codelets::MultiplyCsbArguments;

template <class T>
device::DeviceVectors<T> vectors_of(const MatrixView<T>& a) {
  return {a.data, a.ld, a.cols, a.rows};
}

template <class V, class T>
void multiply_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                   const MultiplyCsbArguments& a) {
  const int index = a.has_piece ? 1 : 0;
  const auto x_columns = vectors_of(buffers.matrix<const T>(index + 1));
  const auto y_rows = vectors_of(buffers.matrix<T>(index + 2));
  const bool both = !a.shape.on_diagonal;
  device::launch_multiply_csb<V, T>(context.stream, a.shape, a.columns, a.overwrite_rows, a.overwrite_columns,
                                    buffers.array<const char>(index).data(), x_columns,
                                    both ? vectors_of(buffers.matrix<const T>(index + 3)) : x_columns, y_rows,
                                    both ? vectors_of(buffers.matrix<T>(index + 4)) : y_rows);
}

// With the index that a GPU needs a CPU could still run the task, in another order of sums.
#define TESSERA_REGISTER(V, T)                              \
  register_cuda<MultiplyCsbArguments, multiply_cuda<V, T>>( \
      csb_codelets::multiply_csb_name<V, T>(), type_letter<T>, CudaOptions{.instead_of_cpu = true})
const bool registered[] = {TESSERA_REGISTER(double, double), TESSERA_REGISTER(float, double),
                           TESSERA_REGISTER(float, float)};

}  // namespace

#define TESSERA_INSTANTIATE(V, T)                                                                      \
  template void device::launch_multiply_csb<V, T>(                                                     \
      cudaStream_t, const CsbPieceShape&, int, bool, bool, const void*, const DeviceVectors<const T>&, \
      const DeviceVectors<const T>&, const DeviceVectors<T>&, const DeviceVectors<T>&);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)

}  // namespace tessera
