// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/random_vectors.hpp>

namespace tessera {
namespace {

template <class T>
void random_task(const TaskContext&, TaskBuffers buffers, const RandomVectorsArguments& arguments) {
  const auto v = buffers.matrix<T>(0);
  kernels::random_vectors<T>(v.cols, v.rows, arguments, v.data, v.ld);
}

template <class T>
Codelet random_codelet = make_codelet<RandomVectorsArguments, random_task<T>>("random_vectors",
                                                                              type_letter<T>);

}  // namespace

template <class T>
void insert_random_vectors(Sequence& sequence, int priority, const RandomVectorsArguments& arguments,
                           const Data& v, int gpu) {
  sequence.insert(random_codelet<T>, arguments, {.priority = priority, .gpu = gpu},
                  {arguments.clear ? write(v) : read_write(v)});
}

#define TESSERA_INSTANTIATE(T) \
  template void insert_random_vectors<T>(Sequence&, int, const RandomVectorsArguments&, const Data&, int);
TESSERA_FOR_REALS(TESSERA_INSTANTIATE)

}  // namespace tessera
