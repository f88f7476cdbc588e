// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

template <class T>
struct Fill {
  RandomVectors<T> task;  // for its numbers
  MatrixView<T> v;
  Store store;

  __device__ void operator()(int j, Index i) const {
    T& to = v.data[i * v.ld + j];
    if (task.first <= j && j < task.first + task.columns)
      to = T(random_vector_element(task.seed, task.first_row + i, j));
    else if (store == Store::overwrite)
      to = T(0);
  }
};

}  // namespace

template <class T>
void run(const DeviceContext& on, const RandomVectors<T>& task) {
  const MatrixView<T> v = *task.v;
  device::for_elements_of_rows(on.stream, v.rows, v.cols, Fill<T>{task, v, store_of(task.v)});
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(RandomVectors<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera::detail
