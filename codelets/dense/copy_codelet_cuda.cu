// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <tessera/codelets/dense/copy_arguments.hpp>
#include <tessera/codelets/dense/copy_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace copy_codelets;

template <class T>
void max_abs_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                  const MaxAbsArguments& a) {
  DeviceFailure failure(task, StatusCode::not_finite);
  device::launch_max_abs<T>(context.stream, buffers.matrix<const T>(0), a.uplo, a.row0, a.col0,
                            buffers.array<RealOf<T>>(1).data(), failure.index());
  failure.report(a.col0);
}

template <class R>
void choose_scale_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                       const ScaleArguments& a) {
  const int count = buffers.count() - 1;
  std::vector<const R*> values;
  for (int k = 0; k < count; ++k) values.push_back(buffers.array<const R>(k).data());
  device::launch_choose_scale<R>(context.stream, values, buffers.array<R>(count).data(), a.power_of_four);
}

void copy_bytes_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                     const NoArguments&) {
  const auto source = buffers.array<const char>(0);
  cudaMemcpyAsync(buffers.array<char>(1).data(), source.data(), source.size(), cudaMemcpyDeviceToDevice,
                  context.stream);
}

template <class T>
void copy_tile_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                    const CopyArguments& a) {
  device::launch_copy<T>(context.stream, a.source.of(buffers.matrix<const T>(0)), a.op,
                         buffers.array<const RealOf<T>>(1).data(), a.destination.of(buffers.matrix<T>(2)),
                         a.row0, a.col0);
}

template <class R>
void export_values_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                        const ExportArguments& a) {
  device::launch_divide_by<R>(context.stream, buffers.array<const R>(0).data() + a.first,
                              buffers.array<const R>(1).data(), a.count, buffers.array<R>(2).data());
}

template <class R>
void divide_scales_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                        const NoArguments&) {
  device::launch_divide_by<R>(context.stream, buffers.array<const R>(0).data(),
                              buffers.array<const R>(1).data(), 1, buffers.array<R>(2).data());
}

template <class T>
void scale_by_root_cuda(const TaskContext&, const CudaContext& context, TaskBuffers buffers,
                        const NoArguments&) {
  device::launch_scale_by_root<T>(context.stream, buffers.array<const RealOf<T>>(0).data(),
                                  buffers.matrix<T>(1));
}

#define TESSERA_REGISTER(T)                                                         \
  register_cuda<MaxAbsArguments, max_abs_cuda<T>>("max_abs", type_letter<T>),       \
      register_cuda<CopyArguments, copy_tile_cuda<T>>("copy_tile", type_letter<T>), \
      register_cuda<NoArguments, scale_by_root_cuda<T>>("scale_by_root", type_letter<T>),
#define TESSERA_REGISTER_REAL(R)                                                              \
  register_cuda<ScaleArguments, choose_scale_cuda<R>>("choose_scale", type_letter<R>),        \
      register_cuda<ExportArguments, export_values_cuda<R>>("export_values", type_letter<R>), \
      register_cuda<NoArguments, divide_scales_cuda<R>>("divide_scales", type_letter<R>),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER) TESSERA_FOR_REALS(TESSERA_REGISTER_REAL)
                               register_cuda<NoArguments, copy_bytes_cuda>("copy_bytes")};

}  // namespace
}  // namespace tessera
