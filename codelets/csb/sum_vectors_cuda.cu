// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/csb/sum_vectors.hpp>
#include <tessera/codelets/csb/sum_vectors_arguments.hpp>
#include <tessera/codelets/device_launch.cuh>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using csb_codelets::SumVectorsArguments;

constexpr int threads = 256;

template <class T>
struct Inputs {
  const T* z[sum_vectors_inputs];
  Index ld[sum_vectors_inputs];
};

/// A thread takes an element of y; the terms are added from left to right.
template <class T>
__global__ void __launch_bounds__(threads)
    sum_kernel(SumVectorsArguments arguments, Inputs<T> inputs, MatrixView<T> y) {
  const Index count = y.rows * y.cols;
  for (Index e = Index(blockIdx.x) * threads + threadIdx.x; e < count; e += Index(gridDim.x) * threads) {
    const Index i = e / y.rows, j = e - i * y.rows;
    if (j >= arguments.columns && !arguments.overwrite) continue;
    T& to = y.data[j + i * y.ld];
    T sum = arguments.overwrite ? T(0) : to;
    if (j < arguments.columns)
      for (int k = 0; k < arguments.inputs; ++k) sum += inputs.z[k][j + i * inputs.ld[k]];
    to = sum;
  }
}

template <class T>
void sum_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
              const SumVectorsArguments& arguments) {
  const MatrixView<T> y = buffers.matrix<T>(0);
  Inputs<T> inputs{};
  for (int k = 0; k < arguments.inputs; ++k) {
    const auto z = buffers.matrix<const T>(1 + k);
    inputs.z[k] = z.data;
    inputs.ld[k] = z.ld;
  }
  sum_kernel<T>
      <<<device::blocks_for(y.rows * y.cols, threads, device::full_grid), threads, 0, context.stream>>>(
          arguments, inputs, y);
}

#define TESSERA_REGISTER(T) register_cuda<SumVectorsArguments, sum_cuda<T>>("sum_vectors", type_letter<T>),
[[maybe_unused]] const bool registered[] = {TESSERA_FOR_REALS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
