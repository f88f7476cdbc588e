// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <tessera/codelets/csb/multiply_csb_arguments.hpp>
#include <tessera/codelets/csb/multiply_csb_cuda.hpp>
#include <tessera/codelets/csb/strip_kernel.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace device {
namespace {

template <class V, class T, int lanes, int each, bool vector>
void launch_strips(cudaStream_t stream, std::int64_t strips, const StripProduct<V, T>& product) {
  constexpr auto kernel = strip_kernel<V, T, lanes, each, vector>;
  constexpr int bytes = sizeof(StripMemory<V, T, lanes * each>), multiprocessor_bytes = 228 * 1024;
  static_assert(bytes <= 113 * 1024, "two thread blocks fit a multiprocessor");
  // Two thread blocks' (and 1 KB that each has besides); all else is first-level cache, for X.
  constexpr int carveout = (2 * (bytes + 1024) * 100 + multiprocessor_bytes - 1) / multiprocessor_bytes;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carveout);
  kernel<<<static_cast<unsigned>(strips), strip_threads, bytes, stream>>>(product);
}

template <class V, class T, int lanes, int each>
void launch_strips(cudaStream_t stream, std::int64_t strips, bool vector, const StripProduct<V, T>& product) {
  if (vector)
    launch_strips<V, T, lanes, each, true>(stream, strips, product);
  else
    launch_strips<V, T, lanes, each, false>(stream, strips, product);
}

/// Of the sizes that there are kernels for, the smallest with m columns.
template <class V, class T>
void launch_for_columns(cudaStream_t stream, std::int64_t strips, bool vector,
                        const StripProduct<V, T>& product) {
  constexpr int each = 16 / sizeof(T);
  if (product.m == 1)
    launch_strips<V, T, 1, 1, false>(stream, strips, product);
  else if (product.m <= 2)
    launch_strips<V, T, 1, 2>(stream, strips, vector && each == 2, product);
  else if (product.m <= 4)
    launch_strips<V, T, 4 / each, each>(stream, strips, vector, product);
  else if (product.m <= 8)
    launch_strips<V, T, 8 / each, each>(stream, strips, vector, product);
  else
    launch_strips<V, T, 16 / each, each>(stream, strips, vector, product);
}

template <class T>
bool whole_vectors(const DeviceVectors<const T>& x) {
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.ld % (16 / sizeof(T)) == 0;
}

constexpr int most_columns = 16;

}  // namespace

template <class V, class T>
void launch_multiply_csb(cudaStream_t stream, const CsbPieceShape& shape, int columns, bool overwrite_rows,
                         bool overwrite_columns, const void* piece, const void* index,
                         const DeviceVectors<const T>& x_columns, const DeviceVectors<const T>& x_rows,
                         const DeviceVectors<T>& y_rows, const DeviceVectors<T>& y_columns) {
  const DeviceVectors<const T> x[2] = {x_columns, shape.on_diagonal ? x_columns : x_rows};
  const DeviceVectors<T> y[2] = {y_rows, shape.on_diagonal ? y_rows : y_columns};
  const bool overwrite[2] = {overwrite_rows, shape.on_diagonal ? overwrite_rows : overwrite_columns};
  const std::int64_t strips = csb_strips(y_rows.rows) + (shape.on_diagonal ? 0 : csb_strips(y_columns.rows));
  if (strips == 0) return;
  const auto view = csb_view<V>(piece, shape.block_count, shape.entry_count, shape.on_diagonal);
  for (int first = 0; first < columns; first += most_columns) {
    const int m = columns - first < most_columns ? columns - first : most_columns;
    const bool last = first + m == columns;
    StripProduct<V, T> product{
        static_cast<const char*>(index), view.values, view.columns, m, {}, {}, {}, {}, {}, {}};
    for (int side = 0; side < 2; ++side) {
      product.x[side] = x[side].data + first;
      product.x_row_bytes[side] = static_cast<std::uint32_t>(x[side].ld * sizeof(T));
      product.y[side] = y[side].data + first;
      product.ldy[side] = y[side].ld;
      product.overwrite[side] = overwrite[side];
      product.cleared[side] = last && overwrite[side] ? static_cast<int>(y[side].width) - first : 0;
    }
    launch_for_columns<V, T>(stream, strips, whole_vectors(x[0]) && whole_vectors(x[1]), product);
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
  const auto x_columns = vectors_of(buffers.matrix<const T>(2));
  const auto y_rows = vectors_of(buffers.matrix<T>(3));
  const bool both = !a.shape.on_diagonal;
  device::launch_multiply_csb<V, T>(context.stream, a.shape, a.columns, a.overwrite_rows, a.overwrite_columns,
                                    buffers.array<const char>(0).data(), buffers.array<const char>(1).data(),
                                    x_columns, both ? vectors_of(buffers.matrix<const T>(4)) : x_columns,
                                    y_rows, both ? vectors_of(buffers.matrix<T>(5)) : y_rows);
}

// With the index that a GPU needs a CPU could still run the task, in another order of sums.
#define TESSERA_REGISTER(V, T)                              \
  register_cuda<MultiplyCsbArguments, multiply_cuda<V, T>>( \
      csb_codelets::multiply_csb_name<V, T>(), type_letter<T>, CudaOptions{.instead_of_cpu = true})
const bool registered[] = {TESSERA_REGISTER(double, double), TESSERA_REGISTER(float, double),
                           TESSERA_REGISTER(float, float)};

}  // namespace

#define TESSERA_INSTANTIATE(V, T)                                                                          \
  template void device::launch_multiply_csb<V, T>(cudaStream_t, const CsbPieceShape&, int, bool, bool,     \
                                                  const void*, const void*, const DeviceVectors<const T>&, \
                                                  const DeviceVectors<const T>&, const DeviceVectors<T>&,  \
                                                  const DeviceVectors<T>&);
TESSERA_INSTANTIATE(double, double)
TESSERA_INSTANTIATE(float, double)
TESSERA_INSTANTIATE(float, float)

}  // namespace tessera
