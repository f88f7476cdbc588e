// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/common/store.hpp>
#include <tessera/codelets/vectors/kernels/row_kernels.cuh>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail {

namespace {

template <class R>
struct Fill {
  std::uint64_t seed;
  std::int64_t first_row;
  int first, end;  ///< real columns
  MatrixView<R> v;
  Store store;

  __device__ void operator()(int j, Index i) const {
    R& to = v.data[i * v.ld + j];
    if (first <= j && j < end)
      to = R(random_vector_element(seed, first_row + i, j));
    else if (store == Store::overwrite)
      to = R(0);
  }
};

}  // namespace

template <class T>
void run(const DeviceContext& on, const RandomVectors<T>& task) {
  const auto v = real_view(*task.v);
  const int first = reals_of<T> * task.first, end = first + reals_of<T> * task.columns;
  device::for_elements_of_rows(on.stream, v.rows, v.cols,
                               Fill<RealOf<T>>{task.seed, task.first_row, first, end, v, store_of(task.v)});
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(RandomVectors<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
