// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/codelets/vectors/random_vectors.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext& on, const RandomVectors<T>& task) {
  const MatrixView<T> v = *task.v;
  if (task.v.first()) la::set_zero(on, v);
  const auto reals = real_view(v);
  for (Index i = 0; i < v.cols; ++i)
    for (std::int32_t j = reals_of<T> * task.first; j < reals_of<T> * (task.first + task.columns); ++j)
      reals(j, i) = random_vector_element(task.seed, task.first_row + i, j);
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_TASK(RandomVectors<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
