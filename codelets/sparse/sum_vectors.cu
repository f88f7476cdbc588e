// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/device_launch.cuh>
#include <tessera/codelets/sparse/sum_vectors.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

constexpr int threads = 256;

template <class T>
struct Inputs {
  const T* z[sum_vectors_inputs];
  Index ld[sum_vectors_inputs];
  int count, columns;
};

/// A thread takes an element of y; the terms are added from left to right.
template <class T>
__global__ void __launch_bounds__(threads) sum_kernel(Inputs<T> inputs, Store store, MatrixView<T> y) {
  const Index count = y.rows * y.cols;
  for (Index e = Index(blockIdx.x) * threads + threadIdx.x; e < count; e += Index(gridDim.x) * threads) {
    const Index i = e / y.rows, j = e - i * y.rows;
    if (j >= inputs.columns && store == Store::add) continue;
    T& to = y.data[j + i * y.ld];
    T sum = store == Store::overwrite ? T(0) : to;
    if (j < inputs.columns)
      for (int k = 0; k < inputs.count; ++k) sum += inputs.z[k][j + i * inputs.ld[k]];
    to = sum;
  }
}

}  // namespace

template <class T>
void run(const DeviceContext& on, const SumVectors<T>& task) {
  using R = RealOf<T>;
  const auto y = real_view(*task.y);
  Inputs<R> inputs{};
  inputs.count = task.inputs();
  inputs.columns = reals_of<T> * task.columns;
  for (int k = 0; k < inputs.count; ++k) {
    const auto z = real_view(*task.z[static_cast<std::size_t>(k)]);
    inputs.z[k] = z.data;
    inputs.ld[k] = z.ld;
  }
  sum_kernel<R><<<device::blocks_for(y.rows * y.cols, threads, device::full_grid), threads, 0, on.stream>>>(
      inputs, store_of(task.y), y);
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(SumVectors<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
