// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/band/band_arguments.hpp>
#include <tessera/codelets/band/chase_blocks_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace band_codelets;

template <class T>
void form_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
               const ChaseBlockArguments& a) {
  kernels::launch_form_chase_t<T>(context.stream, a.piece, buffers.array<const T>(0).data(),
                                  buffers.array<double>(1).data());
}

template <class T>
void apply_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                const ChaseBlockArguments& a) {
  const auto slab = buffers.matrix<T>(1);
  kernels::launch_apply_chase<T>(context.stream, a.piece, buffers.array<const double>(2).data(), slab.data,
                                 slab.cols, slab.ld, buffers.array<char>(0).data());
}

template <class T>
void one_by_one_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const ChaseBlockArguments& a) {
  const auto slab = buffers.matrix<T>(0);
  kernels::launch_apply_elpa<T>(context.stream, a.piece, buffers.array<const T>(1).data(), slab.data,
                                slab.cols, slab.ld);
}

// A task is as large as a GPU can take, and the CPU's side plain loops.
constexpr CudaOptions gpus_only{.instead_of_cpu = true};
#define TESSERA_REGISTER(T)                                                                        \
  register_cuda<ChaseBlockArguments, form_cuda<T>>("form_chase_t", type_letter<T>, gpus_only),     \
      register_cuda<ChaseBlockArguments, apply_cuda<T>>("apply_chase", type_letter<T>, gpus_only), \
      register_cuda<ChaseBlockArguments, one_by_one_cuda<T>>("apply_one_by_one", type_letter<T>, gpus_only),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
