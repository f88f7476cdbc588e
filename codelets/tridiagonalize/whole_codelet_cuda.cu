// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/tridiagonalize/whole_arguments.hpp>
#include <tessera/codelets/tridiagonalize/whole_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace whole_codelets;

template <class T>
void tridiagonalize_whole_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                               const WholeArguments& arguments) {
  const auto work = buffers.array<char>(4);
  if (!device::launch_hetrd<T>(context.cusolver, context.stream, buffers.matrix<T>(0),
                               buffers.array<RealOf<T>>(2).data(), buffers.array<RealOf<T>>(3).data(),
                               buffers.array<T>(1).data(), work.data(), work.size()))
    task.fail(StatusCode::no_convergence, arguments.n + 1);
}

template <class T>
void apply_tridiagonalize_whole_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                                     const WholeArguments& arguments) {
  const auto work = buffers.array<char>(3);
  if (!device::launch_unmtr<T>(context.cusolver, buffers.matrix<const T>(0), buffers.array<const T>(1).data(),
                               buffers.matrix<T>(2), work.data(), work.size()))
    task.fail(StatusCode::no_convergence, arguments.n + 1);
}

// What cuSOLVER keeps of its reflectors is for cuSOLVER: see whole_tasks.hpp.
constexpr CudaOptions gpus_only{.instead_of_cpu = true};
#define TESSERA_REGISTER(T)                                                                           \
  register_cuda<WholeArguments, tridiagonalize_whole_cuda<T>>("tridiagonalize_whole", type_letter<T>, \
                                                              gpus_only),                             \
      register_cuda<WholeArguments, apply_tridiagonalize_whole_cuda<T>>("apply_tridiagonalize_whole", \
                                                                        type_letter<T>, gpus_only),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
