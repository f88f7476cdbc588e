// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/vectors/each_element.cuh>
#include <tessera/codelets/vectors/random_vectors.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

template <class T>
struct Fill {
  RandomVectorsArguments a;
  MatrixView<T> v;
  __device__ void operator()(int j, Index i) const {
    T& to = v.data[i * v.ld + j];
    if (a.first <= j && j < a.first + a.columns)
      to = T(random_vector_element(a.seed, a.first_row + i, j));
    else if (a.clear)
      to = T(0);
  }
};

template <class T>
void random_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                 const RandomVectorsArguments& a) {
  const MatrixView<T> v = buffers.matrix<T>(0);
  device::for_elements_of_rows(context.stream, v.rows, v.cols, Fill<T>{a, v});
}

#define TESSERA_REGISTER(T)                                                               \
  register_cuda<RandomVectorsArguments, random_cuda<T>>("random_vectors", type_letter<T>, \
                                                        {.instead_of_cpu = true}),
const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
