// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <tessera/codelets/sparse/kernels/multiply_csb.hpp>
#include <tessera/codelets/sparse/kernels/strip_kernel.cuh>
#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/codelets/vectors/columns.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace device {
namespace {

template <class V, class T, int parts, bool vector>
void launch_strips(cudaStream_t stream, std::int64_t strips, std::int64_t strip_rows,
                   const StripProduct<T>& product) {
  constexpr auto kernel = strip_kernel<V, T, parts, vector>;
  const std::size_t shared = strip_shared_bytes<parts>(strip_rows);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
  kernel<<<static_cast<unsigned>(strips), strip_threads<parts>, shared, stream>>>(product);
}

template <class V, class T, int parts>
void launch_strips(cudaStream_t stream, std::int64_t strips, std::int64_t strip_rows, bool vector,
                   const StripProduct<T>& product) {
  // Complex numbers in double fill 16 bytes.
  constexpr bool always = is_complex_scalar<V> && sizeof(T) == sizeof(double);
  if (vector || always)
    launch_strips<V, T, parts, true>(stream, strips, strip_rows, product);
  else if constexpr (!always)
    launch_strips<V, T, parts, false>(stream, strips, strip_rows, product);
}

template <class T>
bool whole_vectors(const DeviceVectors<const T>& x) {
  return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.ld % (16 / sizeof(T)) == 0;
}

/// As real columns.
template <class T>
DeviceVectors<RealElement<T>> real_vectors(const DeviceVectors<T>& x) {
  constexpr int reals = reals_of<std::remove_const_t<T>>;
  return {reinterpret_cast<RealElement<T>*>(x.data), reals * x.ld, x.rows, reals * x.width};
}

/// Columns that 64 bytes hold: one part.
template <class T>
constexpr int narrow_columns = 64 / sizeof(T);

}  // namespace

template <class V, class T>
void launch_multiply_csb(cudaStream_t stream, const CsbPieceShape& shape, int columns, Store store_rows,
                         Store store_columns, const void* index, const DeviceVectors<const T>& x_columns,
                         const DeviceVectors<const T>& x_rows, const DeviceVectors<T>& y_rows,
                         const DeviceVectors<T>& y_columns) {
  using R = RealOf<T>;
  using Value = DeviceScalar<V>;
  const int real_columns = reals_of<T> * columns;
  const DeviceVectors<const R> x[2] = {real_vectors(x_columns), real_vectors(x_rows)};
  const DeviceVectors<R> y[2] = {real_vectors(y_rows), real_vectors(y_columns)};
  const Store store[2] = {store_rows, store_columns};
  const bool written[2] = {shape.adds_to_rows(), shape.adds_to_columns()};
  const std::int64_t rows[2] = {written[0] ? y[0].rows : 0, written[1] ? y[1].rows : 0},
                     strip_rows = csb_strip_rows(rows[0] + rows[1]),
                     strips = csb_strips(rows[0], strip_rows) + csb_strips(rows[1], strip_rows);
  const int passes = shape.index_in_two_passes ? 2 : 1;
  if (strips == 0) return;
  const bool vector = (!written[0] || whole_vectors(x[0])) && (!written[1] || whole_vectors(x[1]));
  for (int first = 0; first < real_columns; first += 2 * narrow_columns<R>) {
    const int m = real_columns - first < 2 * narrow_columns<R> ? real_columns - first : 2 * narrow_columns<R>;
    const bool last = first + m == real_columns;
    StripProduct<R> product{
        static_cast<const char*>(index), 0, static_cast<int>(strip_rows), m, {}, {}, {}, {}, {}, {}};
    for (int side = 0; side < 2; ++side) {
      product.x[side] = x[side].data + first;
      product.ldx[side] = x[side].ld;
      product.y[side] = y[side].data + first;
      product.ldy[side] = y[side].ld;
      product.store[side] = store[side];
      product.cleared[side] =
          last && store[side] == Store::overwrite ? static_cast<int>(y[side].width) - first : 0;
    }
    for (int pass = 0; pass < passes; ++pass) {
      if (m <= narrow_columns<R>)
        launch_strips<Value, R, 1>(stream, strips, strip_rows, vector, product);
      else
        launch_strips<Value, R, 2>(stream, strips, strip_rows, vector, product);
      product.first_strip = strips;
      for (int side = 0; side < 2; ++side) {
        product.store[side] = Store::add;
        product.cleared[side] = 0;
      }
    }
  }
}

}  // namespace device

namespace {

template <class T>
device::DeviceVectors<T> vectors_of(const MatrixView<T>& a) {
  return {a.data, a.ld, a.cols, a.rows};
}

}  // namespace

template <class V, class T>
void run(const DeviceContext& on, const MultiplyCsb<V, T>& task) {
  device::launch_multiply_csb<V, T>(on.stream, task.shape, task.columns, store_of(task.y_rows),
                                    store_of(task.y_columns), task.index.view().data(),
                                    vectors_of(*task.x_columns), vectors_of(*task.x_rows),
                                    vectors_of(*task.y_rows), vectors_of(*task.y_columns));
}

#define TESSERA_DEFINE(V, T)                                                                             \
  TESSERA_DEFINE_ON_GPU(MultiplyCsb<V, T>)                                                               \
  template void device::launch_multiply_csb<V, T>(                                                       \
      cudaStream_t, const CsbPieceShape&, int, Store, Store, const void*, const DeviceVectors<const T>&, \
      const DeviceVectors<const T>&, const DeviceVectors<T>&, const DeviceVectors<T>&);
TESSERA_FOR_STORED(TESSERA_DEFINE)

}  // namespace tessera::detail
