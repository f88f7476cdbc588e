// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/cublas.hpp>
#include <tessera/codelets/dense/gemm_arguments.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace gemm_codelets;

template <class T>
void gemm_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const GemmArguments<T>& arguments) {
  const auto a = arguments.a.of(buffers.matrix<const T>(0));
  const auto b = arguments.b.of(buffers.matrix<const T>(1));
  const auto c = arguments.c.of(buffers.matrix<T>(2));
  cublas::gemm<T>(context.cublas, arguments.op_a, arguments.op_b, c.rows, c.cols, arguments.depth(),
                  arguments.alpha, a.data, a.ld, b.data, b.ld, arguments.beta, c.data, c.ld);
}

#define TESSERA_REGISTER(T) register_cuda<GemmArguments<T>, gemm_cuda<T>>("gemm", type_letter<T>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
