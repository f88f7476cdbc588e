// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/vectors/random_vectors.hpp>

namespace tessera {
namespace {

template <class T>
void randomize(const MatrixView<T>& v, const RandomColumns& what) {
  for (Index i = 0; i < v.cols; ++i)
    for (std::int32_t j = what.first; j < what.first + what.columns; ++j)
      v(j, i) = random_vector_element(what.seed, what.first_row + i, j);
}

}  // namespace

template <class T>
void run(const HostContext&, const RandomizeColumns<T>& task) {
  randomize(*task.v, task.what);
}

template <class T>
void run(const HostContext&, const RandomVectors<T>& task) {
  const MatrixView<T> v = *task.v;
  for (Index i = 0; i < v.cols; ++i) std::fill_n(&v(0, i), v.rows, T(0));
  randomize(v, task.what);
}

#define TESSERA_DEFINE(T)                  \
  TESSERA_DEFINE_TASK(RandomizeColumns<T>) \
  TESSERA_DEFINE_TASK(RandomVectors<T>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera
