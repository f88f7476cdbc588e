// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/tridiagonalize/lapack_driver_arguments.hpp>
#include <tessera/codelets/tridiagonalize/lapack_driver_cuda.hpp>
#include <tessera/runtime/cuda_codelet.hpp>

namespace tessera {
namespace {

using namespace lapack_driver_codelets;

template <class T>
void copy_block(cudaStream_t stream, const MatrixView<const T>& source, T* target, Index ld) {
  if (source.rows == 0 || source.cols == 0) return;
  const auto bytes = [](Index count) { return sizeof(T) * static_cast<std::size_t>(count); };
  cudaMemcpy2DAsync(target, bytes(ld), source.data, bytes(source.ld), bytes(source.rows),
                    static_cast<std::size_t>(source.cols), cudaMemcpyDeviceToDevice, stream);
}

/// The lower tiles, column by column from buffer `first`, as one array; returns the next buffer.
template <class T>
int assemble_lower(cudaStream_t stream, TaskBuffers buffers, int first, Index n, Index tile, T* array) {
  const Index count = ceil_div(n, tile);
  for (Index j = 0; j < count; ++j)
    for (Index i = j; i < count; ++i)
      copy_block(stream, buffers.matrix<const T>(first++), array + i * tile + j * tile * n, n);
  return first;
}

template <class T>
void lapack_eigensolve_cuda(const TaskContext& task, const CudaContext& context, TaskBuffers buffers,
                            const DriverArguments& a) {
  const device::EigenDriver driver{a.n, a.generalized, a.slabs > 0, a.lo, a.hi};
  const device::EigenDriverSpace<T> space(context.cusolver, driver, buffers.array<char>(1).data());
  int buffer = assemble_lower(context.stream, buffers, 2, a.n, a.tile_a, space.a);
  if (a.generalized) buffer = assemble_lower(context.stream, buffers, buffer, a.n, a.tile_b, space.b);
  DeviceFailure no_convergence(task, StatusCode::no_convergence);
  DeviceFailure not_positive_definite(task, StatusCode::not_positive_definite);
  device::launch_eigen_driver<T>(context.cusolver, context.stream, driver, space,
                                 buffers.array<RealOf<T>>(0).data(), no_convergence.index(),
                                 not_positive_definite.index());
  no_convergence.report();
  not_positive_definite.report();
  Index column = driver.partial() ? 0 : a.lo;
  for (; buffer < buffers.count(); ++buffer) {
    const auto slab = buffers.matrix<T>(buffer);
    copy_block<T>(context.stream, {space.a + column * a.n, a.n, slab.cols, a.n}, slab.data, slab.ld);
    column += slab.cols;
  }
}

// The order may be one that LAPACK cannot take: see lapack_driver.hpp.
#define TESSERA_REGISTER(T)                                                                      \
  register_cuda<DriverArguments, lapack_eigensolve_cuda<T>>("lapack_eigensolve", type_letter<T>, \
                                                            {.instead_of_cpu = true}),
const bool registered[] = {TESSERA_FOR_SCALARS(TESSERA_REGISTER)};

}  // namespace
}  // namespace tessera
