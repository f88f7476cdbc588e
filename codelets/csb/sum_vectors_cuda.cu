// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/csb/sum_vectors.hpp>
#include <tessera/codelets/csb/sum_vectors_arguments.hpp>
#include <tessera/codelets/vectors/each_element.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using csb_codelets::SumVectorsArguments;

template <class T>
struct Sum {
  int columns, inputs;
  bool overwrite;
  MatrixView<T> y;
  const T* z[sum_vectors_inputs];
  Index ldz[sum_vectors_inputs];
  __device__ void operator()(int j, Index i) const {
    T& to = y.data[i * y.ld + j];
    if (j >= columns) {
      if (overwrite) to = T(0);
      return;
    }
    T terms[sum_vectors_inputs];
#pragma unroll
    for (int k = 0; k < sum_vectors_inputs; ++k)
      if (k < inputs) terms[k] = __ldg(z[k] + i * ldz[k] + j);
    T sum = overwrite ? T(0) : to;
#pragma unroll
    for (int k = 0; k < sum_vectors_inputs; ++k)
      if (k < inputs) sum = overwrite && k == 0 ? terms[0] : sum + terms[k];
    to = sum;
  }
};

template <class T>
void sum_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers, const SumVectorsArguments& a) {
  Sum<T> sum{a.columns, a.inputs, a.overwrite, buffers.matrix<T>(0), {}, {}};
  for (int k = 0; k < a.inputs; ++k) {
    const auto from = buffers.matrix<const T>(1 + k);
    sum.z[k] = from.data;
    sum.ldz[k] = from.ld;
  }
  device::for_elements_of_rows(context.stream, a.overwrite ? sum.y.rows : a.columns, sum.y.cols, sum);
}

#define TESSERA_REGISTER(T) register_cuda<SumVectorsArguments, sum_cuda<T>>("sum_vectors", type_letter<T>),
const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
